// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/receive/responder_execute/responder_execute_config.h"
#include "model/blocks/receive/responder_execute/responder_queue.h"
#include "model/device/port_counts.h"
#include "model/engine/probe.h"

namespace hca::blocks {
// The output links of responder_execute.
struct ResponderOutputs {
  DmaLink *payload_out = nullptr, *receive_wqes_out = nullptr, *reads_out = nullptr;
  DmaLink* atomics_out = nullptr;
  CompletedLink* completions_out = nullptr;
  FaultLink* faults_out = nullptr;
};

// The members that each port has of its own.
struct ResponderPort {
  explicit ResponderPort(const ResponderExecuteConfig& config)
      : by_lane(config.lane_responses), responses(config.responses, config.response_bytes) {
    for (unsigned i = 0; config.lane_responses && i < kLanes; ++i)
      of_lanes.emplace_back(config.lane_responses, config.response_bytes);
  }
  ReplyLink* replies_out = nullptr;
  const bool by_lane;                   // of_lanes counts instead of `responses`
  PacketLink responses_in;              // written by dma: a response packet has its data
  engine::Budget responses;             // returned by the port
  std::deque<engine::Budget> of_lanes;  // used instead, by virtual lane or priority
};

class ResponderPorts {
 public:
  ResponderPorts(const ResponderExecuteConfig& config, const device::Contexts& contexts)
      : contexts_(contexts),
        is_one_(contexts.ports.size() == 1),
        each_{ResponderPort(config), ResponderPort(config)} {}
  ResponderPort& operator[](unsigned port) { return each_[port]; }
  // The port of a queue pair.
  unsigned number_of(u32 qpn) const { return is_one_ ? 0 : port_of(contexts_.qps[qpn]); }
  ResponderPort& of(u32 qpn) { return each_[number_of(qpn)]; }

 private:
  const device::Contexts& contexts_;
  const bool is_one_;
  PerPort<ResponderPort> each_;
};

// The clock, tables and links of responder_execute, as each part sees them. The parts form one
// block of the engine: they act inside its tick(), or inside a call by `command` between two
// cycles.
class ResponderPart {
 public:
  ResponderPart(const engine::Waker& block, const ResponderExecuteConfig& config,
                device::Contexts& contexts, ByQp<ResponderQueue>& queues, ResponderPorts& ports,
                ResponderOutputs& outputs, ResponderExecuteCounters& counters,
                const engine::Probe& probe)
      : self_(block),
        config_(config),
        contexts_(contexts),
        counts_(contexts),
        queues_(queues),
        ports_(ports),
        outputs_(outputs),
        counters_(counters),
        probe_(probe) {}

 protected:
  Cycle now() const { return self_.now(); }
  void wake_at(Cycle at) const { self_.wake(at); }
  device::Connection connection_of(u32 qpn) const { return contexts_.connection_of(qpn); }
  const proto::QpConfig& qp_of(const Packet& p) const { return contexts_.qps[p.qpn]; }
  const proto::SharedQueue* shared_of(device::ReceiveQueue queue) const {
    return contexts_.find_shared(queue);
  }
  // The accessor for the R_Keys of a request.
  proto::Accessor accessor_of(u32 qpn, device::ReceiveQueue queue) const {
    return proto::remote_accessor(contexts_.qps[qpn], shared_of(queue));
  }
  proto::Accessor accessor_of(const Packet& p) const { return accessor_of(p.qpn, p.receive_queue); }
  // Directs the completion of a receive WQE of this queue to its CQ.
  void complete_to(Completed& completed, u32 qpn, device::ReceiveQueue queue) const {
    const proto::QpConfig& qp = contexts_.qps[queue.owner() ? queue.owner() : qpn];
    completed.cqn = proto::receive_cq_of(qp, shared_of(queue));
    completed.cqe.qpn = queue.owner() ? queue.owner() : qpn;
    if (qp.service != proto::Service::Xrc) [[likely]]
      return;
    completed.queue = queue;
    completed.cqe.srqn = queue.srqn();
  }

  const engine::Waker& self_;
  const ResponderExecuteConfig& config_;
  const device::Contexts& contexts_;
  const device::PortCounts counts_;
  ByQp<ResponderQueue>& queues_;
  ResponderPorts& ports_;
  ResponderOutputs& outputs_;
  ResponderExecuteCounters& counters_;
  const engine::Probe& probe_;
};

// The cause for which the first ATOMIC or request waits, and since when.
class HeldFirst {
 public:
  using What = u64 ResponderExecuteCounters::*;
  What what() const { return what_; }
  // The cause of the wait has changed or ended.
  void change(What what, Cycle now, ResponderExecuteCounters& counters) {
    if (what_ == what) return;
    if (what_) counters.*what_ += now - since_;
    what_ = what;
    since_ = now;
  }

 private:
  What what_ = nullptr;
  Cycle since_ = 0;
};
}  // namespace hca::blocks
