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
// The first thing that is not as the vector says.
struct VectorFailure {
  std::string where, what;  // "steps[3].sent", "a NAK was expected"
  std::vector<FieldDifference> fields;
  bool is_broken = false;  // the vector, not the model
};
struct VectorResult {
  std::string runner;
  std::optional<VectorFailure> failure;
  std::vector<std::string> ladder;  // what happened, in order
  // All that can be seen of the run from outside, by where: what two runners are compared by.
  std::map<std::string, std::vector<std::string>> seen;

  bool passed() const { return !failure; }
  bool is_broken() const { return failure && failure->is_broken; }
};
struct VectorReport {
  Vector vector;
  std::vector<VectorResult> results;          // one a runner
  std::optional<std::string> runners_differ;  // from each other, though each is as the vector says
  bool passed() const;
};

// The runners of a vector: without time, and cycle by cycle with both ways of forwarding.
std::span<const ReplayRunner> vector_runners();

// A vector that cannot be executed fails with `is_broken`. `rtl`: in the path of the cycle model.
VectorReport run_vector(const Vector& vector, RtlChoice rtl = {});
VectorResult run_vector(const Vector& vector, const ReplayRunner& runner);
// `where`: the step or expectation at hand while it runs, "steps[3].sent"; "setup" before.
VectorResult run_vector(const Vector& vector, const ReplayRunner& runner, std::string& where);
// Does the steps of a vector without expectations; `seen` has also the bytes of its regions, and
// what work requests and commands ended with if not with success.
VectorResult observe_vector(const Vector& vector, const ReplayRunner& runner);
// The first thing that one runner showed and the other did not, in words.
std::optional<std::string> find_difference(const VectorResult& a, const VectorResult& b);
}  // namespace hca::testbench
