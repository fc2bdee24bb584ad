// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
class Session;
struct Object;

enum class Effect : u8 {
  Create,   // an object with a new number
  Destroy,  // an unused object
  Use,      // of an object
  Renew,    // an object, which uses other objects afterwards
  Port      // a port by its number
};

// One kind of object that a command names.
struct NameRow {
  Kind kind = Kind::None;
  bool optional = false;
};
using NameRows = std::array<NameRow, kMaxNames>;

// A command that programs may use, and the preparation of its structure before it goes to the HCA:
// `prepare` returns an errno value, 0: valid.
struct CommandRow {
  proto::CommandOpcode opcode;
  Effect effect;
  Kind kind;
  NameRows names;
  int (*prepare)(const Session& session, u32 number, std::span<Object* const> names, Body& body);
};
// nullptr: not allowed for programs.
const CommandRow* command_row(proto::CommandOpcode opcode);
// The command that destroys an object of this kind; nullptr: the HCA has none.
const CommandRow* destroy_row(Kind kind);
int errno_of(proto::CommandStatus status);
}  // namespace hca::attach
