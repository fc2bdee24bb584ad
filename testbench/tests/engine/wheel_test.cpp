// SPDX-License-Identifier: Apache-2.0
#include "model/engine/wheel.h"

#include <catch2/catch.hpp>
#include <map>

#include "model/engine/random.h"

using namespace hca;
using namespace hca::engine;

TEST_CASE("a wheel holds wake-ups inside and beyond its horizon", "[engine][wheel]") {
  Wheel wheel;
  CHECK(wheel.next(0) == kNever);
  const Cycle distance = GENERATE(1, 63, 64, 65, 1023, 1024, 1025, 2048, 1'000'000);
  const Cycle now = GENERATE(0, 1, 63, 1000, 1023, 1024, 123'456);
  wheel.set(4, now + distance, now);
  CHECK(wheel.next(now) == now + distance);
  CHECK(wheel.take(now + distance) == 4);
  CHECK(wheel.next(now) == kNever);
}

TEST_CASE("wake-ups of one cycle are merged, those of others stay", "[engine][wheel]") {
  Wheel wheel;
  wheel.set(1, 3000, 0);  // far
  wheel.set(2, 3000, 2500);
  wheel.set(2, 3000, 2500);
  wheel.set(8, 2600, 2500);
  CHECK(wheel.next(2500) == 2600);
  CHECK(wheel.take(2600) == 8);
  CHECK(wheel.take(2700) == 0);
  CHECK(wheel.next(2700) == 3000);
  CHECK(wheel.take(3000) == 3);
  CHECK(wheel.next(3000) == kNever);
}

TEST_CASE("a wheel agrees with a sorted map over random wake-ups", "[engine][wheel]") {
  Random random(GENERATE(1, 2, 3, 4));
  Wheel wheel;
  std::map<Cycle, u64> due;
  Cycle now = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    for (u64 n = random.below(4); n; --n) {
      const Cycle at = now + 1 + random.below(random.chance(1, 4) ? 5000 : 80);
      const u64 block = u64{1} << random.below(64);
      wheel.set(block, at, now), due[at] |= block;
    }
    if (due.empty()) continue;
    REQUIRE(wheel.next(now) == due.begin()->first);
    now = due.begin()->first;
    REQUIRE(wheel.take(now) == due.begin()->second);
    due.erase(due.begin());
  }
}
