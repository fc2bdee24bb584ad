// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "model/engine/random.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/malice/isolation.h"

namespace hca::testbench::malice {
namespace {
using proto::KeyKind;
using Who = Bench::Who;
constexpr u64 kMiddle = u64{0x10} << 32, kOf4G = (u64{1} << 32) - 32, kTop = u64{0} - 64;
constexpr std::array kStarts{kMiddle, kOf4G, kTop};
constexpr std::array kKinds{KeyKind::Region, KeyKind::Window1, KeyKind::Window2A,
                            KeyKind::Window2B};

struct Runner {
  explicit Runner(const ReplayRunner& r) : name(r.name), isolation(r) {}
  void aim(const Target& target) {
    if (const auto wrong = isolation.aim(target)) FAIL_CHECK(name << ": " << *wrong);
  }
  void attempt(const Access& access) {
    ++tries;
    if (const auto wrong = isolation.try_access(access)) {
      FAIL_CHECK(name << ": " << *wrong);
      if (++failures > 20) FAIL("and more");
    }
  }
  std::string_view name;
  Isolation isolation;
  u64 tries = 0;
  unsigned failures = 0;
};

template <class Each>
void each_way_and_key(const Each& each) {
  for (std::size_t way = 0; way < kWays; ++way)
    for (std::size_t key = 0; key < kKeyUses; ++key) each(Way(way), KeyUse(key));
}
template <class Each>
void each_target(const Each& each) {
  for (const u64 start : kStarts)
    for (const KeyKind kind : kKinds)
      for (std::size_t who = 0; who < Bench::kWho; ++who)
        for (u8 rights = 0; rights < 16; ++rights) each(Target{kind, Who(who), rights, start});
}

// Where an access lies in the 64 bytes, from their first on.
struct Edge {
  int offset;
  u32 bytes;
};
constexpr std::array kEdges{Edge{-1, 8}, Edge{0, 8}, Edge{56, 8}, Edge{57, 8}, Edge{0, 0}};

// Those that the lengths and places of random tries come from.
u32 some_length(engine::Random& random) {
  static constexpr std::array<u32, 10> lengths{0, 1, 2, 7, 8, 63, 64, 65, 255, u32{1} << 31};
  return random.chance(1, 4) ? u32(random.below(300)) : lengths[random.below(lengths.size())];
}
Access some_access(engine::Random& random, const Target& target) {
  Access a;
  a.way = Way(random.below(kWays));
  a.key = random.chance(2, 3) ? KeyUse::Right : KeyUse(random.below(kKeyUses));
  do a.bytes = is_atomic(a.way) ? 8 : some_length(random);
  while (!is_possible(a));
  const u64 near = random.below(5) - 2;  // -2 .. 2
  const std::array<u64, 6> places{target.start,
                                  target.start + Target::kBytes,
                                  target.start + Target::kBytes - a.bytes,
                                  target.start - a.bytes,
                                  target.start + random.below(Target::kBytes),
                                  target.start ^ u64{1} << random.below(64)};
  a.va = places[random.below(places.size())] + near * random.below(2);
  if (a.way == Way::Atomic && random.chance(3, 4)) a.va &= ~u64{7};
  return a;
}
Target some_target(engine::Random& random) {
  Target t;
  t.kind = kKinds[random.below(kKinds.size())];
  t.owner = random.chance(3, 4) ? Who::Own : Who(random.below(Bench::kWho));
  t.rights = u8(random.below(16));
  if (random.chance(1, 2)) t.rights |= proto::kLocalWrite;
  const std::array<u64, 4> starts{kMiddle + random.below(1 << 20), kOf4G + random.below(64),
                                  kTop - random.below(3) * 8, random() >> 1};
  t.start = starts[random.below(starts.size())];
  return t;
}

void many_tries(u64 seed, u64 tries) {
  INFO("seed " << seed);
  for (const ReplayRunner& runner : replay_runners()) {
    Runner r(runner);
    engine::Random random(seed);
    while (r.tries < tries) {
      const Target target = some_target(random);
      r.aim(target);
      for (u32 i = 0; i < 32; ++i) r.attempt(some_access(random, target));
    }
  }
}
}  // namespace

// Two PDs and two queue pairs of one, all keys, all 16 rights, all ways, around both ends; 64 bytes
// in the middle of the addresses, across 2^32 and up to 2^64.
TEST_CASE("no access outside of PD, key, rights and bounds succeeds, and each inside does",
          "[malice][G22.2][G22.3][G22.4][MR-10][MR-11][MR-12][MW-3][MW-4][MW-15][MW-16]") {
  for (const ReplayRunner& runner : replay_runners()) {
    Runner r(runner);
    each_target([&](const Target& target) {
      r.aim(target);
      each_way_and_key([&](Way way, KeyUse key) {
        for (const Edge& edge : kEdges) {
          const Access access{way, key, target.start + u64(edge.offset), edge.bytes};
          if (is_possible(access)) r.attempt(access);
        }
      });
    });
    // All but accesses of ATOMICs of no bytes.
    CHECK(r.tries == 3 * 4 * 3 * 16 * kKeyUses * (5 * 5 + 2 * 4));
  }
}

// With all rights: the ends of the address space and of its 32 low bits, lengths to 2^31.
TEST_CASE("bounds hold where addresses wrap", "[malice][G22.2][MR-5]") {
  for (const ReplayRunner& runner : replay_runners()) {
    Runner r(runner);
    for (const KeyKind kind : kKinds)
      for (const u64 start : kStarts) {
        r.aim({kind, Who::Own, proto::kAllAccess, start});
        for (std::size_t way = 0; way < kWays; ++way)
          for (const u32 bytes : {0u, 1u, 8u, 63u, 64u, 65u, 1u << 31})
            for (const u64 va :
                 {start - 8, start - 1, start, start + 1, start + 64 - bytes, start + 65 - bytes,
                  start + 63, start + 64, start + (u64{1} << 32), start - (u64{1} << 32),
                  start ^ u64{1} << 63, u64{0}, u64{0} - bytes}) {
              const Access access{Way(way), KeyUse::Right, va, bytes};
              if (is_possible(access)) r.attempt(access);
            }
      }
    CHECK(r.tries > 5000);
  }
}

TEST_CASE("accesses at random are judged as the rules say", "[malice][G22.2]") {
  many_tries(Catch::rngSeed() ? Catch::rngSeed() : 1, 10'000);  // on each model
}
// scripts/long.sh; --rng-seed N repeats one.
TEST_CASE("a million accesses at random are judged as the rules say", "[.][million]") {
  const u64 seed = Catch::rngSeed() ? Catch::rngSeed() : 1;
  WARN("seed " << seed);
  many_tries(seed, 1'000'000);
}
}  // namespace hca::testbench::malice
