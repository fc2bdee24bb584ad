// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::engine {
// One reason why work stands still, collected only on request.
struct Wait {
  enum class For : u8 { Room, Reader, Budget, Mail };
  For what;
  const char* object;  // name of the link, budget or mailbox
  Cycle since;
  u64 waiting;      // bit of the waiting block; for Reader and Mail, of the block waited for
  u64 on;           // Room: bit of the reader; Reader: bit of the writer; otherwise 0
  unsigned in, of;  // items in a link and its depth; free units of a budget
};

// Cycles that a block has waited for one thing. They are counted when the duration of a wait is
// known: at its end, or already at its beginning.
struct Stalls {
  const u64* cycles;
  u64 waiting, on;    // bits of the waiting block and, for a link, of the one it waits for, or 0
  const char* cause;  // name of the link or budget, or of the missing thing
};

// The fill level of a link, budget or mailbox between two cycles.
struct Level {
  const char* object;  // its name
  u64 owner;           // bit of the block that reads or takes
  unsigned used, of;   // for a budget, the units taken; `of` 0: no limit
};

// A level change in a cycle in which no block runs: mail becomes due, or returned units of a budget
// become usable.
struct LevelChange {
  Cycle at;
  int by;
};

// The most that an object held after all blocks of a cycle, in any cycle. It keeps this itself
// where its level rises, so that nobody has to look at it in each cycle.
inline constexpr unsigned kNoMost = ~0u;  // it is not kept

// An object that blocks can wait for: registered in its domain by connect().
struct Watched {
  void* object;
  void (*report)(const void* object, std::vector<Wait>& waits);
  Level (*level)(const void* object);
  unsigned (*used)(const void* object);  // level().used
  // Appends the changes known so far in cycles after `from` and before `to`; nullptr: there are
  // none.
  void (*changes)(const void* object, Cycle from, Cycle to, std::vector<LevelChange>&);
  // Between two cycles: from now on the most is kept that it holds, at least `most` and what it
  // holds now. kNoMost: no longer.
  void (*keep_most)(void* object, unsigned most);
  // The most since then, including the present cycle.
  unsigned (*most)(const void* object);
};
}  // namespace hca::engine
