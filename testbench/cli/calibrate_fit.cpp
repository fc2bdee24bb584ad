// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/calibrate_fit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "testbench/calibration/calibration.h"
#include "testbench/calibration/curve_runs.h"
#include "testbench/calibration/leave_one_out.h"
#include "testbench/cli/commands.h"
#include "testbench/text/text_file.h"

namespace hca::cli {
using namespace testbench;

namespace {
void tell(const std::string& line) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%-100s\r", line.c_str());
}
}  // namespace

int fit_preset(const std::vector<Calibration>& curves, const std::string& folder,
               const FitArguments& arguments, const std::string& json) {
  const DeviceKnobs start = knobs_as_written(folder, curves);
  if (!start.presets.contains(arguments.preset))
    throw std::runtime_error(fmt::format("--fit: there is no preset \"{}\"; allowed: {}",
                                         arguments.preset, preset_names(true)));
  const FitPlan plan{
      .preset = arguments.preset, .without = arguments.without, .trials = arguments.trials};
  if (!plan.without.empty()) {
    const Prediction p = predict(curves, start, plan, tell);
    fmt::print("{}: {:.2f} % as written, {:.2f} % by the other curves\n", p.curve, p.fitted_error,
               p.error);
    if (!json.empty()) write_text_file(json, json_of(p).dump(1) + '\n');
    return kSucceeded;
  }
  const Fit result = fit(curves, start, plan, tell);
  tell("");
  for (const FittedKnob& knob : result.fitted)
    fmt::print("{:<24} {:<34} {:>14} {:>14}{}\n", knob.file, knob.path, knob.before, knob.after,
               knob.before == knob.after ? "" : "  changed");
  fmt::print("mean error {:.2f} % before, {:.2f} % after {} trials, each of five points a curve\n",
             result.error_before, result.error_after, result.trials);
  return kSucceeded;
}

int leave_each_out(const std::vector<Calibration>& curves, const std::string& folder,
                   const FitArguments& arguments, const std::string& json) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = [&](const FitPlan& plan, const std::string& file) {
    return std::vector<std::string>{program,      "calibrate", folder,
                                    "--fit",      plan.preset, "--without",
                                    plan.without, "--trials",  std::to_string(plan.trials),
                                    "--json",     file};
  };
  std::size_t ended = 0;
  const std::vector<Prediction> all =
      leave_one_out(curves, command, arguments.trials, arguments.jobs,
                    [&](const Prediction& p) { tell(fmt::format("{} {}", ++ended, p.curve)); });
  tell("");
  fmt::print("{:<14} {:<44} {:>10} {:>10} {:>24}\n", "preset", "curve", "fitted %", "predicted %",
             "worst at");
  nlohmann::json rows = nlohmann::json::array();
  std::vector<double> errors;
  for (const Prediction& p : all) {
    if (!p.problem.empty()) {
      fmt::print("{:<14} {:<44} not predicted: {}\n", p.preset, p.curve, p.problem);
      continue;
    }
    errors.push_back(p.error);
    rows.push_back(json_of(p));
    fmt::print("{:<14} {:<44} {:>10.2f} {:>11.2f} {:>24}\n", p.preset, p.curve, p.fitted_error,
               p.error, fmt::format("{} ({:+.1f} %)", p.worst_x, p.worst_error));
  }
  if (!json.empty()) write_text_file(json, rows.dump(1) + '\n');
  if (errors.empty()) return kCheckFailed;
  fmt::print("{} curves, each by a fit to the others: median {:.2f} %, largest {:.2f} %\n",
             errors.size(), median_of(errors), *std::max_element(errors.begin(), errors.end()));
  return errors.size() == all.size() ? kSucceeded : kCheckFailed;
}
}  // namespace hca::cli
