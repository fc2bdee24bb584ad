// SPDX-License-Identifier: Apache-2.0
#include "model/engine/wheel.h"

#include <catch2/catch.hpp>
#include <map>

#include "model/engine/random.h"

using namespace hca;
using namespace hca::engine;

namespace {
void set(Wheel& wheel, u64 blocks, Cycle at, Cycle now) {
  if (Wheel::is_near(at, now))
    wheel.set_near(blocks, at);
  else
    wheel.set_far(blocks, at);
}
u64 take(Wheel& wheel, Cycle at) {
  wheel.bring_near(at);
  const u64 due = wheel.take_near(at);
  wheel.leave_near(at);
  return due;
}
}  // namespace

TEST_CASE("a wheel holds wake-ups inside and beyond its horizon", "[engine][wheel]") {
  Wheel wheel;
  CHECK(wheel.next(0) == kNever);
  const Cycle distance = GENERATE(1, 63, 64, 65, 254, 255, 256, 257, 1025, 1'000'000);
  const Cycle now = GENERATE(0, 1, 63, 255, 256, 1000, 123'456);
  set(wheel, 4, now + distance, now);
  CHECK(wheel.next(now) == now + distance);
  CHECK(take(wheel, now + distance) == 4);
  CHECK(wheel.next(now) == kNever);
}

TEST_CASE("wake-ups of one cycle are merged, those of others stay", "[engine][wheel]") {
  Wheel wheel;
  set(wheel, 1, 3000, 0);  // far
  set(wheel, 2, 3000, 2500);
  set(wheel, 2, 3000, 2500);
  set(wheel, 8, 2600, 2500);
  CHECK(wheel.next(2500) == 2600);
  CHECK(take(wheel, 2600) == 8);
  CHECK(take(wheel, 2700) == 0);
  CHECK(wheel.next(2700) == 3000);
  CHECK(take(wheel, 3000) == 3);
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
      set(wheel, block, at, now), due[at] |= block;
    }
    if (due.empty()) continue;
    REQUIRE(wheel.next(now) == due.begin()->first);
    now = due.begin()->first;
    REQUIRE(take(wheel, now) == due.begin()->second);
    due.erase(due.begin());
  }
}

TEST_CASE("a wheel tells near cycles from far ones and from those that have begun",
          "[engine][wheel]") {
  const Cycle now = GENERATE(0, 255, 1000);
  CHECK_FALSE(Wheel::is_near(now, now));
  CHECK(Wheel::is_near(now + 1, now));
  CHECK(Wheel::is_near(now + 255, now));
  CHECK_FALSE(Wheel::is_near(now + 256, now));
}

TEST_CASE("what is set as far comes near in time", "[engine][wheel]") {
  Wheel wheel;
  wheel.set_near(1, 10);
  wheel.set_far(2, 264);
  wheel.set_far(4, 265);
  const Cycle end = wheel.bring_near(10);
  CHECK(end == 265);  // one cycle less than the 256 slots reach
  CHECK(wheel.take_near(10) == 1);
  CHECK(wheel.leave_near(10) == 264);
  CHECK(wheel.take_near(264) == 2);
  CHECK(wheel.leave_near(264) == kNever);
  CHECK(wheel.next(264) == 265);
}

TEST_CASE("what is asked for while a cycle is run is due behind it", "[engine][wheel]") {
  const Cycle at = GENERATE(1, 63, 64, 255, 256, 1000);
  const Cycle later = at + GENERATE(1, 2, 64, 255);
  Wheel wheel;
  wheel.set_near(1, at);
  CHECK(wheel.take_near(at) == 1);
  wheel.set_near(2, later);
  CHECK(wheel.leave_near(at) == later);
  CHECK(wheel.next(at) == later);
  CHECK(wheel.take_near(later) == 2);
  CHECK(wheel.leave_near(later) == kNever);
}
