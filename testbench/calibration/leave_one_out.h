// SPDX-License-Identifier: Apache-2.0
// How well a device is understood: each of its curves predicted by a fit to the others.
#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "testbench/calibration/fit.h"

namespace hca::testbench {
// A curve that no knob was fitted to.
struct Prediction {
  std::string preset, curve;            // "file/column"
  double fitted_error = 0;              // percent, with the knobs as they are written
  double error = 0;                     // percent, with the knobs fitted to the other curves
  double worst_x = 0, worst_error = 0;  // the point with the largest error, percent
  std::string problem;                  // empty: it was predicted
};
// Fits without one curve and runs that curve.
Prediction predict(const std::vector<Calibration>& curves, const DeviceKnobs& start,
                   const FitPlan& plan, const std::function<void(const std::string&)>& progress);
nlohmann::json json_of(const Prediction& prediction);
Prediction prediction_of(const nlohmann::json& json);

// One prediction is a process: `command` is that of a plan, which writes its prediction to a file.
using PredictionCommand =
    std::function<std::vector<std::string>(const FitPlan& plan, const std::string& json)>;
// All predictions, in the order of the curves, `at_most` at a time; `told` is called with each as
// it ends. Throws std::runtime_error after SIGINT or SIGTERM.
std::vector<Prediction> leave_one_out(const std::vector<Calibration>& curves,
                                      const PredictionCommand& command, unsigned trials,
                                      unsigned at_most,
                                      const std::function<void(const Prediction&)>& told);
}  // namespace hca::testbench
