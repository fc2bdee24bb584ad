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

// The links that lead out of the requester.
struct RequesterOutputs {
  CompletedLink* completions_out = nullptr;
  DmaLink* responses_out = nullptr;  // data of READs and ATOMICs
  NoteLink* notes_out = nullptr;
  FaultLink* faults_out = nullptr;
  LocalWorkLink* works_out = nullptr;  // work requests that change the key table
};

// What each part of the requester has of it: its clock, its tables, its links. The parts are one
// block of the engine: they act inside of its tick(), or of a call by `command` between two cycles.
class RequesterPart {
 public:
  // What the requester may have to do beside sending: turns or answers in its links, or what it
  // keeps itself.
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
  // Of the WQE `index`, which was begun.
  proto::SentMessage& message_of(u32 qpn, u32 index) const {
    return sent_.message(contexts_.connection_of(qpn), index);
  }

  engine::Waker& self_;
  const device::Contexts& contexts_;
  const device::SendStates send_;
  const device::SentMessages sent_;
  const device::PortCounts counts_;
  ByQp<SendQueue>& queues_;
  u32& pending_;  // bits of the constants above
  RequesterCounters& counters_;
  RequesterOutputs& outputs_;
  engine::Probe& probe_;
};
}  // namespace hca::blocks
