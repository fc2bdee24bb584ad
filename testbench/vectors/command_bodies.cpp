// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/command_bodies.h"

#include <algorithm>
#include <array>
#include <string>

namespace hca::testbench {
using namespace proto;

namespace {
const HeaderInfo* body_of(CommandOpcode opcode) {
  switch (opcode) {
    case CommandOpcode::SetPort:
    case CommandOpcode::QueryPort:
      return &kHeaderInfo<PortAttributes>;
    case CommandOpcode::CreateEq:
    case CommandOpcode::QueryEq:
    case CommandOpcode::CreateCq:
    case CommandOpcode::ModifyCq:
    case CommandOpcode::QueryCq:
      return &kHeaderInfo<QueueAttributes>;
    case CommandOpcode::RegisterMr:
    case CommandOpcode::QueryMr:
    case CommandOpcode::AllocMr:
    case CommandOpcode::ReregisterMr:
    case CommandOpcode::RegisterSharedMr:
      return &kHeaderInfo<MrAttributes>;
    case CommandOpcode::AllocMw:
    case CommandOpcode::BindMw:
    case CommandOpcode::QueryMw:
      return &kHeaderInfo<MwAttributes>;
    case CommandOpcode::CreateQp:
    case CommandOpcode::QueryQpCreate:
      return &kHeaderInfo<QpCreate>;
    case CommandOpcode::ModifyQp:
    case CommandOpcode::QueryQp:
      return &kHeaderInfo<QpAttributes>;
    case CommandOpcode::QueryDevice:
      return &kHeaderInfo<DeviceAttributes>;
    case CommandOpcode::QueryPd:
      return &kHeaderInfo<PdAttributes>;
    case CommandOpcode::QueryDrops:
      return &kHeaderInfo<DropCounters>;
    case CommandOpcode::QueryTransport:
      return &kHeaderInfo<TransportCounters>;
    case CommandOpcode::CreateSrq:
    case CommandOpcode::ModifySrq:
    case CommandOpcode::QuerySrq:
      return &kHeaderInfo<SrqAttributes>;
    case CommandOpcode::ModifyEec:
    case CommandOpcode::QueryEec:
      return &kHeaderInfo<QpAttributes>;
    case CommandOpcode::CreateEec:
      return &kHeaderInfo<EecCreate>;
    case CommandOpcode::QueryRdd:
      return &kHeaderInfo<RdDomainAttributes>;
    case CommandOpcode::AllocXrcd:
    case CommandOpcode::QueryXrcd:
      return &kHeaderInfo<XrcDomainAttributes>;
    case CommandOpcode::AttachMulticast:
    case CommandOpcode::DetachMulticast:
      return &kHeaderInfo<MulticastAttributes>;
    case CommandOpcode::SetVector:
    case CommandOpcode::QueryVector:
      return &kHeaderInfo<VectorAttributes>;
    default:
      return nullptr;
  }
}

const auto& commands() {
  static const auto rows = [] {
    std::array<CommandBody, kCommandOpcodes.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {kCommandOpcodes[i].opcode, kCommandOpcodes[i].name,
                body_of(kCommandOpcodes[i].opcode)};
    return all;
  }();
  return rows;
}
}  // namespace

const CommandBody* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [&](const CommandBody& row) { return row.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

std::string names_of_commands() {
  std::string names;
  for (const CommandBody& row : commands()) {
    if (!names.empty()) names += ", ";
    names += row.name;
  }
  return names;
}
}  // namespace hca::testbench
