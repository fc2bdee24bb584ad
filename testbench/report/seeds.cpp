// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/seeds.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "testbench/report/report.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
struct StudentRow {
  std::size_t degrees;
  double t;
};
constexpr std::array kStudent{
    StudentRow{1, 12.706},  StudentRow{2, 4.303},  StudentRow{3, 3.182},  StudentRow{4, 2.776},
    StudentRow{5, 2.571},   StudentRow{6, 2.447},  StudentRow{7, 2.365},  StudentRow{8, 2.306},
    StudentRow{9, 2.262},   StudentRow{10, 2.228}, StudentRow{11, 2.201}, StudentRow{12, 2.179},
    StudentRow{13, 2.160},  StudentRow{14, 2.145}, StudentRow{15, 2.131}, StudentRow{16, 2.120},
    StudentRow{17, 2.110},  StudentRow{18, 2.101}, StudentRow{19, 2.093}, StudentRow{20, 2.086},
    StudentRow{21, 2.080},  StudentRow{22, 2.074}, StudentRow{23, 2.069}, StudentRow{24, 2.064},
    StudentRow{25, 2.060},  StudentRow{26, 2.056}, StudentRow{27, 2.052}, StudentRow{28, 2.048},
    StudentRow{29, 2.045},  StudentRow{30, 2.042}, StudentRow{40, 2.021}, StudentRow{60, 2.000},
    StudentRow{120, 1.980},
};
static_assert(std::ranges::is_sorted(kStudent, {}, &StudentRow::degrees));

u64 most_seed() {
  RunOptions options;
  u64 most = 0;
  engine::for_each_knob(options, [&](const auto& knob) {
    if (knob.info.name == "seed") most = knob.info.max;
  });
  return most;
}
}  // namespace

double students_t(std::size_t degrees) {
  const auto beyond = std::ranges::upper_bound(kStudent, degrees, {}, &StudentRow::degrees);
  return beyond == kStudent.begin() ? kStudent.front().t : std::prev(beyond)->t;
}

double Interval::mean() const {
  double sum = 0;
  for (const double sample : samples) sum += sample;
  return sum / double(samples.size());
}

std::optional<double> Interval::half_width() const {
  if (samples.size() < 2) return std::nullopt;
  // From the first sample: equal samples have a width of exactly 0.
  const double n = double(samples.size()), from = samples.front();
  double sum = 0, squares = 0;
  for (const double sample : samples) sum += sample - from;
  const double middle = sum / n;
  for (const double sample : samples) {
    const double off = sample - from - middle;
    squares += off * off;
  }
  return students_t(samples.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

std::vector<Interval> intervals_of(const std::vector<std::vector<Figure>>& runs) {
  std::vector<Interval> intervals;
  for (const auto& run : runs)
    for (const Figure& f : run) {
      auto at = std::ranges::find_if(
          intervals, [&](const Interval& i) { return i.of == f.of && i.name == f.name; });
      if (at == intervals.end()) at = intervals.insert(intervals.end(), Interval{f.of, f.name, {}});
      at->samples.push_back(f.value);
    }
  return intervals;
}

SeedsResult run_seeds(const Scenario& scenario, u64 runs, const SeedHooks& hooks,
                      const ProgressSink& progress) {
  if (const u64 most = most_seed(); runs - 1 > most - scenario.run.seed)
    throw std::runtime_error(fmt::format(
        "--seeds: {} seeds from run.seed {} on end beyond the last one; allowed: up to {}", runs,
        scenario.run.seed, most));
  SeedsResult all;
  all.seed = scenario.run.seed;
  all.runs = runs;
  std::vector<std::vector<Figure>> figures;
  for (u64 i = 0; i < runs; ++i) {
    Scenario one = scenario;
    one.run.seed += i;
    one.metered = scenario.metered && !i;
    if (hooks.before) hooks.before(one.run.seed);
    const FreshKernel kernel;
    Runner runner(one, progress);
    if (!i && hooks.first_begins) hooks.first_begins(runner);
    RunResult result = runner.run();
    if (!i && hooks.first_ends) hooks.first_ends(result);
    figures.push_back(figures_of(json_of(result, one)));
    for (const std::string& failure : result.failures)
      all.failures.push_back(fmt::format("seed {}: {}", one.run.seed, failure));
    if (!i) all.first = std::move(result);
  }
  all.intervals = intervals_of(figures);
  return all;
}

std::string text_of(const SeedsResult& result) {
  std::size_t width = 20;
  for (const Interval& i : result.intervals) width = std::max(width, i.of.size());
  std::string text = fmt::format(
      "\nSeeds {} .. {}: mean and 95 % confidence interval (Student's t with runs - 1 degrees)\n"
      "{:<{}} {:<9} {:>5} {:>12} {:>12} {:>8}\n",
      result.seed, result.seed + result.runs - 1, "", width, "", "runs", "mean", "+-", "+- %");
  for (const Interval& i : result.intervals) {
    const auto half = i.half_width();
    text += fmt::format("{:<{}} {:<9} {:>5} {:>12.4f} {:>12} {:>8}\n", i.of, width, i.name,
                        i.samples.size(), i.mean(), half ? fmt::format("{:.4f}", *half) : "",
                        half && i.mean() != 0 ? fmt::format("{:.2f}", *half / i.mean() * 100) : "");
  }
  for (const std::string& failure : result.failures) text += "FAILED: " + failure + "\n";
  return text;
}

nlohmann::json json_of(const SeedsResult& result) {
  nlohmann::json figures = nlohmann::json::array();
  for (const Interval& i : result.intervals) {
    const auto half = i.half_width();
    figures.push_back({{"of", i.of},
                       {"figure", i.name},
                       {"samples", i.samples},
                       {"mean", i.mean()},
                       {"half_width_95", half ? nlohmann::json(*half) : nlohmann::json()}});
  }
  return {{"first", result.seed},
          {"runs", result.runs},
          {"figures", figures},
          {"failures", result.failures}};
}
}  // namespace hca::testbench
