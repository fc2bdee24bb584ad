// SPDX-License-Identifier: Apache-2.0
// Memory regions and memory windows.
#include "testbench/host/verbs.h"

namespace hca::testbench {
using proto::CommandOpcode;
using proto::CommandStatus;

Mr VerbsContext::reg_mr(u64 addr, u64 length, proto::Rights access, u32 key, const Pd* pd) {
  if (!key) key = next_key();
  const proto::MrAttributes attributes{addr, length, addr, number_of(pd), key, access};
  if (execute(CommandOpcode::RegisterMr, proto::key_index(key), attributes) != CommandStatus::Ok)
    return {};
  return {addr, length, key, key};
}

Mr VerbsContext::reg_mr_pages(u64 addr, u64 length, proto::Rights access,
                              std::span<const u64> pages, u8 log_page) {
  const u32 key = next_key();
  const u64 list = alloc(pages.size() * proto::kPageAddressBytes);
  std::array<u8, proto::kPageAddressBytes> entry;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    proto::store_be<8>(entry.data(), pages[i]);
    memory_.write(list + i * entry.size(), entry);
  }
  const proto::MrAttributes attributes{addr, length, list,    number_of(nullptr),
                                       key,  access, log_page};
  if (execute(CommandOpcode::RegisterMr, 0, attributes) != CommandStatus::Ok) return {};
  return {addr, length, key, key};
}

Mr VerbsContext::alloc_mr(u32 key, const Pd* pd) {
  if (!key) key = next_key();
  const proto::MrAttributes attributes{0, 0, 0, number_of(pd), key, 0};
  if (execute(CommandOpcode::AllocMr, 0, attributes) != CommandStatus::Ok) return {};
  return {0, 0, key, key};
}

Error VerbsContext::rereg_mr(Mr& mr, u64 addr, u64 length, proto::Rights access, const Pd* pd) {
  const u32 key = proto::make_key(proto::key_index(mr.rkey), u8(proto::key_byte(mr.rkey) + 1));
  const proto::MrAttributes attributes{addr, length, addr, number_of(pd), key, access};
  const Error error = error_of(execute(CommandOpcode::ReregisterMr, mr.lkey, attributes));
  if (error == Error::None) mr = {addr, length, key, key};
  return error;
}

proto::MrAttributes VerbsContext::query_mr(const Mr& mr) {
  return query<proto::MrAttributes>(CommandOpcode::QueryMr, mr.lkey);
}

Error VerbsContext::dereg_mr(const Mr& mr) {
  return error_of(execute(CommandOpcode::DeregisterMr, mr.lkey));
}

// ---- Windows
Mw VerbsContext::alloc_mw(proto::KeyKind type, u32 key, const Pd* pd) {
  proto::MwAttributes attributes;
  attributes.pd = number_of(pd);
  attributes.type = type;
  attributes.key = key ? key : next_key();
  if (execute(CommandOpcode::AllocMw, 0, attributes) != CommandStatus::Ok) return {};
  return {attributes.key, type};
}

Error VerbsContext::bind_mw(Mw& mw, const MemoryInfo& memory) {
  proto::MwAttributes a;
  a.start = memory.addr;
  a.bytes = memory.length;
  a.access = memory.access;
  a.region_key = memory.lkey;
  const Command command = begin(CommandOpcode::BindMw, mw.rkey, a);
  const Error error = error_of(wait(command));
  if (error == Error::None) mw.rkey = answer<proto::MwAttributes>(command).key;
  return error;
}

proto::MwAttributes VerbsContext::query_mw(const Mw& mw) {
  return query<proto::MwAttributes>(CommandOpcode::QueryMw, mw.rkey);
}

Error VerbsContext::dealloc_mw(const Mw& mw) {
  return error_of(execute(CommandOpcode::DeallocMw, mw.rkey));
}
}  // namespace hca::testbench
