// SPDX-License-Identifier: Apache-2.0
// The items on the links between blocks, except packets.
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/pool.h"
#include "model/blocks/memory/accesses.h"
#include "model/blocks/packet.h"
#include "model/engine/link.h"
#include "model/proto/interface/events.h"
#include "model/proto/transport/migration_rules.h"

namespace hca::blocks {
// A send WQE that came with its doorbell. `next`: the next one of its queue pair, or of its turn.
struct PushedWqe {
  PushedWqe* next = nullptr;
  Pool<PushedWqe>* home = nullptr;
  u32 bytes = 0, index = 0;  // index: in its send queue
  std::array<u8, proto::kPushBytes> wqe{};
};

struct SendBell {
  u32 qpn = 0;
  u16 producer = 0;
  PushedWqe* pushed = nullptr;
};
struct ReceiveBell {
  u32 qpn = 0;
  u32 posted = 0;       // 16 bits before responder_check, widened after it
  bool shared = false;  // the bell of an SRQ; `qpn` is its number
};
struct CommandBell {
  u64 address = 0;
};

// A run of consecutive WQEs of one queue pair, fetched together. With `flush` only their number
// matters.
struct Turn {
  static constexpr u32 kBytes = 1024;
  Turn* next = nullptr;
  Pool<Turn>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0, epoch = 0;
  bool flush = false;
  bool unreadable = false;            // memory returned an error
  bool again = false;                 // all of them were fetched before
  bool cached = false;                // hit in the WQE cache; they are not read
  bool lent = false;                  // RD: the WQE that an EE context sends; it is a copy
  PushedWqe* pushed = nullptr;        // all its WQEs in order; nullptr: they are read
  struct ReadOrder* order = nullptr;  // of its queue pair, while its WQEs are read
  alignas(64) std::array<u8, kBytes> wqes{};
};

// Consecutive receive WQEs, as they are in host memory.
struct ReceiveBatch {
  ReceiveBatch* next = nullptr;
  Pool<ReceiveBatch>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0;
  device::ReceiveQueue source{};
  u32 life = 0;             // life of the queue pair that requested it
  bool unreadable = false;  // memory returned an error
  bool ahead = false;       // of an SRQ, read before a message takes them, for no queue pair yet
  alignas(64) std::array<u8, 1024> wqes{};

  bool has(u32 index) const { return index - first < count; }
  const u8* wqe(u32 index, u32 stride) const { return wqes.data() + (index - first) * stride; }
  // The WQEs that one read brings: from `from` on, before `posted` and the end of the ring.
  void set_range(const proto::WorkQueue& ring, u32 from, u32 posted, u32 most) {
    const u32 to_end = ring.entries() - (from & (ring.entries() - 1));
    first = from;
    count = std::min({posted - from, to_end, most, u32(wqes.size()) / ring.stride()});
  }
};

// A note from the requester to the scheduler about a queue pair.
enum class NoteKind : u8 {
  TurnDone,  // room for another turn
  Rewind,    // continue to fetch at `index`, with the new epoch
  Pause,     // the same, but not before Resume (RNR, window)
  Resume,
  Flush,  // the queue pair is in Error: turns from `index` on are flushed
  Clear,  // the queue pair was reset
};
struct SchedulerNote {
  NoteKind kind{};
  u32 qpn = 0, index = 0, epoch = 0;
};

// A response that passed response_check. `packet`: a READ or ATOMIC response, with its data.
struct Acknowledgement {
  u32 qpn = 0, psn = 0, msn = 0;
  u32 dest_qpn = 0;  // RD, whose `qpn` is that of the EE context
  u8 syndrome = 0;
  u32 payload_bytes = 0;  // 0 for an Acknowledge
  Packet* packet = nullptr;
};

// The last packet of an unacknowledged message was handed to the wire.
struct SentPacket {
  u32 qpn = 0, next_psn = 0;
  u32 life = 0;  // life of the queue pair that sent it
};

// A completion on its way to its CQ. `event`: instead an event of its queue pair, raised after all
// earlier completions.
struct Completed {
  u32 cqn = 0;
  proto::Cqe cqe{};
  proto::EventType event = proto::EventType::Completion;
  Accesses::Era era = 0;
  device::ReceiveQueue queue{};  // XRC: SRQ of its WQE; fails with its CQ (class L)

  bool is_event() const { return event != proto::EventType::Completion; }
};

// An answer of the responder. `cnp`: a congestion notification instead. `packet`: a complete READ
// or ATOMIC response.
struct Reply {
  u32 qpn = 0, psn = 0, msn = 0;
  u8 syndrome = 0;
  bool cnp = false;
  bool becn = false;  // G26.1
  Packet* packet = nullptr;
  bool native = false;  // the notification is a CN; that of a datagram is a complete `packet`
  u32 dest_qpn = 0;     // RD: the queue pair that asked
  u16 pkey = 0;         // RD
};

// A change that must happen between two cycles: a queue pair enters Error, with its affiliated
// asynchronous event if there is one; or a key is invalidated; or a step of path migration is taken
// (G17); or only an event is raised.
struct Fault {
  u32 qpn = 0;  // for an event alone: the number of its object
  bool raise = false;
  proto::EventType event{};
  proto::EventPart part{};  // that the event is about, if not that of its row
  u16 wqe_index = 0;
  std::optional<u32> invalidate{};      // invalidate this key; the queue pair stays as it is
  u32 life = 0;                         // life of the queue pair that requested it
  bool fails = true;                    // the queue pair enters Error
  bool sends_alone = false;             // the queue pair enters SQE instead
  bool refused = false;                 // a request was refused
  bool rolls_back = false;              // on its execution: ePSN and MSN return to `psn` and `msn`
  proto::PathStep step{};               // Arm or Migrate; the queue pair stays in its state
  bool resumes = false;                 // the requester waits for the migration
  device::ReceiveQueue failed_queue{};  // an SRQ: it fails too
  u32 psn = 0, msn = 0;
};

// The cable of a port (counted from 1) breaks or is repaired.
struct CableChange {
  u32 port = 0;
  bool is_broken = false;
};

// An event for its event queue, or the message of a vector.
struct EventNote {
  u32 eqn = 0;
  proto::Event event{};
  bool message = false;
  u16 vector = 0;
};

using SendBellLink = engine::Link<SendBell, 8>;
using ReceiveBellLink = engine::Link<ReceiveBell, 8>;
using CommandBellLink = engine::Link<CommandBell, 4>;
using CqBellLink = engine::Link<proto::CqDoorbell, 8>;
using EqBellLink = engine::Link<proto::EqDoorbell, 4>;
using TurnLink = engine::Link<Turn*, 8>;
using FetchedLink = engine::Link<Turn*, kMostTurns>;
using NoteLink = engine::Link<SchedulerNote, 8>;
using AckLink = engine::Link<Acknowledgement, 8>;
using SentLink = engine::Link<SentPacket, 8>;
using CompletedLink = AccessLink<Completed, 8>;
using ReplyLink = engine::Link<Reply, 8>;
using FaultLink = engine::Link<Fault, 4>;
using PacketLink = engine::Link<Packet*, kMostPackets>;
using ReceiveBatchLink = engine::Link<ReceiveBatch*, 64>;
using EventLink = engine::Link<EventNote, 4>;
}  // namespace hca::blocks
