// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/request_effect.h"

namespace hca::blocks {
// Read: it begins when it is the first outcome of its queue pair, a new one also after a READ whose
// packets are all asked for. Atomic: ATOMIC, ATOMIC WRITE and FLUSH, which begin when they are the
// first.
enum class OutcomeKind : u8 { Plain, Read, Atomic };

// A region as it was when an access was judged.
struct HeldRegion {
  HeldRegion* next = nullptr;
  Pool<HeldRegion>* home = nullptr;
  proto::Region region{};
};

// What remains of a request when it is executed: its answer, completion or failure, in the order of
// its queue pair (G4.4).
struct Outcome {
  Outcome* next = nullptr;
  Pool<Outcome>* home = nullptr;
  OutcomeKind kind{};
  bool waits = false;        // for its data to be ordered
  bool invalidates = false;  // `command` has been told, and reports when accesses have drained
  bool replies = false, completes = false, fails = false;
  bool started = false, repeats = false, key_good = false;  // READ, ATOMIC
  Cycle not_before = 0;                                     // its last beat is known good
  Reply reply{};
  Completed completed{};
  Fault fault{};
  bool congested = false;
  u32 consumed = 0;  // receive WQEs taken up to this request
  // READ, ATOMIC
  proto::RequestEffect effect{};
  u64 address = 0;
  HeldRegion* pages = nullptr;  // its key's region, if that has a page list
  bool granted = false;         // its memory is accessed until it is over
  u32 asked = 0, answered = 0;  // response packets
  const proto::OpcodeRow* opcode = nullptr;
  proto::AtomicEth operands{};
};
}  // namespace hca::blocks
