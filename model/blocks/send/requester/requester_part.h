// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/send/requester/requester_config.h"
#include "model/blocks/send/requester/send_queue.h"
#include "model/device/memory_keys.h"
#include "model/device/port_counts.h"
#include "model/device/writers.h"
#include "model/engine/probe.h"

namespace hca::blocks {
using LocalWorkLink = engine::Link<device::LocalWork, 4>;

// The output links of the requester.
struct RequesterOutputs {
  CompletedLink* completions_out = nullptr;
  DmaLink* responses_out = nullptr;  // data of READs and ATOMICs
  NoteLink* notes_out = nullptr;
  FaultLink* faults_out = nullptr;
  LocalWorkLink* works_out = nullptr;  // work requests that change the key table
};

// The requester's clock, tables and links, as each part sees them. The parts form one block of the
// engine: they act inside its tick(), or inside a call by `command` between two cycles.
class RequesterPart {
 public:
  // Sources of work beside sending: turns in the links, answers in the links, and the requester's
  // own lists.
  static constexpr u32 kTurns = 1, kAnswers = 2, kOwn = 4;

  RequesterPart(engine::Waker& block, device::Contexts& contexts, ByQp<SendQueue>& queues,
                u32& pending, RequesterCounters& counters, RequesterOutputs& outputs,
                engine::Probe& probe)
      : self_(block),
        contexts_(contexts),
        send_(contexts),
        sent_(contexts),
        counts_(contexts),
        queues_(queues),
        pending_(pending),
        counters_(counters),
        outputs_(outputs),
        probe_(probe) {}

 protected:
  Cycle now() const { return self_.now(); }
  void wake_at(Cycle at) const { self_.wake(at); }
  proto::SendState& state_of(u32 qpn) const { return send_[contexts_.connection_of(qpn)]; }
  // The message of the WQE `index`, which was begun.
  proto::SentMessage& message_of(u32 qpn, u32 index) const {
    return sent_.message(contexts_.connection_of(qpn), index);
  }

  engine::Waker& self_;
  const device::Contexts& contexts_;
  const device::SendStates send_;
  const device::SentMessages sent_;
  const device::PortCounts counts_;
  ByQp<SendQueue>& queues_;
  u32& pending_;  // bits: kTurns, kAnswers, kOwn
  RequesterCounters& counters_;
  RequesterOutputs& outputs_;
  engine::Probe& probe_;
};
}  // namespace hca::blocks
