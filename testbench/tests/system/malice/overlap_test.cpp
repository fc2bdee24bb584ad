// SPDX-License-Identifier: Apache-2.0
// Operations that overlap: what the cycle model shows of them fits an order in which they could
// have come one by one, and the functional model shows the same in this order.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "testbench/tests/system/malice/overlap_record.h"
#include "testbench/vectors/run.h"

namespace hca::testbench::malice::overlap {
namespace {
constexpr u32 kBursts = 4;  // of a device

std::string text_of(const History& history) {
  std::string text;
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    const Seen& seen = history.seen[i];
    static constexpr std::array kFates{"not answered", "executed", "refused"};
    text += fmt::format("  {}: {}; {}", i, text_of(history.operations[i]),
                        kFates[std::size_t(seen.fate)]);
    if (!seen.data.empty()) text += fmt::format(", found {:02x}", fmt::join(seen.data, ""));
    text += fmt::format("; moments {} to {}, told {}\n", s32(seen.begun), s32(seen.ended),
                        s32(seen.told));
  }
  return text;
}

// An actor that nothing has failed executes all that it was given.
std::optional<std::string> find_unanswered(const History& history) {
  std::array<bool, kActors> failed{};
  for (std::size_t i = 0; i < history.operations.size(); ++i) {
    bool& actor_failed = failed[history.operations[i].actor];
    if (history.seen[i].fate == Fate::Unanswered && !actor_failed)
      return fmt::format("operation {} is not answered", i);
    if (history.seen[i].fate == Fate::Refused) actor_failed = true;
  }
  return std::nullopt;
}

// In `order`; then those that were not answered, whose queue pairs take nothing any more.
void run_in_order(Device& functional, const History& history, const std::vector<u32>& order) {
  for (const u32 i : order) functional.begin(history.operations[i]), functional.device().run();
  for (std::size_t i = 0; i < history.operations.size(); ++i)
    if (history.seen[i].fate == Fate::Unanswered)
      functional.begin(history.operations[i]), functional.device().run();
}

class Pair {
 public:
  explicit Pair(const ReplayRunner& cycle) : functional_(vector_runners()[0]), cycle_(cycle) {}
  // After a burst that the functional model cannot follow, no other one can be compared.
  bool is_over() const { return over_; }
  std::optional<std::string> compare(const Burst& burst) {
    State same = state_;
    cycle_.prepare(burst, state_), functional_.prepare(burst, same);
    const History history = Recorder(cycle_, burst).run();
    const Outcome seen = cycle_.finish();
    const auto with = [&](const std::string& what) {
      return fmt::format("{}\nmemory before {:02x}, after {:02x}\n{}", what,
                         fmt::join(state_.memory, ""), fmt::join(seen.memory, ""),
                         text_of(history));
    };
    if (const auto missing = find_unanswered(history)) return with(*missing);
    const auto order = find_order(history, state_, seen.memory, Order::Strict);
    if (!order) {
      if (!find_order(history, state_, seen.memory, Order::Loose))
        return with("no order of its operations explains what was seen");
      over_ = true;  // the functional model executes whole packets in the order of their PSNs
      return std::nullopt;
    }
    run_in_order(functional_, history, *order);
    if (const auto differs = find_difference(functional_.finish(), seen))
      return with(fmt::format("{}\nin the order {}", *differs, fmt::join(*order, " ")));
    std::vector<u8> data;
    for (const u32 i : *order) apply(history.operations[i], state_, data);
    return std::nullopt;
  }

 private:
  Device functional_, cycle_;
  bool over_ = false;
  State state_;
};

// `compared`: counts the operations that both models executed.
std::optional<std::string> compare(const ReplayRunner& cycle, const std::vector<Burst>& bursts,
                                   u64& compared) {
  Pair pair(cycle);
  for (const Burst& burst : bursts) {
    if (auto differs = pair.compare(burst)) return differs;
    if (pair.is_over()) break;
    compared += burst.size();
  }
  return std::nullopt;
}
std::optional<std::string> compare(const ReplayRunner& cycle, const std::vector<Burst>& bursts) {
  u64 unused = 0;
  return compare(cycle, bursts, unused);
}

// Without each operation that the difference does not need.
std::vector<Burst> shrink(const ReplayRunner& cycle, std::vector<Burst> bursts) {
  for (std::size_t b = 0; b < bursts.size(); ++b)
    for (std::size_t i = 0; i < bursts[b].size();) {
      std::vector<Burst> smaller = bursts;
      smaller[b].erase(smaller[b].begin() + long(i));
      if (compare(cycle, smaller))
        bursts = std::move(smaller);
      else
        ++i;
    }
  return bursts;
}

void compare_many(u64 seed, u64 operations) {
  INFO("seed " << seed);
  u32 failures = 0;
  u64 given = 0;
  for (u64 done = 0, n = seed; done < operations; ++n) {
    engine::Random random(n);
    std::vector<Burst> bursts(kBursts);
    for (Burst& burst : bursts) burst = random_burst(random), given += burst.size();
    // With both ways of forwarding, by turns.
    const ReplayRunner& cycle = vector_runners()[1 + n % 2];
    if (!compare(cycle, bursts, done)) continue;
    const std::vector<Burst> small = shrink(cycle, bursts);
    FAIL_CHECK("bursts " << n << " on " << cycle.name << ": " << *compare(cycle, small));
    if (++failures == 3) FAIL("and more");
  }
  INFO(given << " operations given");
  CHECK(given < operations * 5 / 4);  // few are left out
}
u64 seed_of_session() { return Catch::rngSeed() ? Catch::rngSeed() : 1; }
}  // namespace

TEST_CASE("operations that overlap fit an order, and the functional model shows the same in it",
          "[malice][difference][ATOM-2][ORD-1][T13]") {
  compare_many(seed_of_session(), 20'000);
}
// scripts/long.sh; --rng-seed N repeats one.
TEST_CASE("a million operations that overlap fit an order", "[.][million]") {
  WARN("seed " << seed_of_session());
  compare_many(seed_of_session(), 1'000'000);
}
}  // namespace hca::testbench::malice::overlap
