// SPDX-License-Identifier: Apache-2.0
// Whether a thread that makes no call computes, or waits for memory that somebody else writes.
#pragma once

namespace hca::attach {
struct SharedThread;
}

namespace hca::time_library {
// From now on threads of this program can be examined: the server sends attach::kExamine to the one
// that has the turn, which executes one instruction at a time for a while and answers in its place.
//
// It waits if a state of the thread comes again: all registers, and each byte that was written
// since, are what they were. Then it goes on like that for ever, unless somebody else writes to its
// memory. Who computes gets on, and no state comes again.
void set_up_examination();
// The signal is ignored, in what the program becomes by exec(), too.
void ignore_examination();
}  // namespace hca::time_library
