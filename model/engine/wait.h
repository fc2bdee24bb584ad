// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::engine {
// One reason why work stands still, collected only when somebody asks.
struct Wait {
  enum class For : u8 { Room, Reader, Budget, Mail };
  For what;
  const char* object;  // name of the link, budget or mailbox
  Cycle since;
  u64 waiting;  // bit of the block that waits; for Reader and Mail of the block that is waited for
  u64 on;       // Room: bit of the reader; Reader: bit of the writer; otherwise 0
  unsigned in, of;  // items in a link of its depth; what is free of a budget
};

// Cycles that a block has waited for one thing. They are counted when it is known how long a wait
// takes: behind it, or in front.
struct Stalls {
  const u64* cycles;
  u64 waiting, on;    // bits of the block that waits and, of a link, of the one it waits for, or 0
  const char* cause;  // name of the link or budget, or what is missing
};

// How full a link, budget or mailbox is between two cycles.
struct Level {
  const char* object;  // its name
  u64 owner;           // bit of the block that reads or takes
  unsigned used, of;   // of a budget, what is taken; `of` 0: there is no limit
};

// What changes a level in a cycle without any block running in it: mail becomes due, a budget's
// room counts again.
struct LevelChange {
  Cycle at;
  int by;
};

// Something that can be waited for: registered in its domain by connect().
struct Watched {
  const void* object;
  void (*report)(const void* object, std::vector<Wait>& waits);
  Level (*level)(const void* object);
  // Adds those in cycles behind `from` and before `to`, as far as they are known now; nullptr:
  // there are none.
  void (*changes)(const void* object, Cycle from, Cycle to, std::vector<LevelChange>&) = nullptr;
};
}  // namespace hca::engine
