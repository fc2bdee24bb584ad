// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "testbench/host/host_cpu.h"
#include "testbench/host/verbs.h"

namespace hca::testbench {
// One end of a connection, ready to send: the object that a program works with.
struct Endpoint {
  unsigned node = 0;               // its host
  const Endpoint* peer = nullptr;  // the other end
  VerbsContext* verbs = nullptr;
  HostCpu* cpu = nullptr;
  u64 period = 0;    // of the core's clock, ps
  u32 port = 1;      // of its queue pairs
  Qp* qp = nullptr;  // the first
  std::vector<Qp*> qps;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Srq* srq = nullptr;  // nullptr: each queue pair has its own receive queue
  Mr send_mr;          // data to send
  Mr recv_mr;          // target of WRITEs, then the receive buffers
  Mr fetch_mr;         // data that the peer READs, results of READs and ATOMICs, targets of ATOMICs
  Mr peer_recv, peer_fetch;
  Mr taken_mr, peer_taken;                    // the keys that SENDs with Invalidate name
  CompChannel* events = nullptr;              // of both CQs; nullptr: programs poll
  std::vector<proto::AddressHandle> to_peer;  // UD: one per queue pair
  tlm_::HostMemory* peer_memory = nullptr;    // only for patterns and checks
};
}  // namespace hca::testbench
