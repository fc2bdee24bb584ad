// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/blocks/lib/limits.h"
#include "model/proto/wire/link_frames.h"

namespace hca::blocks {

// Chooses the lane that sends next, by the VL arbitration tables of InfiniBand (volume 1, 7.6.9).
// The entries of a table alternate in order, each while its weight lasts, in blocks of 64 bytes;
// the last packet may exceed it. A lane may have several entries, and be in both tables. Entries of
// the high table go first, until more than `high_limit` times 4096 bytes were sent while an entry
// of the low table waited; 255: no limit.
class LaneArbiter {
 public:
  struct Entry {
    u8 lane = 0;
    u32 weight = 0;  // 0: the entry is skipped
  };
  using Entries = std::vector<Entry>;
  using Weights = std::array<u32, kLanes>;
  static constexpr u32 kNoLimit = 255, kLimitBytes = 4096;
  LaneArbiter(const Entries& high, const Entries& low, u32 high_limit)
      : high_(high), low_(low), limit_(int(high_limit * kLimitBytes)), left_(limit_) {
    unlimited_ = high_limit == kNoLimit;
  }
  // One entry for each lane.
  LaneArbiter(const Weights& high, const Weights& low, u32 high_limit)
      : LaneArbiter(entries_of(high), entries_of(low), high_limit) {}
  static Entries entries_of(const Weights& weights) {
    Entries entries;
    for (unsigned i = 0; i < kLanes; ++i) entries.push_back({u8(i), weights[i]});
    return entries;
  }
  // `ready`: lanes that may send, one bit each, at least one set; every lane is in a table.
  unsigned pick(u32 ready) {
    const u32 high = ready & high_.lanes;
    from_high_ = high && (unlimited_ || left_ >= 0 || high == ready);
    return from_high_ ? high_.pick(high) : low_.pick(ready);
  }
  // The lane picked last has sent these bytes.
  void count(u32 bytes) {
    (from_high_ ? high_ : low_).left -= int(proto::credit_blocks(bytes));
    left_ = from_high_ ? left_ - int(bytes) : limit_;
  }

 private:
  struct Table {
    explicit Table(const Entries& all) {
      for (const Entry& e : all)
        if (e.weight) {
          entries.push_back(e);
          lanes |= 1u << e.lane;
        }
      at = entries.empty() ? 0 : entries.size() - 1;
    }
    Entries entries;
    u32 lanes = 0;
    std::size_t at = 0;
    int left = 0;  // blocks
    // At least one of its lanes is ready.
    unsigned pick(u32 ready) {
      if (left > 0 && ready >> entries[at].lane & 1) return entries[at].lane;
      do at = at + 1 == entries.size() ? 0 : at + 1;
      while (!(ready >> entries[at].lane & 1));
      left = int(entries[at].weight);
      return entries[at].lane;
    }
  };
  Table high_, low_;
  int limit_, left_;  // bytes
  bool unlimited_ = false, from_high_ = false;
};
}  // namespace hca::blocks
