// SPDX-License-Identifier: Apache-2.0
// The functional model against the cycle model: what both show of the same packets and work
// requests.
#include <catch2/catch.hpp>

#include "testbench/tests/system/malice/random_vector.h"
#include "testbench/vectors/run.h"

namespace hca::testbench::malice {
namespace {
constexpr u32 kSteps = 40;  // of a vector
// Of all vectors; fewer where each takes longer.
#if defined(__SANITIZE_ADDRESS__)
constexpr u64 kFewSteps = 5'000;
#elif defined(__has_feature)
constexpr u64 kFewSteps = __has_feature(address_sanitizer) ? 5'000 : 100'000;
#else
constexpr u64 kFewSteps = 100'000;
#endif

std::optional<std::string> compare(const Vector& vector) {
  const auto runners = vector_runners();
  const VectorResult functional = observe_vector(vector, runners[0]);
  if (functional.failure)
    return "functional: " + functional.failure->where + ": " + functional.failure->what;
  for (const ReplayRunner& runner : runners.subspan(1)) {
    VectorResult cycle = observe_vector(vector, runner);
    if (cycle.failure)
      return cycle.runner + ": " + cycle.failure->where + ": " + cycle.failure->what;
    if (auto differs = find_difference(functional, cycle)) return differs;
  }
  return std::nullopt;
}

void compare_many(u64 seed, u64 steps) {
  INFO("seed " << seed);
  u32 failures = 0;
  for (u64 done = 0, n = seed; done < steps; done += kSteps, ++n) {
    const Vector vector = RandomVector(n, kSteps).take();
    if (!compare(vector)) continue;
    const Vector small = shrink(vector, [](const Vector& v) { return compare(v).has_value(); });
    std::string text;
    for (const auto& step : small.document["steps"]) text += "  " + step.dump() + "\n";
    FAIL_CHECK("vector " << n << ": " << *compare(small) << "\nsetup "
                         << small.document["setup"].dump() << "\n"
                         << text);
    if (++failures == 5) FAIL("and more");
  }
}
u64 seed_of_session() { return Catch::rngSeed() ? Catch::rngSeed() : 1; }
}  // namespace

TEST_CASE("the functional and the cycle model answer packets and posts at random alike",
          "[malice][difference]") {
  compare_many(seed_of_session(), kFewSteps);
}
// scripts/long.sh; --rng-seed N repeats one.
TEST_CASE("both models answer a million packets and posts alike", "[.][million]") {
  WARN("seed " << seed_of_session());
  compare_many(seed_of_session(), 1'000'000);
}
}  // namespace hca::testbench::malice
