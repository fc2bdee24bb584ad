// SPDX-License-Identifier: Apache-2.0
// Where the buffers of a working set lie.
#include "testbench/scenario/places.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

namespace hca::testbench {
namespace {
// Two queue pairs with 8 messages of 100 B in flight on each: 16 buffers of 128 B.
Traffic traffic_with(AddressOrder order, u64 working_set, u32 regions, u64 stride = 0) {
  Traffic t;
  t.bytes = 100;
  t.qps = 2;
  t.depth = 8;
  t.seed = 7;
  t.address = order;
  t.working_set = working_set;
  t.stride = stride;
  t.regions = regions;
  return t;
}
}  // namespace

TEST_CASE("without a working set buffers are a ring", "[workload][address]") {
  const FlightPlaces ring(traffic_with(AddressOrder::Sequential, 0, 1));
  CHECK(ring.places().count() == 16);
  for (u64 k = 0; k < 20; ++k) {
    CHECK(ring.places().offset(ring.of(0, k)) == k % 8 * 128);
    CHECK(ring.places().offset(ring.of(1, k)) == (8 + k % 8) * 128);
  }
}

TEST_CASE("sequential buffers walk through the share of their queue pair", "[workload][address]") {
  // 4096 B in 4 regions: 8 buffers in each, 16 for each queue pair.
  const FlightPlaces flights(traffic_with(AddressOrder::Sequential, 4096, 4));
  CHECK(flights.places().count() == 32);
  for (u64 k = 0; k < 40; ++k) {
    CHECK(flights.places().offset(flights.of(0, k)) == k % 16 * 128);
    CHECK(flights.places().region(flights.of(1, k)) == 2 + k % 16 / 8);
  }
}

TEST_CASE("what does not hold a whole buffer at the end of a region is left",
          "[workload][address]") {
  // Regions of 320 B: two buffers of 128 B, and 64 B.
  const Places places(traffic_with(AddressOrder::Sequential, 3200, 10), 128, 16);
  CHECK(places.count() == 20);
  CHECK(places.offset(2) == 320);
  CHECK(places.region(19) == 9);
  // Buffers 192 B apart: the second one ends with its region.
  const Places strided(traffic_with(AddressOrder::Strided, 3200, 10, 192), 128, 16);
  CHECK(strided.count() == 20);
  CHECK(strided.offset(19) == 9 * 320 + 192);
}

// The buffers of any 8 messages in a row of each queue pair, at whatever message the other one is.
TEST_CASE("buffers that are in use at one time lie apart, each in one region",
          "[workload][address]") {
  const Traffic t = GENERATE(traffic_with(AddressOrder::Sequential, 4096, 4),
                             traffic_with(AddressOrder::Random, 8192, 4),
                             traffic_with(AddressOrder::Random, 64 * 3 * 1001, 3),
                             traffic_with(AddressOrder::Strided, 1 << 16, 8, 192));
  const FlightPlaces flights(t);
  const Places& places = flights.places();
  const u64 region = t.working_set / t.regions;
  std::array<std::set<u64>, 2> of_qp;
  for (u32 qp = 0; qp < 2; ++qp)
    for (u64 first = 0; first < 500; ++first) {
      std::set<u64> in_use;
      for (u64 k = first; k < first + 8; ++k) {
        const u64 place = flights.of(qp, k), offset = places.offset(place);
        in_use.insert(place);
        of_qp[qp].insert(place);
        REQUIRE(place < places.count());
        REQUIRE(offset / region == places.region(place));
        REQUIRE((offset + 127) / region == offset / region);
        REQUIRE(places.place_at(offset) == place);
        REQUIRE(places.place_at(offset + 127) == place);
        REQUIRE(flights.qp_of(place) == qp);
        REQUIRE(k % flights.period() == flights.begin(place));
      }
      REQUIRE(in_use.size() == 8);
    }
  for (const u64 place : of_qp[0]) CHECK(of_qp[1].count(place) == 0);
  std::set<u64> offsets;
  for (u64 place = 0; place < places.count(); ++place) offsets.insert(places.offset(place));
  REQUIRE(offsets.size() == places.count());
  u64 before = 0;
  for (const u64 offset : offsets) {
    if (offset) CHECK(offset >= before + 128);
    before = offset;
  }
}

// 16 places for each slot, 1600 messages of each: 100 a place, sigma 9.7.
TEST_CASE("random buffers are in all places alike, and depend on the seed", "[workload][address]") {
  Traffic t = traffic_with(AddressOrder::Random, 16 * 16 * 128, 1);
  const FlightPlaces flights(t);
  t.seed = 8;
  const FlightPlaces other(t);
  std::map<u64, u64> found;
  u64 same = 0;
  for (u32 qp = 0; qp < 2; ++qp)
    for (u64 k = 0; k < 8 * 1600; ++k) {
      ++found[flights.of(qp, k)];
      same += flights.of(qp, k) == other.of(qp, k);
    }
  CHECK(found.size() == 256);
  for (const auto& [place, count] : found) CHECK((count > 100 - 5 * 10 && count < 100 + 5 * 10));
  CHECK((same > 1600 - 4 * 39 && same < 1600 + 4 * 39));  // one in 16 of 25600
}

// A slot of receive buffers is posted again when its message was taken, in whatever order.
TEST_CASE("slots have places of their own, which they take in turn", "[workload][address]") {
  Traffic t = traffic_with(AddressOrder::Sequential, 5 * 16 * 128, 1);
  t.receive_depth = 8;
  const Places places = receive_places(t);
  for (u64 slot = 0; slot < 16; ++slot)
    for (u64 use = 0; use < 12; ++use) CHECK(places.turn(slot, use) == use % 5 * 16 + slot);
  t.address = AddressOrder::Random;
  const Places random = receive_places(t);
  for (u64 slot = 0; slot < 16; ++slot) {
    std::set<u64> taken;
    for (u64 use = 0; use < 100; ++use) taken.insert(random.turn(slot, use));
    CHECK(taken.size() == 5);
    for (const u64 place : taken) CHECK((place % 16 == slot && place < 80));
  }
}
}  // namespace hca::testbench
