// SPDX-License-Identifier: Apache-2.0
// From a run that fails under many faults to the few that make it fail.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/run.h"

namespace hca::testbench {
struct Shrunk {
  Scenario scenario;  // its faults are a script: sender, DestQP, PSN and occurrence each
  RunResult result;   // of it
  unsigned runs = 0;
  bool repeats = false;  // whether the faults that were found, as a script, fail in the same way
};
// Told after each run: how many faults and messages are left.
using ShrinkSink = std::function<void(unsigned runs, std::size_t faults, u64 messages)>;

// Runs the scenario, whose run gave `failed`, again and again: with its faults as a script, with
// fewer and fewer of them, then with fewer messages, as long as the first failure keeps its words.
Shrunk shrink(const Scenario& scenario, const RunResult& failed, const ShrinkSink& sink);

// The faults as a scenario has them, and the scenario's file with them in the place of its own and
// the numbers of messages of `scenario`.
std::string text_of_faults(const Scenario& scenario);
std::string text_with_faults(const std::string& file, const Scenario& scenario);
}  // namespace hca::testbench
