// SPDX-License-Identifier: Apache-2.0
// A thread and its turns: declarations shared by files of the time library.
#pragma once
#include "testbench/programs/server/turns.h"

namespace hca::time_library {
struct Mine {
  attach::SharedThread* slot = nullptr;
  u64 debt = 0;   // work not yet reported to the simulation
  u32 reads = 0;  // consecutive reads of clocks
  u64 spun = 0;   // time taken by those
  attach::CompletionRing polled;
  u32 polls = 0;         // consecutive polls of that queue
  bool watches = false;  // it has read a clock since its last poll
  // polls without success that return at once, because the thread was active before
  u32 free_polls = 0;
  bool looks_at_memory = false;  // between polls: it noticed a write there late
};
extern thread_local constinit Mine t_mine;

// The entry of the calling thread, if it has the turn; read-only, safe in a signal handler.
attach::SharedThread* slot_with_turn();
// For a thread that has the turn and polls memory: waits until `changed` returns true for the
// polled word. Safe in a signal handler.
void wait_in_memory(attach::SharedThread& slot, bool (*changed)());
// Waits until the HCA writes a completion to this ring, at most this many picoseconds.
void wait_for_completion(const attach::CompletionRing& ring, u64 longest);
}  // namespace hca::time_library
