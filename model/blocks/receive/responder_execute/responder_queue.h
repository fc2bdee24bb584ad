// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/outcome.h"
#include "model/proto/transport/reply_rules.h"
#include "model/proto/transport/saved_requests.h"

namespace hca::blocks {
// The scatter list of the receive WQE in use.
struct Scatter {
  const u8* sges = nullptr;
  u32 count = 0, index = 0, offset = 0;
};

// The state that responder_execute keeps per queue pair.
struct alignas(64) ResponderQueue {
  ReceiveBatch *current = nullptr, *following = nullptr;
  device::ReceiveQueue source{};       // queue of these WQEs; each XRC message names its own
  device::ReceiveQueue open_source{};  // if wqe_open: queue of the message in progress
  Packet *parked_head = nullptr, *parked_tail = nullptr;
  Cycle wqe_since = kNever;  // since then its first parked request waits for a receive WQE
  bool fetching = false, unparking = false, failed = false, flushing = false;
  bool wqe_open = false;
  bool listed = false;  // its first outcome may be due
  bool unread = false;  // the data of a READ could not be read: it enters Error
  bool tells = false;   // its peer may not have received its credits
  bool congested = false;
  bool owes_becn =
      false;  // for requests without an answer of their own: the next outcome is congested
  u32 life = 0;
  u32 taken = 0;                 // SRQ WQEs taken by requests that came here
  u32 atomics = 0;               // new ATOMICs that are not done
  u32 invalidates = 0;           // SENDs with Invalidate whose key is not yet invalidated
  u32 posted = 0, next_wqe = 0;  // next_wqe: the next that a message will take
  u32 open_wqe = 0;              // if wqe_open: WQE of the message in progress
  bool abandoned = false;        // UC: until a packet begins a message
  Scatter scatter;
  u32 placed = 0;  // bytes of the SEND in progress
  Outcome *first = nullptr, *last = nullptr;
  Outcome* reading = nullptr;  // the READ that began last
  u32 ordered = 0;             // payloads ordered, not yet used by an outcome
  proto::SavedRequests saved;
  proto::ToldCredits told;

  bool has_wqe(device::ReceiveQueue queue, u32 index) const {
    if (queue != source) return false;
    return (current && current->has(index)) || (following && following->has(index));
  }
};
}  // namespace hca::blocks
