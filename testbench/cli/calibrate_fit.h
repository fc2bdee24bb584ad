// SPDX-License-Identifier: Apache-2.0
// hca calibrate --fit, --leave-one-out.
#pragma once
#include <string>
#include <vector>

#include "testbench/calibration/calibration_file.h"

namespace hca::cli {
struct FitArguments {
  std::string preset, without;
  unsigned trials = 150, jobs = 2;
  bool leave_one_out = false;
};
// Prints each fitted knob before and after, or the error of the curve that was left out. With
// `json` the latter is written there. Returns the exit code.
int fit_preset(const std::vector<testbench::Calibration>& curves, const std::string& folder,
               const FitArguments& arguments, const std::string& json);
// Prints the table of all predictions.
int leave_each_out(const std::vector<testbench::Calibration>& curves, const std::string& folder,
                   const FitArguments& arguments, const std::string& json);
}  // namespace hca::cli
