// SPDX-License-Identifier: Apache-2.0
// What the packets that have passed a block have tried: bins counted, and named where none came.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
class BinCoverage {
 public:
  // All combinations of what a group crosses but those that cannot be.
  struct Group {
    std::string_view crosses;
    u64 bins = 0, hit = 0;
  };
  std::vector<Group> groups() const;
  std::vector<std::string> holes() const;  // the names of bins without a packet
  std::string text() const;                // a line for each group and for the first holes

 protected:
  // The bins that are added behind this belong to it; returns the place of the first.
  u64 add_group(std::string_view crosses);
  // One that cannot be keeps its place without a name.
  void add(std::string name) { bins_.push_back({groups_.size() - 1, std::move(name), 0}); }
  void hit(u64 index) { ++bins_[index].packets; }

 private:
  struct Bin {
    u64 group;
    std::string name;
    u64 packets;
  };
  std::vector<std::string_view> groups_;
  std::vector<Bin> bins_;
};

// Items between two of one context, up to.
inline constexpr std::array<u32, 5> kHazardDistances{1, 2, 4, 12, 40};

// The place of the first row that fits.
template <class Rows, class Fits>
u32 index_in(const Rows& rows, Fits fits) {
  return u32(std::find_if(rows.begin(), rows.end(), fits) - rows.begin());
}
u32 stream_of(proto::Framing framing, bool vlan);
}  // namespace hca::testbench
