// SPDX-License-Identifier: Apache-2.0
// The experiment that defines a bottleneck: the knob whose improvement by a quarter (one step where
// it is a small integer) changes the result most.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "testbench/run/run_limits.h"
#include "testbench/scenario/scenario.h"
#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
// The run again with another value of a knob, at all HCAs, hosts and entries that have it.
struct KnobTrial {
  std::string knob;                   // "port.link_rate"
  std::vector<std::string> settings;  // "hca0.port1.link_rate=125 Gb/s", as for --set
  std::string change;                 // "100 Gb/s -> 125 Gb/s"; empty: it has no better value
};
// A knob of a resource as Use::knob names it: "host.post_send", "workload[].depth".
KnobTrial better(const Scenario& scenario, const std::string& knob);

// A resource and what its knobs gain.
struct Gain {
  Use use;
  bool named = false;
  KnobTrial best{};       // of its knobs that with the largest gain
  double gain = 0;        // share of the result: 0.25 is a quarter more messages, or less time
  std::string problem{};  // empty: the trial ran
};
// Of a part of the run.
struct PartCheck {
  std::string part;
  bool saturated = true;    // the result is throughput; otherwise the median time of a message
  double result = 0;        // messages a second; seconds
  std::vector<Gain> gains;  // the named ones first, then the next
  // No other gains more than the named one by a hundredth of the result; with none named, none
  // gains a hundredth.
  bool is_right() const;
};
struct BottleneckCheck {
  std::vector<PartCheck> parts;
  std::vector<std::string> failures;  // of the run itself
  bool is_right() const;              // all parts are
};
// `load`: the scenario with these settings beside its own; throws ScenarioError. `before`: called
// with each change before its run.
using LoadWith = std::function<Scenario(const std::vector<std::string>& settings)>;
BottleneckCheck check_bottleneck(const LoadWith& load,
                                 const std::function<void(const std::string& what)>& before = {});
std::string text_of(const BottleneckCheck& check);
}  // namespace hca::testbench
