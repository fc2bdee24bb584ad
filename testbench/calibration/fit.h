// SPDX-License-Identifier: Apache-2.0
// Fits the knobs of a device, and of the hosts it was measured with, to its curves.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/calibration/calibration_file.h"
#include "testbench/calibration/device_knobs.h"

namespace hca::testbench {
// What a fit may change, and what it counts.
struct FitPlan {
  std::string preset;
  std::string without;    // "file/column": a curve that does not count; empty: all count
  unsigned trials = 150;  // at most
  bool is_quick = true;   // five points of a curve, and a quarter of the messages
};
struct FittedKnob {
  std::string file;  // "preset connectx5", "setup cx5_host"
  std::string path, before, after;
};
struct Fit {
  DeviceKnobs knobs;
  std::vector<FittedKnob> fitted;            // all knobs that a fit may change
  double error_before = 0, error_after = 0;  // percent: the mean of the curves that count
  unsigned trials = 0;
};
// Changes the fitted knobs of the preset and of the setups of its curves, one at a time by a factor
// that becomes smaller, as long as the mean error of the curves that count becomes smaller. Without
// one of the curves, a knob that the others do not need first goes back to the default of the
// model, or of the preset. The same input gives the same fit.
Fit fit(const std::vector<Calibration>& curves, const DeviceKnobs& start, const FitPlan& plan,
        const std::function<void(const std::string&)>& progress);
// The curves that a fit to a preset counts, of all: those of the preset that are not held out.
bool counts(const Calibration& c, const Curve& curve, const FitPlan& plan);
}  // namespace hca::testbench
