// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
class Session;
struct Object;

enum class Effect : u8 {
  Create,   // of an object with a new number
  Destroy,  // of an object that nothing is made of
  Use,      // of an object
  Renew,    // of an object that is made of others from then on
  Port      // of a port by its number
};

// One kind of object that a command names.
struct NameRow {
  Kind kind = Kind::None;
  bool optional = false;
};
using NameRows = std::array<NameRow, kMaxNames>;

// A command that programs may use, and what becomes of its structure before it goes to the HCA:
// `prepare` returns errno's values, 0: it is good.
struct CommandRow {
  proto::CommandOpcode opcode;
  Effect effect;
  Kind kind;
  NameRows names;
  int (*prepare)(const Session& session, u32 number, std::span<Object* const> names, Body& body);
};
// nullptr: programs may not use it.
const CommandRow* command_row(proto::CommandOpcode opcode);
// What ends an object of this kind; nullptr: nothing in the HCA does.
const CommandRow* destroy_row(Kind kind);
int errno_of(proto::CommandStatus status);
}  // namespace hca::attach
