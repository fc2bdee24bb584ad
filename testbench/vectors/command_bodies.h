// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "model/proto/interface/commands.h"

namespace hca::testbench {
// The structure after the header of a command block, by command; nullptr: none.
struct CommandBody {
  proto::CommandOpcode opcode;
  std::string_view name;
  const proto::HeaderInfo* body;
};
// nullptr: there is no such command.
const CommandBody* find_command(std::string_view name);
std::string names_of_commands();
}  // namespace hca::testbench
