// SPDX-License-Identifier: Apache-2.0
// One scenario with several seeds: means of its figures, and how well they are known.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testbench/run/compare.h"
#include "testbench/run/run.h"

namespace hca::testbench {
// A figure over the runs that have it. The interval mean +- half_width holds the true mean in 95 %
// of such experiments, if the figure is distributed normally; needs two runs.
struct Interval {
  std::string of, name;  // as Figure
  std::vector<double> samples;
  double mean() const;
  std::optional<double> half_width() const;  // t * s / sqrt(n)
};
// Student's t for a two-sided interval of 95 %, by n - 1 (from 1 on). Between two rows of its table
// it is that of the smaller number: the interval is too wide rather than too narrow.
double students_t(std::size_t degrees);

// In the order of the first run.
std::vector<Interval> intervals_of(const std::vector<std::vector<Figure>>& runs);

struct SeedsResult {
  RunResult first;
  u64 seed = 0, runs = 0;  // seeds seed .. seed + runs - 1
  std::vector<Interval> intervals;
  std::vector<std::string> failures;  // of all, "seed 7: ..."
};
// What is told of the runs: each seed before its run; the first run's Runner, before and after.
struct SeedHooks {
  std::function<void(u64)> before{};
  std::function<void(Runner&)> first_begins{};
  std::function<void(const RunResult&)> first_ends{};
};
// Each in a SystemC kernel of its own; `scenario.metered` is of the first alone. Throws
// std::runtime_error when the last seed is no seed.
SeedsResult run_seeds(const Scenario& scenario, u64 runs, const SeedHooks& hooks = {},
                      const ProgressSink& progress = {});
std::string text_of(const SeedsResult& result);
// What stands in summary.json as "seeds".
nlohmann::json json_of(const SeedsResult& result);
}  // namespace hca::testbench
