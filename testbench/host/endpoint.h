// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <stdexcept>
#include <vector>

#include "testbench/host/buffer_kind.h"
#include "testbench/host/host_cpu.h"
#include "testbench/host/host_writes.h"
#include "testbench/host/verbs.h"

namespace hca::testbench {
// Memory for the buffers of an end, of each kind that its traffic uses, each divided into the same
// number of regions.
struct WorkingSet {
  struct Memory {
    u64 address = 0;
    std::vector<Mr> regions;  // one after the other
  };
  u64 bytes = 0;  // of each kind
  u32 regions = 1;
  std::array<Memory, kBufferKinds> kinds;
  const Memory& of(BufferKind kind) const { return kinds[std::size_t(kind)]; }
};

// One end of a connection, ready to send: the object that a program works with.
struct Endpoint {
  unsigned node = 0;               // its host
  const Endpoint* peer = nullptr;  // the other end
  VerbsContext* verbs = nullptr;
  HostCpu* cpu = nullptr;
  HostWrites* writes = nullptr;  // of its host
  u64 period = 0;                // of the core's clock, ps
  u32 port = 1;                  // of its queue pairs
  Qp* qp = nullptr;              // the first
  std::vector<Qp*> qps;          // XRC: the initiators
  std::vector<Qp*> targets;      // XRC; otherwise empty
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  u32 xrcd = 0;            // XRC: the domain of its targets and SRQs
  std::vector<Srq*> srqs;  // empty: each queue pair has its own receive queue
  Mr send_mr;              // data to send
  Mr recv_mr;              // target of WRITEs, then the receive buffers
  Mr fetch_mr;  // data that the peer READs, results of READs and ATOMICs, targets of ATOMICs
  Mr peer_recv;
  std::vector<WorkingSet> working_sets;       // of traffic that has one
  Mr taken_mr, peer_taken;                    // the keys that SENDs with Invalidate name
  CompChannel* events = nullptr;              // of both CQs; nullptr: programs poll
  std::vector<proto::AddressHandle> to_peer;  // UD: one per queue pair
  u32 rdd = 0, eecn = 0;                      // RD
  std::vector<proto::RdAddress> rd_to_peer;   // RD: one per queue pair, all over one EE context
  tlm_::HostMemory* peer_memory = nullptr;    // only for patterns and checks

  // Throws std::out_of_range if the scenario has no traffic with this one.
  const WorkingSet& working_set(u64 bytes, u32 regions) const {
    for (const WorkingSet& set : working_sets)
      if (set.bytes == bytes && set.regions == regions) return set;
    throw std::out_of_range("this end has no such working set");
  }
  bool shares_receives() const { return !srqs.empty(); }
  // The SRQ of a receive WQE, by the slot of its buffer.
  Srq& srq_of(u64 slot) const { return *srqs[slot % srqs.size()]; }
  // XRC: the place in `srqs` of the SRQ that message k from a queue pair names.
  u64 srq_for(u32 sender, u64 k) const { return (sender + k) % srqs.size(); }
  // The queue pairs that receive, in the order of those that send.
  const std::vector<Qp*>& receivers() const { return targets.empty() ? qps : targets; }
};

// A queue pair of an end, and the one of its peer that it talks to.
struct QpPair {
  Qp *own, *other;
};
inline std::vector<QpPair> pairs_of(const Endpoint& end) {
  std::vector<QpPair> pairs;
  for (std::size_t i = 0; i < end.qps.size(); ++i)
    pairs.push_back({end.qps[i], end.peer->receivers().at(i)});
  for (std::size_t i = 0; i < end.targets.size(); ++i)
    pairs.push_back({end.targets[i], end.peer->qps.at(i)});
  return pairs;
}
}  // namespace hca::testbench
