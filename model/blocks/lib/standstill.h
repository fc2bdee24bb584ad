// SPDX-License-Identifier: Apache-2.0
// Why a queue pair stands still: the state that each block holds of it, and the block that should
// have acted. For diagnosis by a person after a hang.
#pragma once
#include <string>

#include "model/proto/transport/qp.h"

namespace hca::blocks {
struct SchedulerHold {  // qp_scheduler
  u32 posted = 0, fetch = 0;
  u32 turns = 0, turns_at_most = 0;  // of this queue pair
  bool ready = false, paused = false;
};
struct RequesterHold {
  bool has_wqe = false, listed = false;
  bool failing = false, waits_local = false, timer_runs = false;
  bool probes = false;  // it waits in its message: for the ACK of its first packet (G6.3), for room
  bool waits_data = false, waits_credits = false, waits_window = false;  // must_wait()
};
struct ResponderHold {      // responder_execute
  u32 parked = 0, psn = 0;  // packets waiting for a receive WQE or an ATOMIC; PSN of the first
  u32 wqe = 0;              // the receive WQE that the first one needs
  bool waits_invalidate = false;               // they wait for an earlier SEND with Invalidate
  bool waits_atomic = false, reading = false;  // reading: receive WQEs are being read
  bool has_answer = false, answer_waits = false, answer_listed = false;
  bool answer_drains = false;  // a SEND with Invalidate waits for the accesses judged before it
  u32 answer_psn = 0;
};

// Names the block that holds up the send queue and why, as a sentence; "" if the queue has nothing
// to do or waits for the peer's answer. `rung`: the producer index of the last doorbell.
std::string send_standstill(const proto::QpConfig& qp, const proto::SendState& s, u32 rung,
                            const SchedulerHold& scheduler, const RequesterHold& requester);
std::string receive_standstill(const ResponderHold& responder);
}  // namespace hca::blocks
