// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/request_effect.h"

namespace hca::blocks {
// Read: begins when it is the first outcome of its queue pair; a new READ may also begin after a
// READ whose packets are all requested. Atomic: ATOMIC, ATOMIC WRITE and FLUSH; begins when it is
// the first outcome.
enum class OutcomeKind : u8 { Plain, Read, Atomic };

// A region as it was when an access was judged.
struct HeldRegion {
  HeldRegion* next = nullptr;
  Pool<HeldRegion>* home = nullptr;
  proto::Region region{};
};

// The outcome of an executed request: its answer, completion or failure, in the order of its queue
// pair (G4.4).
struct Outcome {
  Outcome* next = nullptr;
  Pool<Outcome>* home = nullptr;
  OutcomeKind kind{};
  u32 waits = 0;             // payloads that must be ordered before it
  bool invalidates = false;  // `command` has the request and reports when accesses have drained
  bool replies = false, completes = false, fails = false;
  bool is_ack = false;  // an ACK and nothing else: a later one of its queue pair may take its place
  bool started = false, repeats = false, key_good = false;  // READ, ATOMIC
  Cycle not_before = 0;                                     // its last beat is known good
  Reply reply{};
  Completed completed{};
  Fault fault{};
  bool congested = false;
  u32 consumed = 0;  // receive WQEs taken up to this request
  // Fields of READ and ATOMIC.
  proto::RequestEffect effect{};
  u64 address = 0;
  HeldRegion* pages = nullptr;  // its key's region, if that has a page list
  bool granted = false;         // its memory is accessed until it is over
  u32 asked = 0, answered = 0;  // response packets requested, answered
  const proto::OpcodeRow* opcode = nullptr;
  proto::AtomicEth operands{};
};
}  // namespace hca::blocks
