// SPDX-License-Identifier: Apache-2.0
// One scenario with several seeds: means of its figures, with confidence intervals.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testbench/run/compare.h"
#include "testbench/run/run.h"

namespace hca::testbench {
// A figure over the runs that have it. The interval mean +- half_width contains the true mean in 95
// % of such experiments, for a normally distributed figure; needs two runs.
struct Interval {
  std::string of, name;  // as in Figure
  std::vector<double> samples;
  double mean() const;
  std::optional<double> half_width() const;  // t * s / sqrt(n)
};
// Student's t for a two-sided interval of 95 %, by n - 1 (from 1 on). Between two rows of its table
// the smaller number is used, so the interval is rather too wide than too narrow.
double students_t(std::size_t degrees);

// In the order of the first run's figures.
std::vector<Interval> intervals_of(const std::vector<std::vector<Figure>>& runs);

struct SeedsResult {
  RunResult first;
  u64 seed = 0, runs = 0;  // seeds seed .. seed + runs - 1
  std::vector<Interval> intervals;
  std::vector<std::string> failures;  // of all runs, "seed 7: ..."
};
// Callbacks: each seed before its run; the first run's Runner, before and after its run.
struct SeedHooks {
  std::function<void(u64)> before{};
  std::function<void(Runner&)> first_begins{};
  std::function<void(const RunResult&)> first_ends{};
};
// Each run has its own SystemC kernel; `scenario.metered` applies only to the first. Throws
// std::runtime_error if the last seed is out of range.
SeedsResult run_seeds(const Scenario& scenario, u64 runs, const SeedHooks& hooks = {},
                      const ProgressSink& progress = {});
std::string text_of(const SeedsResult& result);
// The entry "seeds" of summary.json.
nlohmann::json json_of(const SeedsResult& result);
}  // namespace hca::testbench
