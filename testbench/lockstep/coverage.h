// SPDX-License-Identifier: Apache-2.0
// Coverage: bins counted by the packets that have passed a block, and named if no packet came.
#pragma once
#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
class BinCoverage {
 public:
  // All combinations of a group's dimensions, except the impossible ones.
  struct Group {
    std::string_view crosses;
    u64 bins = 0, hit = 0;
  };
  std::vector<Group> groups() const;
  std::vector<std::string> holes() const;  // the names of bins without a packet
  std::string text() const;                // a line for each group and for the first holes

 protected:
  // Begins a group: bins that are added after this belong to it. Returns the place of the first.
  u64 add_group(std::string crosses);
  // Adds a place without a name for an impossible bin.
  void add(std::string name) { bins_.push_back({groups_.size() - 1, std::move(name), 0}); }
  void hit(u64 index) { ++bins_[index].packets; }

  struct Dimension {
    std::string_view name;
    std::vector<std::string> values;
  };
  // Takes one value of each dimension; true: a packet can have them together.
  using Can = std::function<bool(std::span<const u32> values)>;
  // Adds a group of all their possible combinations. Returns its number among the crosses.
  std::size_t add_cross(std::span<const Dimension* const> dimensions, const Can& can = {});
  void hit_cross(std::size_t cross, std::initializer_list<u32> values);

 private:
  struct Bin {
    u64 group;
    std::string name;
    u64 packets;
  };
  struct Cross {
    u64 from;
    std::vector<u32> sizes;
  };
  std::vector<std::string> groups_;
  std::vector<Bin> bins_;
  std::vector<Cross> crosses_;
};

// Upper bounds of the number of items between two of one context.
inline constexpr std::array<u32, 5> kHazardDistances{1, 2, 4, 12, 40};

// The place of the first row that fits.
template <class Rows, class Fits>
u32 index_in(const Rows& rows, Fits fits) {
  return u32(std::find_if(rows.begin(), rows.end(), fits) - rows.begin());
}
// The place of an opcode in kOpcodeRows.
u32 index_of_opcode(u8 code);
u32 stream_of(proto::Framing framing, bool vlan);
std::vector<std::string> stream_names();
std::vector<std::string> opcode_names();
std::vector<std::string> start_names();
// "payload up to 64"
template <class Sizes>
std::vector<std::string> payload_names(const Sizes& up_to) {
  std::vector<std::string> names;
  for (const u32 size : up_to) names.push_back("payload up to " + std::to_string(size));
  return names;
}
}  // namespace hca::testbench
