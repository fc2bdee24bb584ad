// SPDX-License-Identifier: Apache-2.0
// Decides whether a thread without calls computes, or waits for memory that somebody else writes.
#pragma once

namespace hca::attach {
struct SharedThread;
}

namespace hca::time_library {
// Allows the server to examine threads of this program: it sends attach::kExamine to the thread
// that has the turn, which then executes one instruction at a time for a while and writes the
// finding to its entry.
//
// The thread waits if one of its states repeats: all registers, and each byte written since, are
// the same. It would then repeat forever, unless somebody else writes to its memory. A computing
// thread advances, and no state repeats.
void set_up_examination();
// Ignores the signal, also after exec().
void ignore_examination();
}  // namespace hca::time_library
