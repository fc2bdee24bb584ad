// SPDX-License-Identifier: Apache-2.0
#include "model/device/execute_command.h"

#include "model/device/command_call.h"
#include "model/proto/memory/key_rules.h"

namespace hca::device {
using namespace proto;

namespace {
struct CommandRow {
  CommandOpcode opcode;
  CommandFunction* run;
  bool asks_or_removes = false;  // a device that has failed executes only these
};
constexpr std::array kCommands{
    // clang-format off
    CommandRow{CommandOpcode::SetPort,      set_port},
    CommandRow{CommandOpcode::QueryPort,    query_port, true},
    CommandRow{CommandOpcode::CreateEq,     create_eq},
    CommandRow{CommandOpcode::CreateCq,     create_cq},
    CommandRow{CommandOpcode::RegisterMr,   register_mr},
    CommandRow{CommandOpcode::DeregisterMr, deregister_mr, true},
    CommandRow{CommandOpcode::CreateQp,     create_qp},
    CommandRow{CommandOpcode::ModifyQp,     modify_qp},
    CommandRow{CommandOpcode::QueryQp,      query_qp, true},
    CommandRow{CommandOpcode::DestroyQp,    destroy_qp, true},
    CommandRow{CommandOpcode::QueryDevice,  query_device, true},
    CommandRow{CommandOpcode::AllocPd,      alloc_pd},
    CommandRow{CommandOpcode::QueryPd,      query_pd, true},
    CommandRow{CommandOpcode::DeallocPd,    dealloc_pd, true},
    CommandRow{CommandOpcode::QueryMr,      query_mr, true},
    CommandRow{CommandOpcode::QueryCq,      query_cq, true},
    CommandRow{CommandOpcode::DestroyCq,    destroy_cq, true},
    CommandRow{CommandOpcode::QueryEq,      query_eq, true},
    CommandRow{CommandOpcode::DestroyEq,    destroy_eq, true},
    CommandRow{CommandOpcode::SetVector,    set_vector},
    CommandRow{CommandOpcode::QueryVector,  query_vector, true},
    CommandRow{CommandOpcode::QueryDrops,   query_drops, true},
    CommandRow{CommandOpcode::AllocMw,      alloc_mw},
    CommandRow{CommandOpcode::DeallocMw,    dealloc_mw, true},
    CommandRow{CommandOpcode::QueryMw,      query_mw, true},
    CommandRow{CommandOpcode::BindMw,       bind_mw},
    CommandRow{CommandOpcode::AllocMr,      alloc_mr},
    CommandRow{CommandOpcode::ReregisterMr, reregister_mr},
    CommandRow{CommandOpcode::QueryQpCreate, query_qp_create, true},
    CommandRow{CommandOpcode::CreateSrq,    create_srq},
    CommandRow{CommandOpcode::ModifySrq,    modify_srq},
    CommandRow{CommandOpcode::QuerySrq,     query_srq, true},
    CommandRow{CommandOpcode::DestroySrq,   destroy_srq, true},
    CommandRow{CommandOpcode::AttachMulticast, attach_multicast},
    CommandRow{CommandOpcode::DetachMulticast, detach_multicast, true},
    CommandRow{CommandOpcode::QueryTransport, query_transport, true},
    CommandRow{CommandOpcode::SetContextMemory, set_context_memory},
    CommandRow{CommandOpcode::ModifyCq,     modify_cq},
    CommandRow{CommandOpcode::AllocXrcd,    alloc_xrcd},
    CommandRow{CommandOpcode::QueryXrcd,    query_xrcd, true},
    CommandRow{CommandOpcode::DeallocXrcd,  dealloc_xrcd, true},
    CommandRow{CommandOpcode::RegisterSharedMr, register_shared_mr},
    CommandRow{CommandOpcode::AllocRdd,     alloc_rdd},
    CommandRow{CommandOpcode::QueryRdd,     query_rdd, true},
    CommandRow{CommandOpcode::DeallocRdd,   dealloc_rdd, true},
    CommandRow{CommandOpcode::CreateEec,    create_eec},
    CommandRow{CommandOpcode::ModifyEec,    modify_eec},
    CommandRow{CommandOpcode::QueryEec,     query_eec, true},
    CommandRow{CommandOpcode::DestroyEec,   destroy_eec, true},
    // clang-format on
};
static_assert(kCommands.size() == kCommandOpcodes.size());
}  // namespace

PageList page_list_of(const u8* block) {
  const auto opcode = decode<CommandHeader>(block).opcode;
  if (opcode != CommandOpcode::RegisterMr && opcode != CommandOpcode::ReregisterMr) return {};
  const auto a = decode<MrAttributes>(block + kCommandHeaderBytes);
  return proto::page_list_of(a.physical, a.bytes, a.log_page);
}

CommandEffect execute_command(Contexts& contexts, u8* block, std::span<const u64> pages) {
  CommandEffect effect;
  auto header = decode<CommandHeader>(block);
  Call call{contexts, header, block + kCommandHeaderBytes, effect, pages};
  header.status = CommandStatus::BadOpcode;
  for (const CommandRow& row : kCommands)
    if (row.opcode == header.opcode)
      header.status =
          contexts.has_failed && !row.asks_or_removes ? CommandStatus::BadState : row.run(call);
  ++contexts.version;
  header.done = true;
  encode(header, block);
  return effect;
}
}  // namespace hca::device
