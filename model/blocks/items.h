// SPDX-License-Identifier: Apache-2.0
// What travels on the links between blocks, beside packets.
#pragma once
#include <array>
#include <optional>

#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/pool.h"
#include "model/blocks/memory/accesses.h"
#include "model/blocks/packet.h"
#include "model/engine/link.h"
#include "model/proto/interface/events.h"

namespace hca::blocks {
// A send WQE that came with its doorbell. `next`: of its queue pair, or of its turn.
struct PushedWqe {
  PushedWqe* next = nullptr;
  Pool<PushedWqe>* home = nullptr;
  u32 bytes = 0, index = 0;  // index: in its queue
  std::array<u8, proto::kPushBytes> wqe{};
};

struct SendBell {
  u32 qpn = 0;
  u16 producer = 0;
  PushedWqe* pushed = nullptr;
};
struct ReceiveBell {
  u32 qpn = 0;
  u32 posted = 0;       // widened behind responder_check; 16 bits before
  bool shared = false;  // of an SRQ, whose number is `qpn`
};
struct CommandBell {
  u64 address = 0;
};

// A run of consecutive WQEs of one queue pair, fetched together; with `flush` only their number
// counts.
struct Turn {
  static constexpr u32 kBytes = 1024;
  Turn* next = nullptr;
  Pool<Turn>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0, epoch = 0;
  bool flush = false;
  bool unreadable = false;            // memory answered with an error
  bool again = false;                 // all of them were fetched before
  bool cached = false;                // and are here: the WQE cache had them
  PushedWqe* pushed = nullptr;        // all its WQEs, in their order; nullptr: they are read
  struct ReadOrder* order = nullptr;  // of its queue pair, while its WQEs are read
  alignas(64) std::array<u8, kBytes> wqes{};
};

// A run of receive WQEs as they stand in host memory.
struct ReceiveBatch {
  ReceiveBatch* next = nullptr;
  Pool<ReceiveBatch>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0;
  u32 life = 0;             // of the queue pair that asked for it
  bool unreadable = false;  // memory answered with an error
  alignas(64) std::array<u8, 1024> wqes{};

  bool has(u32 index) const { return index - first < count; }
};

// What the requester tells the scheduler of a queue pair.
enum class NoteKind : u8 {
  TurnDone,  // room for another turn
  Rewind,    // go on fetching from `index` with the new epoch
  Pause,     // the same, but not before Resume (RNR, window)
  Resume,
  Flush,  // the queue pair is in Error: turns from `index` on are flushed
  Clear,  // the queue pair was reset
};
struct SchedulerNote {
  NoteKind kind{};
  u32 qpn = 0, index = 0, epoch = 0;
};

// A response that passed response_check; `packet`: of a READ or ATOMIC, with its data.
struct Acknowledgement {
  u32 qpn = 0, psn = 0, msn = 0;
  u8 syndrome = 0;
  u32 payload_bytes = 0;  // of an Acknowledge, which has none
  Packet* packet = nullptr;
};

// The last packet of a message that nobody will answer is handed to the wire.
struct SentPacket {
  u32 qpn = 0, next_psn = 0;
  u32 life = 0;  // of the queue pair that sent it
};

// A completion on its way to its CQ; `event`: instead, an event of its queue pair, behind all
// completions before.
struct Completed {
  u32 cqn = 0;
  proto::Cqe cqe{};
  proto::EventType event = proto::EventType::Completion;
  Accesses::Era era = 0;

  bool is_event() const { return event != proto::EventType::Completion; }
};

// An answer of the responder; `cnp`: a congestion notification instead; `packet`: a READ or ATOMIC
// response that is complete.
struct Reply {
  u32 qpn = 0, psn = 0, msn = 0;
  u8 syndrome = 0;
  bool cnp = false;
  bool becn = false;  // G26.1
  Packet* packet = nullptr;
};

// What must happen between two cycles: a queue pair enters Error, with the affiliated asynchronous
// event to raise, if any; or a key is invalidated; or an event is raised and nothing else.
struct Fault {
  u32 qpn = 0;  // of an event alone: the number of its object
  bool raise = false;
  proto::EventType event{};
  bool of_sends = false;  // the event, as its WQE
  u16 wqe_index = 0;
  std::optional<u32> invalidate{};      // this key; the queue pair goes on
  u32 life = 0;                         // of the queue pair that asked for that
  bool fails = true;                    // the queue pair enters Error
  bool sends_alone = false;             // the queue pair enters SQE instead
  bool refused = false;                 // a request with this PSN; MSN without it
  device::ReceiveQueue failed_queue{};  // an SRQ: it fails too
  u32 psn = 0, msn = 0;
};

// The cable of a port, from 1 on, breaks or is mended.
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
