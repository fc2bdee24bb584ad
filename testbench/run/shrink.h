// SPDX-License-Identifier: Apache-2.0
// Reduces the faults of a failing run to the few that cause the failure.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/run/run.h"

namespace hca::testbench {
struct Shrunk {
  Scenario scenario;  // its faults are a script: sender, DestQP, PSN and occurrence each
  RunResult result;   // of that scenario
  unsigned runs = 0;
  bool repeats = false;  // the found faults, as a script, cause the same failure
  bool stopped = false;  // stopped before everything was tried
  u64 messages() const;
};
struct ShrinkHooks {
  std::function<void(const Shrunk& best)> after_run = [](const Shrunk&) {};
  // called for each improvement
  std::function<void(const Shrunk& best)> better = [](const Shrunk&) {};
  std::function<bool()> stop = [] { return false; };  // checked also within a run
};

// Repeats the scenario, whose run returned `failed`: with its faults up to the failure as a script,
// then with the fewest messages, then with fewer and fewer faults, then again with the fewest
// messages, as long as the text of the first failure stays the same. A run twice as long as the
// best failing one is stopped and counts as not failing.
Shrunk shrink(const Scenario& scenario, const RunResult& failed, const ShrinkHooks& hooks);

// The faults in the form of a scenario; and the scenario's file with them instead of its own, and
// with the numbers of messages of `scenario`.
std::string text_of_faults(const Scenario& scenario);
std::string text_with_faults(const std::string& file, const Scenario& scenario);
}  // namespace hca::testbench
