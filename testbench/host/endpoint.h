// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "testbench/host/host_cpu.h"
#include "testbench/host/verbs.h"

namespace hca::testbench {
// One end of a connection, ready to send: what a program works with.
struct Endpoint {
  unsigned node = 0;               // where it is
  const Endpoint* peer = nullptr;  // the other end
  VerbsContext* verbs = nullptr;
  HostCpu* cpu = nullptr;
  u64 period = 0;    // of the core's clock, ps
  u32 port = 1;      // of its queue pairs
  Qp* qp = nullptr;  // the first
  std::vector<Qp*> qps;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Srq* srq = nullptr;  // nullptr: each queue pair has its own receive queue
  Mr send_mr;          // what is sent
  Mr recv_mr;          // where WRITEs go, then the receive buffers
  Mr fetch_mr;         // what the peer READs, where READs and ATOMICs return, what ATOMICs change
  Mr peer_recv, peer_fetch;
  Mr taken_mr, peer_taken;                    // whose key each SEND with Invalidate names
  CompChannel* events = nullptr;              // of both CQs; none: programs poll
  std::vector<proto::AddressHandle> to_peer;  // UD: of each queue pair
  tlm_::HostMemory* peer_memory = nullptr;    // for patterns and checks alone
};
}  // namespace hca::testbench
