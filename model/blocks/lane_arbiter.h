// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/next_place.h"
#include "model/proto/link_frames.h"

namespace hca::blocks {
inline constexpr unsigned kLanes = proto::kPriorities;  // virtual lanes with data, or priorities

// Which lane sends next, by the tables of InfiniBand (volume 1, 7.6.9): of each table the lanes
// take turns, a lane while its weight lasts, in blocks of 64 bytes; the last packet may exceed it.
// A lane of the high table goes first, until more than `high_limit` times 4096 bytes have gone
// while one of the low table waited; 255: without end.
class LaneArbiter {
 public:
  using Weights = std::array<u32, kLanes>;
  static constexpr u32 kNoLimit = 255, kLimitBytes = 4096;
  LaneArbiter(const Weights& high, const Weights& low, u32 high_limit)
      : high_{high}, low_{low}, limit_(int(high_limit * kLimitBytes)), left_(limit_) {
    unlimited_ = high_limit == kNoLimit;
  }
  // `ready`: lanes that may send, a bit each, one at least; every lane is in the low table.
  unsigned pick(u32 ready) {
    const u32 high = ready & high_.lanes();
    from_high_ = high && (unlimited_ || left_ >= 0 || high == ready);
    return from_high_ ? high_.pick(high) : low_.pick(ready);
  }
  // The lane that was picked last sends.
  void count(u32 bytes) {
    (from_high_ ? high_ : low_).count(proto::credit_blocks(bytes));
    left_ = from_high_ ? left_ - int(bytes) : limit_;
  }

 private:
  struct Table {
    explicit Table(const Weights& w) : weights(w) {}
    Weights weights;
    unsigned lane = kLanes - 1;
    int left = 0;  // blocks
    u32 lanes() const {
      u32 all = 0;
      for (unsigned i = 0; i < kLanes; ++i) all |= u32{weights[i] != 0} << i;
      return all;
    }
    unsigned pick(u32 ready) {
      ready &= lanes();
      if (left > 0 && ready >> lane & 1) return lane;
      lane = next_place(ready, lane), left = int(weights[lane]);
      return lane;
    }
    void count(u32 blocks) { left -= int(blocks); }
  };
  Table high_, low_;
  int limit_, left_;  // bytes
  bool unlimited_ = false, from_high_ = false;
};
}  // namespace hca::blocks
