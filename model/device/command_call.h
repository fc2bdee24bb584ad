// SPDX-License-Identifier: Apache-2.0
// The commands, each a function in commands_*.cpp. A refused command changes nothing.
#pragma once
#include <algorithm>

#include "model/device/execute_command.h"

namespace hca::device {
struct Call {
  Contexts& contexts;
  const proto::CommandHeader& header;
  u8* body;
  CommandEffect& effect;
  std::span<const u64> pages;
};

// An entry of a table that grows to the largest number used.
template <class T>
T& at(std::vector<T>& table, u32 index) {
  if (index >= table.size()) table.resize(std::max<std::size_t>(index + 1, table.size() * 2));
  return table[index];
}

// An object leaves one RD domain for another; 0: none. RD queue pairs and EE contexts are in their
// domain from Init on.
inline void change_rd_domain(Contexts& contexts, u32 from, u32 to) {
  if (from) --contexts.rd_domains[from].uses;
  if (to) ++contexts.rd_domains[to].uses;
}

using CommandFunction = proto::CommandStatus(Call&);
CommandFunction query_device, set_port, query_port, query_drops, query_transport, alloc_pd,
    query_pd, dealloc_pd, register_mr, query_mr, deregister_mr;
CommandFunction alloc_mr, reregister_mr, register_shared_mr, alloc_mw, dealloc_mw, query_mw,
    bind_mw;
CommandFunction create_cq, modify_cq, query_cq, destroy_cq, create_eq, query_eq, destroy_eq,
    set_vector, query_vector;
CommandFunction alloc_xrcd, query_xrcd, dealloc_xrcd;
CommandFunction alloc_rdd, query_rdd, dealloc_rdd, create_eec, modify_eec, query_eec, destroy_eec;
CommandFunction create_srq, modify_srq, query_srq, destroy_srq;
CommandFunction attach_multicast, detach_multicast;
CommandFunction set_context_memory;
CommandFunction create_qp, modify_qp, query_qp, query_qp_create, destroy_qp;
}  // namespace hca::device
