// SPDX-License-Identifier: Apache-2.0
// From a run that fails under many faults to the few that make it fail.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/run/run.h"

namespace hca::testbench {
struct Shrunk {
  Scenario scenario;  // its faults are a script: sender, DestQP, PSN and occurrence each
  RunResult result;   // of it
  unsigned runs = 0;
  bool repeats = false;  // whether the faults that were found, as a script, fail in the same way
  bool stopped = false;  // before there was nothing left to try
  u64 messages() const;
};
struct ShrinkHooks {
  std::function<void(const Shrunk& best)> after_run = [](const Shrunk&) {};
  std::function<void(const Shrunk& best)> better = [](const Shrunk&) {};  // than the one before
  std::function<bool()> stop = [] { return false; };                      // also within a run
};

// Runs the scenario, whose run gave `failed`, again and again: with its faults up to the failure as
// a script, with the fewest messages, with fewer and fewer faults, and with the fewest messages
// again, as long as the first failure keeps its words. A run that lasts twice as long as the best
// one until its failure is cut there: it does not fail.
Shrunk shrink(const Scenario& scenario, const RunResult& failed, const ShrinkHooks& hooks);

// The faults as a scenario has them, and the scenario's file with them in the place of its own and
// the numbers of messages of `scenario`.
std::string text_of_faults(const Scenario& scenario);
std::string text_with_faults(const std::string& file, const Scenario& scenario);
}  // namespace hca::testbench
