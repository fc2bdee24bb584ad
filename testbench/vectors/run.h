// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/host/replay_device.h"
#include "testbench/packets/frame_text.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench {
// The first deviation from the vector.
struct VectorFailure {
  std::string where, what;  // "steps[3].sent", "a NAK was expected"
  std::vector<FieldDifference> fields;
  bool is_broken = false;  // the error is in the vector, not in the model
};
struct VectorResult {
  std::string runner;
  std::optional<VectorFailure> failure;
  std::vector<std::string> ladder;  // the events in order
  // All observations of the run from outside, by place: used to compare two runners.
  std::map<std::string, std::vector<std::string>> seen;

  bool passed() const { return !failure; }
  bool is_broken() const { return failure && failure->is_broken; }
};
struct VectorReport {
  Vector vector;
  std::vector<VectorResult> results;          // one per runner
  std::optional<std::string> runners_differ;  // both follow the vector, but differ from each other
  bool passed() const;
};

// The runners of a vector: without time, and cycle by cycle with both ways of forwarding.
std::span<const ReplayRunner> vector_runners();

// A vector that cannot be executed fails with `is_broken`. `rtl`: in the path of the cycle model.
VectorReport run_vector(const Vector& vector, RtlChoice rtl = {});
VectorResult run_vector(const Vector& vector, const ReplayRunner& runner);
// `where`: the current step or expectation, "steps[3].sent"; before that "setup".
VectorResult run_vector(const Vector& vector, const ReplayRunner& runner, std::string& where);
// Runs the steps of a vector without expectations. `seen` also has the bytes of its regions, and
// the statuses of failed work requests and commands.
VectorResult observe_vector(const Vector& vector, const ReplayRunner& runner);
// The first observation that only one runner has, as text.
std::optional<std::string> find_difference(const VectorResult& a, const VectorResult& b);
}  // namespace hca::testbench
