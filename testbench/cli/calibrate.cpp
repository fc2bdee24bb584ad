// SPDX-License-Identifier: Apache-2.0
// hca calibrate: published measurements of real adapters against their presets.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "testbench/calibration/calibration.h"
#include "testbench/calibration/curve_runs.h"
#include "testbench/cli/calibrate_fit.h"
#include "testbench/cli/commands.h"
#include "testbench/cli/parts.h"
#include "testbench/report/report_page.h"
#include "testbench/scenario/preset.h"
#include "testbench/text/text_file.h"

namespace hca::cli {
using namespace testbench;

namespace {
struct CalibrateArguments {
  std::string folder = "vectors/calibration", json, out;
  std::vector<std::string> only, settings;
  bool points = false;
  FitArguments fit;
};

nlohmann::json json_of(const Calibration& c, const Curve& curve) {
  const Knees knees = knees_of(curve);
  nlohmann::json points = nlohmann::json::array();
  for (const CurvePoint& p : curve.points)
    points.push_back({{c.x, p.x}, {"measured", p.measured}, {"model", p.model}});
  return {
      {"curve", c.name + "/" + curve.column},
      {"preset", c.preset},
      {"unit", row_of(curve.figure).unit},
      {"mean_abs_rel_error", mean_error(curve) / 100},
      {"wanted", curve.wanted / 100},
      {"held_out", c.held_out},
      {"misses", curve.misses},
      {"knee", {{"measured", knees.measured}, {"model", knees.model}, {"agrees", knees.agree()}}},
      {"points", points}};
}

// All are read before the first is run.
std::vector<Calibration> chosen(const CalibrateArguments& options) {
  std::vector<Calibration> all;
  for (const std::string& name : calibrations_in(options.folder))
    if (options.only.empty() ||
        std::find(options.only.begin(), options.only.end(), name) != options.only.end())
      all.push_back(read_calibration(options.folder, name));
  if (all.empty())
    throw std::runtime_error(fmt::format("--only: names no csv file of {}; allowed: {}",
                                         options.folder,
                                         fmt::join(calibrations_in(options.folder), ", ")));
  return all;
}

// Of the curves that knobs were fitted to, or of those that were held out.
void print_errors(const char* which, const std::vector<double>& errors) {
  if (errors.empty()) return;
  fmt::print("{}: {} curves, median error {:.2f} %, largest {:.2f} %\n", which, errors.size(),
             median_of(errors), *std::max_element(errors.begin(), errors.end()));
}

int calibrate_all(const CalibrateArguments& options) {
  std::vector<Calibration> all = chosen(options);
  const DeviceKnobs knobs = knobs_as_written(options.folder, all);
  for (const Calibration& c : all) check_scenarios(c, knobs, options.settings);
  if (const auto place = std::filesystem::path(options.json).parent_path();
      !place.empty() && !std::filesystem::is_directory(place))
    throw std::runtime_error(options.json + ": its folder is not there");
  if (!options.out.empty()) {
    want_page(calibration_page());
    make_folder(options.out);
  }
  const bool terminal = isatty(STDERR_FILENO);
  fmt::print("{:<44} {:>6} {:>8} {:>7} {:>22} {:>18}\n", "curve", "points", "error %", "wanted",
             "worst at", "knee, model");
  nlohmann::json curves = nlohmann::json::array(), orders = nlohmann::json::array();
  std::map<bool, std::vector<double>> errors;  // by held_out
  u32 missed = 0, declared = 0;
  for (Calibration& c : all) {
    calibrate(c, knobs, options.settings, [&](const std::string& point) {
      if (terminal) std::fprintf(stderr, "\r%-78s", point.c_str());
    });
    if (terminal) std::fprintf(stderr, "\r%78s\r", "");
    for (const Curve& curve : c.curves) {
      const double error = mean_error(curve);
      const CurvePoint& worst = worst_point(curve);
      const Knees knees = knees_of(curve);
      const bool good = error <= curve.wanted && (c.held_out || knees.agree());
      const bool is_declared = !good && !curve.misses.empty();
      missed += !good && !is_declared;
      declared += is_declared;
      errors[c.held_out].push_back(error);
      fmt::print(
          "{:<44} {:>6} {:>8.2f} {:>7.0f} {:>22} {:>18}{}\n", c.name + "/" + curve.column,
          curve.points.size(), error, curve.wanted,
          fmt::format("{} {} ({:+.1f} %)", c.x, worst.x, 100 * (worst.model / worst.measured - 1)),
          fmt::format("{}, {}", knees.measured, knees.model),
          is_declared            ? "  not modelled: " + curve.misses
          : error > curve.wanted ? " ERROR TOO LARGE"
          : good                 ? ""
                                 : " KNEE MOVED");
      if (options.points)
        for (const CurvePoint& p : curve.points)
          fmt::print("  {:>10} {:>12.4f} {:>12.4f} {:>+8.1f} %\n", p.x, p.measured, p.model,
                     100 * (p.model / p.measured - 1));
      curves.push_back(json_of(c, curve));
    }
    if (const Order order = order_of(c); order.pairs) {
      fmt::print("{:<44} {} of {} pairs of points\n", c.name + ", order", order.kept, order.pairs);
      orders.push_back({{"file", c.name}, {"pairs", order.pairs}, {"kept", order.kept}});
    }
  }
  fmt::print(
      "{} curves, {} of them within what is wanted, {} miss it by a mechanism that is not "
      "modelled\n",
      curves.size(), curves.size() - missed - declared, declared);
  print_errors("fitted", errors[false]);
  print_errors("held out", errors[true]);
  nlohmann::json data{{"curves", curves}, {"orders", orders}};
  if (!options.json.empty()) write_text_file(options.json, data.dump(1) + '\n');
  if (!options.out.empty()) {
    write_text_file(options.out + "/calibration.json", data.dump(1) + '\n');
    data["origin"] = origin_of_page();
    data["origin"]["scenario"] = options.folder;
    for (const Preset& preset : presets()) data["presets"][std::string(preset.name)] = preset.text;
    write_page(options.out + "/calibration.html", calibration_page(), data.dump(-1, ' ', true));
  }
  return missed ? kCheckFailed : kSucceeded;
}
}  // namespace

void add_calibrate(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<CalibrateArguments>();
  command.add_option("folder", options->folder, "csv files, each with a yaml file beside it")
      ->capture_default_str();
  command.add_option("--json", options->json, "write the curves there");
  command.add_option("--out", options->out,
                     "write calibration.json and calibration.html into this folder");
  command.add_option("--only", options->only, "names of csv files, without .csv");
  command.add_option("--set", options->settings, "KEY=VALUE: wins over preset and scenario")
      ->allow_extra_args(false);
  command.add_flag("--points", options->points, "print every point: measured, model, error");
  FitArguments& fit = options->fit;
  auto* const preset = command.add_option(
      "--fit", fit.preset, "fit the fitted knobs of this preset and its hosts, and print them");
  command.add_option("--without", fit.without, "FILE/COLUMN: a curve that the fit does not see")
      ->needs(preset);
  command.add_option("--trials", fit.trials, "of a fit, at most")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--jobs", fit.jobs, "fits at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      .add_flag("--leave-one-out", fit.leave_one_out,
                "predict each curve by a fit to the others of its device")
      ->excludes(preset);
  command.callback([options, &exit_code] {
    if (options->fit.leave_one_out)
      exit_code = leave_each_out(chosen(*options), options->folder, options->fit, options->json);
    else if (!options->fit.preset.empty())
      exit_code = fit_preset(chosen(*options), options->folder, options->fit, options->json);
    else
      exit_code = calibrate_all(*options);
  });
}
}  // namespace hca::cli
