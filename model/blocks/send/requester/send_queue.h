// SPDX-License-Identifier: Apache-2.0
// The requester's state of a queue pair: its work in progress.
#pragma once
#include <memory>

#include "model/blocks/items.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/send/packetizer.h"
#include "model/blocks/send/read_order.h"
#include "model/engine/rate.h"
#include "model/proto/wire/repeated_headers.h"

namespace hca::blocks {
// An unanswered READ or ATOMIC: its WQE's SGEs, and how far its data has come.
struct AwaitedWork {
  u32 index = 0;
  GatherCursor cursor;  // points into the segments below
  std::array<u8, proto::kMaxSendWqeBytes - proto::kSendWqeBytes> segments{};

  AwaitedWork() = default;
  AwaitedWork(AwaitedWork&&) = default;  // for elements that are over
  // Moves an element into a longer ring.
  AwaitedWork& operator=(AwaitedWork&& other) noexcept {
    index = other.index;
    cursor = other.cursor;
    segments = other.segments;
    cursor.segments = segments.data();
    return *this;
  }
};

// The next packet is not cut before `from`: by a rate limit, or after a READ.
struct Pace {
  u32 limit = 0;            // kb/s
  bool after_read = false;  // what `from` comes from
  engine::Pacer pacer;
  Cycle from = 0, counted = 0;  // counted: waits are counted up to here
};

// The last message of one packet: another one like it differs only in its PSN and its extension
// headers.
struct LonePacket {
  proto::RepeatedHeaders headers;
  proto::PacketPlan plan{};
  proto::WorkOpcode opcode{};
  bool solicited = false;
  u32 bytes = 0;  // bytes of the message
  u16 request_bytes = 0;

  // A message of one packet is cut as a whole: its only packet is its first.
  bool is_like(const proto::SendWqe& wqe, const proto::SentMessage& m, u64 version) const {
    return m.packets == 1 && bytes == m.bytes && request_bytes == m.request_bytes &&
           opcode == wqe.opcode && solicited == wqe.solicited && headers.hold(version);
  }
};

// The members that each packet needs come first, in few cache lines.
struct alignas(64) SendQueue {
  Turn *head = nullptr, *tail = nullptr;
  proto::SentMessage* message = nullptr;  // in progress, if sending
  std::unique_ptr<Pace> pace;
  u32 at = 0;      // WQE within the first turn
  u32 index = 0;   // the WQE of the message in progress
  u32 packet = 0;  // PSNs of the message that are sent
  u32 life = 0;    // life of the queue pair
  bool active = false, sending = false, in_error = false, completing = false;
  bool waits_to_fail = false;  // the next WQE cannot be executed
  bool waits_local = false;    // for WQE local_index, which `command` executes, or which it refused
  bool failing = false;        // WQE fail_index ends with fail_status, after all before it
  proto::RepeatedHeaders repeated;  // of the middle packets of the message in progress
  GatherCursor cursor;
  ReadOrder order;  // order of its packets
  proto::SendWqe wqe{};
  proto::WorkOperands operands{};
  Ring<AwaitedWork> awaited;
  LonePacket lone;
  // RD queue pair: the EE context that it asks for its next WQE; 0: none.
  u32 asks = 0;
  bool suspended = false;  // an RNR NAK interrupted that WQE (G13.4)
  // EE context: the destination of its message, and whether a RESYNC has replaced it.
  bool resyncs = false;
  proto::RdAddress rd{};
  u32 local_index = 0, fail_index = 0;
  proto::WcStatus local_status{}, fail_status{};
  proto::SendWait waits = proto::SendWait::None;  // why its next WQE waits, since:
  Cycle waits_since = 0, rnr_since = 0;
};
}  // namespace hca::blocks
