// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <vector>

#include "model/engine/random.h"
#include "model/engine/rate.h"
#include "model/engine/stage.h"
#include "testbench/tests/engine/engine_fixture.h"

using namespace hca;
using namespace hca::engine;
using hca::engine::test::last_words;

TEST_CASE("a stage lets an item out after its latency and another in after its interval",
          "[engine][stage]") {
  Stage stage(7, 3);
  CHECK(stage.enter(10) == 17);
  CHECK(stage.free_from() == 13);
  CHECK(stage.enter(12) == 20);     // came early: waits for cycle 13
  CHECK(stage.enter(16) == 23);     // exactly on time
  CHECK(stage.enter(30, 5) == 37);  // five beats are more than the interval
  CHECK(stage.enter(31) == 42);
  CHECK(stage.free_from() == 38);
}

TEST_CASE("one more cycle of latency or interval moves a stage by that much", "[engine][stage]") {
  const Cycle latency = GENERATE(1, 2), interval = GENERATE(1, 2);
  Stage stage(latency, interval);
  Cycle last = 0;
  for (unsigned i = 0; i < 100; ++i) last = stage.enter(0);
  CHECK(last == 99 * interval + latency);
}

TEST_CASE("rates are reduced fractions of bytes per cycle", "[engine][rate]") {
  // 100 Gb/s at 250 MHz: 12.5e9 B/s / 250e6 = 50 bytes in 1 cycle.
  CHECK(Rate(100'000'000'000, 250'000'000).bytes == 50);
  CHECK(Rate(100'000'000'000, 250'000'000).cycles == 1);
  // 100 Gb/s at 402.83 MHz: 12.5e9 / 402.83e6 = 1250000 / 40283, which is prime to it.
  CHECK(Rate(100'000'000'000, 402'830'000).bytes == 1'250'000);
  CHECK(Rate(100'000'000'000, 402'830'000).cycles == 40'283);
  CHECK(Rate(100'000'000'000, 250'000'000).cycles_for(101) == 3);
  CHECK(Rate(100'000'000'000, 250'000'000).cycles_for(100) == 2);
}

TEST_CASE("so many whole bytes fit cycles, however many", "[engine][rate]") {
  const Rate rate(100'000'000'000, 400'000'000);  // 31.25 bytes a cycle
  CHECK(rate.bytes_in(0) == 0);
  CHECK(rate.bytes_in(1) == 31);
  CHECK(rate.bytes_in(4) == 125);
  CHECK(rate.bytes_in(7) == 218);
  CHECK(rate.bytes_in((1 << 24) + 1) == 524'288'031);
  // (2^41 + 1) / 2^43 bytes a cycle: the product is beyond 64 bits.
  CHECK(Rate((u64{1} << 41) + 1, u64{1} << 40).bytes_in(1 << 30) == 1 << 28);
}

TEST_CASE("a meter tells the cycles of each size, whatever size came before", "[engine][rate]") {
  Meter meter(Rate(100'000'000'000, 250'000'000));  // 50 bytes a cycle
  CHECK(meter.cycles_for(0) == 0);
  CHECK(meter.cycles_for(101) == 3);
  CHECK(meter.cycles_for(101) == 3);
  CHECK(meter.cycles_for(100) == 2);
  CHECK(meter.cycles_for(0) == 0);
}

TEST_CASE("a divisor divides all numbers exactly", "[engine][rate]") {
  constexpr u64 kMost = ~u64{0};
  for (const u64 by :
       {u64{1}, u64{2}, u64{3}, u64{125}, u64{2'482}, u64{1} << 40, kMost - 1, kMost}) {
    const Divisor divisor(by);
    for (const u64 n :
         {u64{0}, u64{1}, by - 1, by, by + 1, by * 7 - 1, by * 7, u64{1} << 63, kMost - 1, kMost})
      CHECK(divisor.quotient(n) == n / by);
    CHECK(divisor.rounded_down(kMost) == kMost / by * by);
  }
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const u64 by = (random() >> random.below(63)) | 1, n = random() >> random.below(63);
    REQUIRE(Divisor(by).quotient(n) == n / by);
  }
}

TEST_CASE("a stream at 50 bytes a cycle starts a packet of 100 bytes every 2 cycles",
          "[engine][rate]") {
  Pacer pacer(100'000'000'000, 250'000'000);
  CHECK(pacer.next(10, 100) == 12);
  CHECK(pacer.next(12, 100) == 14);
  CHECK(pacer.next(14, 1) == 15);      // at most one start a cycle
  CHECK(pacer.next(100, 100) == 102);  // after a pause nothing is saved up
  CHECK(pacer.next(102, 120) == 105);  // 2.4 cycles: free at 104.4
  CHECK(pacer.next(105, 80) == 106);   // 104.4 + 1.6
  CHECK(pacer.next(106, 120) == 109);  // 108.4
  CHECK(pacer.next(110, 100) == 112);  // came after 109: starts at the edge of 110
  CHECK(pacer.next(113, 100) == 115);  // free exactly at the edge of 112, used a cycle later
}

TEST_CASE("10^9 bytes at 402.83 MHz take 32226400 cycles, however they are cut", "[engine][rate]") {
  // 1e9 B / (12.5e9 B/s) = 80 ms; 80 ms * 402.83 MHz = 32226400 cycles.
  for (const u64 bytes : {64u, 250u, 1000u, 4096u}) {
    Pacer pacer(100'000'000'000, 402'830'000);
    Cycle start = 1000;
    u64 sent = 0;
    for (; sent + bytes <= 1'000'000'000; sent += bytes) start = pacer.next(start, bytes);
    const u64 rest = 1'000'000'000 - sent;
    if (rest) start = pacer.next(start, rest);
    CAPTURE(bytes);
    CHECK(start == 1000 + 32'226'400);
  }
}

TEST_CASE("64-byte packets run at their rate when a cycle holds less than one", "[engine][rate]") {
  // 64 B at 12.5e9 B/s take 5.12 ns = 2.0624896 cycles: 10^6 packets take 2062489.6 cycles.
  Pacer pacer(100'000'000'000, 402'830'000);
  Cycle start = 5;
  for (unsigned i = 0; i < 1'000'000; ++i) start = pacer.next(start, 64);
  CHECK(start == 5 + 2'062'490);
}

namespace {
// Picoseconds of a packet, of many back to back whose sizes repeat.
double pace(u64 bits_per_second, u64 hertz, const std::vector<u64>& sizes) {
  constexpr u64 kRounds = 20'000;
  Pacer pacer(bits_per_second, hertz);
  Cycle start = 0;
  for (u64 round = 0; round < kRounds; ++round)
    for (const u64 bytes : sizes) start = pacer.next(start, bytes);
  return double(start) * 1e12 / double(hertz) / double(kRounds * sizes.size());
}
}  // namespace

// 106 B and 86 B at 100 B a cycle: 1.92 cycles, but one starts in each of two. At 1.1 GHz 90.9 B:
// 2.112 cycles, 1.92 ns.
TEST_CASE("packets shorter and longer than a cycle take their time together", "[engine][rate]") {
  CHECK(pace(800'000'000'000, 1'000'000'000, {106, 86}) == Approx(1000).epsilon(0.001));
  CHECK(pace(800'000'000'000, 1'100'000'000, {106, 86}) == Approx(960).epsilon(0.001));
  CHECK(pace(800'000'000'000, 1'000'000'000, {190, 30}) == Approx(1100).epsilon(0.001));
}

TEST_CASE("a pace follows arithmetic, and never falls with clock or rate or rises with size",
          "[engine][rate]") {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const u64 rate = (10 + random.below(1600)) * 1'000'000'000,
              hertz = (200 + random.below(1800)) * 1'000'000;
    std::vector<u64> sizes(1 + random.below(4));
    for (u64& bytes : sizes) bytes = 64 + random.below(random.below(2) ? 200 : 4200);
    u64 all = 0;
    for (const u64 bytes : sizes) all += bytes;
    const double mean = double(all) / double(sizes.size());
    const double on_wire = mean * 8e12 / double(rate), in_cycles = 1e12 / double(hertz);
    const double plain = pace(rate, hertz, sizes);
    CAPTURE(i, rate, hertz, sizes);
    CHECK(plain == Approx(std::max(on_wire, in_cycles)).epsilon(0.005));
    CHECK(pace(rate + rate / 7, hertz, sizes) <= plain * 1.0001);
    CHECK(pace(rate, hertz + hertz / 9, sizes) <= plain * 1.0001);
    for (u64& bytes : sizes) bytes += 5;
    CHECK(pace(rate, hertz, sizes) * 1.0001 >= plain);
  }
}

TEST_CASE("a packet cannot start while another is on the wire", "[engine][rate]") {
  Pacer pacer(100'000'000'000, 250'000'000);
  CHECK(pacer.next(10, 101) == 13);
  CHECK(last_words([&] { pacer.next(12, 1); }) ==
        "cycle 12, block pacer: starts while the wire is busy\n");
  CHECK(pacer.next(13, 1) == 14);
}

TEST_CASE("durations become cycles rounded up, cycles become picoseconds rounded down",
          "[engine][rate]") {
  CHECK(cycles_from_picoseconds(2'000'000, 250'000'000) == 500);  // 2 us at 4 ns
  CHECK(cycles_from_picoseconds(2'000'001, 250'000'000) == 501);
  CHECK(cycles_from_picoseconds(0, 250'000'000) == 0);
  // 402.83 MHz: a period of 2482.436... ps; 402830000 of them are a second.
  CHECK(picoseconds_from_cycles(1, 402'830'000) == 2482);
  CHECK(picoseconds_from_cycles(402'830'000, 402'830'000) == 1'000'000'000'000);
  CHECK(cycles_from_picoseconds(1'000'000'000'000, 402'830'000) == 402'830'000);
}

TEST_CASE("the generators give the published sequences", "[engine][random]") {
  // splitmix64 from the seed 1234567: the first values of the authors' reference implementation.
  u64 state = 1234567;
  CHECK(split_mix(state) == 6457827717110365317u);
  CHECK(split_mix(state) == 3203168211198807973u);
  CHECK(split_mix(state) == 9817491932198370423u);
  // xoshiro256** from the state {1, 2, 3, 4}: rotl(2 * 5, 7) * 9 = 11520; the next state has s1 =
  // 0.
  Random random(Random::State{1, 2, 3, 4});
  CHECK(random() == 11520);
  CHECK(random() == 0);
  CHECK(random() == 1509978240);
  CHECK(random() == 1215971899390074240u);
}

TEST_CASE("below(n) reaches each value about equally often, the same from the same seed",
          "[engine][random]") {
  Random random(9), same(9), other(10);
  unsigned counts[7] = {}, equal = 0;
  for (unsigned i = 0; i < 70'000; ++i) {
    const u64 value = random.below(7);
    REQUIRE(value < 7);
    REQUIRE(value == same.below(7));
    equal += value == other.below(7);
    ++counts[value];
  }
  for (const unsigned count : counts) {
    CHECK(count > 9'500);  // 10000, five standard deviations of 93
    CHECK(count < 10'500);
  }
  CHECK(equal < 10'500);
  CHECK(Random(1).below(1) == 0);
  CHECK_FALSE(Random(1).chance(0, 5));
  CHECK(Random(1).chance(5, 5));
}
