// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/leave_one_out.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "testbench/calibration/calibration.h"
#include "testbench/calibration/curve_runs.h"
#include "testbench/sweep/workers.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
namespace fs = std::filesystem;

// The measurement with only that curve.
Calibration alone(const std::vector<Calibration>& all, const std::string& curve) {
  for (const Calibration& c : all)
    for (const Curve& one : c.curves)
      if (c.name + "/" + one.column == curve) {
        Calibration only = c;
        only.curves = {one};
        return only;
      }
  throw std::runtime_error(fmt::format("--without: there is no curve \"{}\"", curve));
}

// A folder for the time of its life.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "hca_leave_one_out_XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  std::string file(std::size_t point, const char* kind) const {
    return (path_ / fmt::format("{}.{}", point, kind)).string();
  }

 private:
  fs::path path_;
};
}  // namespace

Prediction predict(const std::vector<Calibration>& curves, const DeviceKnobs& start,
                   const FitPlan& plan, const std::function<void(const std::string&)>& progress) {
  Calibration only = alone(curves, plan.without);
  Prediction p{.preset = plan.preset, .curve = plan.without, .problem = {}};
  calibrate(only, start, {}, [](const std::string&) {});
  p.fitted_error = mean_error(only.curves[0]);
  const Fit fitted = fit(curves, start, plan, progress);
  calibrate(only, fitted.knobs, {}, [](const std::string&) {});
  const CurvePoint& worst = worst_point(only.curves[0]);
  p.error = mean_error(only.curves[0]);
  p.worst_x = double(worst.x);
  p.worst_error = 100 * (worst.model / worst.measured - 1);
  return p;
}

nlohmann::json json_of(const Prediction& p) {
  return {{"preset", p.preset},
          {"curve", p.curve},
          {"fitted", p.fitted_error},
          {"predicted", p.error},
          {"worst", {{"x", p.worst_x}, {"error", p.worst_error}}}};
}

Prediction prediction_of(const nlohmann::json& json) {
  return {.preset = json.at("preset"),
          .curve = json.at("curve"),
          .fitted_error = json.at("fitted"),
          .error = json.at("predicted"),
          .worst_x = json.at("worst").at("x"),
          .worst_error = json.at("worst").at("error"),
          .problem = {}};
}

std::vector<Prediction> leave_one_out(const std::vector<Calibration>& curves,
                                      const PredictionCommand& command, unsigned trials,
                                      unsigned at_most,
                                      const std::function<void(const Prediction&)>& told) {
  const WorkFolder folder;
  std::vector<FitPlan> plans;
  for (const Calibration& c : curves)
    for (const Curve& curve : c.curves)
      if (!c.held_out)
        plans.push_back(
            {.preset = c.preset, .without = c.name + "/" + curve.column, .trials = trials});
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < plans.size(); ++i)
    jobs.push_back({i, command(plans[i], folder.file(i, "json")), folder.file(i, "log")});
  std::vector<Prediction> all(plans.size());
  std::size_t next = 0;
  const bool ended = run_jobs(
      [&]() -> const Job* { return next == jobs.size() ? nullptr : &jobs[next++]; }, at_most,
      [&](const Job& job, int status) {
        Prediction& p = all[job.point];
        const auto text = read_text_file(folder.file(job.point, "json"));
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && text) {
          p = prediction_of(nlohmann::json::parse(*text));
        } else {
          p.preset = plans[job.point].preset;
          p.curve = plans[job.point].without;
          p.problem = read_text_file(job.log).value_or("it wrote nothing");
        }
        told(p);
      });
  if (!ended) throw std::runtime_error("stopped before the last curve");
  return all;
}
}  // namespace hca::testbench
