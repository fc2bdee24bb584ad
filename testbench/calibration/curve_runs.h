// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/calibration/calibration_file.h"
#include "testbench/calibration/device_knobs.h"

namespace hca::testbench {
// The presets, and the setups of these measurements of a folder. Throws ScenarioError.
DeviceKnobs knobs_as_written(const std::string& folder, const std::vector<Calibration>& of);

// Throws ScenarioError, with the file of the measurement, if a scenario of a point is refused.
void check_scenarios(const Calibration& calibration, const DeviceKnobs& knobs,
                     const std::vector<std::string>& settings);

// Runs the model for every point of every curve. Throws std::runtime_error if a run fails.
// `settings`: "key=value", which override device, host and scenario. `progress` is called with the
// name of each point before it runs.
void calibrate(Calibration& calibration, const DeviceKnobs& knobs,
               const std::vector<std::string>& settings,
               const std::function<void(const std::string&)>& progress);
}  // namespace hca::testbench
