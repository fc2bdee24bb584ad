// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/lane_arbiter.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace hca;
using namespace hca::blocks;

namespace {
// The lanes of `n` packets, all of `bytes`, while these lanes are ready.
std::vector<unsigned> order(LaneArbiter& arbiter, u32 ready, unsigned n, u32 bytes) {
  std::vector<unsigned> lanes;
  for (unsigned i = 0; i < n; ++i) {
    lanes.push_back(arbiter.pick(ready));
    arbiter.count(bytes);
  }
  return lanes;
}
using Lanes = std::vector<unsigned>;
constexpr LaneArbiter::Weights kOnes{1, 1, 1, 1, 1, 1, 1, 1};
}  // namespace

// A packet of 130 bytes is 3 blocks. Lane 0 with weight 4 has two packets (the second exceeds the
// weight by 2), lane 1 with weight 9 three.
TEST_CASE("a lane sends while its weight in blocks of 64 bytes lasts", "[lane_arbiter]") {
  LaneArbiter arbiter({}, {4, 9, 1, 1, 1, 1, 1, 1}, 0);
  CHECK(order(arbiter, 0b11, 10, 130) == Lanes{0, 0, 1, 1, 1, 0, 0, 1, 1, 1});
  // One that has nothing loses the rest of its turn.
  CHECK(order(arbiter, 0b11, 1, 130) == Lanes{0});
  CHECK(order(arbiter, 0b10, 1, 130) == Lanes{1});
  CHECK(order(arbiter, 0b11, 3, 130) == Lanes{1, 1, 0});
}

// High_Limit 1 is 4096 bytes: packets of 2000 begin at 0, 2000 and 4000 bytes; after 6000 the low
// table has one. Limit 0: one each. 255: the low table waits.
TEST_CASE("the high table goes first, up to its limit", "[lane_arbiter]") {
  const auto with = [](u32 limit) {
    LaneArbiter arbiter({0, 0, 1, 0, 0, 0, 0, 0}, kOnes, limit);
    return order(arbiter, 0b101, 8, 2000);
  };
  CHECK(with(1) == Lanes{2, 2, 2, 0, 2, 2, 2, 2});
  CHECK(with(0) == Lanes{2, 0, 2, 2, 2, 0, 2, 2});
  CHECK(with(255) == Lanes{2, 2, 2, 2, 2, 2, 2, 2});
}

// The weights of the high table count its own packets: lane 1 with 4 blocks has two of 130 bytes,
// lane 2 with 9 three.
TEST_CASE("lanes of the high table share by their weights too", "[lane_arbiter]") {
  LaneArbiter arbiter(LaneArbiter::Entries{{1, 4}, {2, 9}}, LaneArbiter::Entries{{0, 1}}, 255);
  CHECK(order(arbiter, 0b111, 10, 130) == Lanes{1, 1, 2, 2, 2, 1, 1, 2, 2, 2});
}

// A limit of 1 is left when more than 4096 bytes have gone: after one packet of 4096 another
// goes. 254 are 1040384 bytes, 254 packets of 4096; and one of the high table goes after them.
TEST_CASE("the limit of the high table to the byte, and the one that is none", "[lane_arbiter]") {
  const auto high_before_low = [](u32 limit) {
    LaneArbiter arbiter(LaneArbiter::Entries{{1, 1}}, LaneArbiter::Entries{{0, 1}}, limit);
    unsigned n = 0;
    for (; n < 1000 && arbiter.pick(0b11) == 1; ++n) arbiter.count(4096);
    return n;
  };
  CHECK(high_before_low(0) == 1);
  CHECK(high_before_low(1) == 2);
  CHECK(high_before_low(254) == 255);
  CHECK(high_before_low(255) == 1000);
}

// 130 bytes are 3 blocks: each entry sends one packet. Lane 2 has two entries, lane 1 weight 0.
TEST_CASE("entries of a table take turns in their order", "[lane_arbiter]") {
  const LaneArbiter::Entries low{{2, 3}, {1, 0}, {0, 3}, {2, 3}, {3, 3}};
  LaneArbiter arbiter(LaneArbiter::Entries{}, low, 0);
  CHECK(order(arbiter, 0b1101, 8, 130) == Lanes{2, 0, 2, 3, 2, 0, 2, 3});
  CHECK(order(arbiter, 0b1001, 4, 130) == Lanes{0, 3, 0, 3});
}

// A lane of the high table alone goes on when none of the low table waits.
TEST_CASE("behind the limit of the high table it goes on if the low one has nothing",
          "[lane_arbiter]") {
  LaneArbiter arbiter(LaneArbiter::Entries{{1, 1}}, LaneArbiter::Entries{{0, 1}}, 0);
  CHECK(order(arbiter, 0b10, 3, 2000) == Lanes{1, 1, 1});
  CHECK(order(arbiter, 0b11, 3, 2000) == Lanes{0, 1, 0});
}
