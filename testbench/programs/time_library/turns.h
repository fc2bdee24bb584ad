// SPDX-License-Identifier: Apache-2.0
// A thread and its turns: what files of the library of clocks share of that.
#pragma once
#include "testbench/programs/server/turns.h"

namespace hca::time_library {
struct Mine {
  attach::SharedThread* slot = nullptr;
  u64 debt = 0;   // work of which the simulation has not heard
  u32 reads = 0;  // of clocks, one after the other
  u64 spun = 0;   // what those took
  attach::CompletionRing polled;
  u32 polls = 0;         // of that queue and no other
  bool watches = false;  // it has looked at a clock since it polled last
  u32 free_polls = 0;    // that find nothing and return at once: it has done something before
  bool looks_at_memory = false;  // between polls: what was written there it found late
};
extern thread_local constinit Mine t_mine;

// Of the calling thread, if it has the turn; looks only, in a signal too.
attach::SharedThread* slot_with_turn();
// Of a thread that has the turn and waits in memory: until `changed`, which tells whether a word
// that it looks at is another. May be called in a signal.
void wait_in_memory(attach::SharedThread& slot, bool (*changed)());
// Until the HCA writes a completion to this ring, at the longest so many picoseconds.
void wait_for_completion(const attach::CompletionRing& ring, u64 longest);
}  // namespace hca::time_library
