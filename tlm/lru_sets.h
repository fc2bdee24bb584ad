// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::tlm_ {
// A cache without its data: sets of `ways` lines each, by the remainder of the key; what goes is
// the least recently used of its set.
class LruSets {
 public:
  struct Line {
    u64 key = ~u64{0}, used = 0;
    engine::Cycle ready = 0;  // for the user
    bool is_free() const { return !used; }
  };
  // `lines` is a multiple of `ways`; 0: there is none.
  LruSets(u32 lines, u32 ways) : ways_(ways), sets_(lines / ways), lines_(lines) {}
  bool is_empty() const { return lines_.empty(); }
  // The line of a key, which is then the latest used; nullptr: there is none.
  Line* find(u64 key) {
    Line* const set = set_of(key);
    Line* const at = std::find_if(set, set + ways_, [&](const Line& l) { return l.key == key; });
    if (at == set + ways_ || at->is_free()) return nullptr;
    at->used = ++uses_;
    return at;
  }
  // The line that a key takes, as it was; the caller has not found the key.
  Line replace(u64 key, engine::Cycle ready = 0) {
    Line* const set = set_of(key);
    Line* const at = std::min_element(set, set + ways_,
                                      [](const Line& a, const Line& b) { return a.used < b.used; });
    return std::exchange(*at, {key, ++uses_, ready});
  }

 private:
  Line* set_of(u64 key) { return &lines_[key % sets_ * ways_]; }
  u32 ways_;
  u64 sets_, uses_ = 0;
  std::vector<Line> lines_;
};
}  // namespace hca::tlm_
