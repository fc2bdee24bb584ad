// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "testbench/vectors/run.h"

namespace hca::testbench {
// Functional, and cycle with store: the others share their rules.
inline std::span<const ReplayRunner> trial_runners() { return vector_runners().first(2); }

// `pairs`: [{"mutant": name, "vectors": [path, ...]}, ...]. For each the same object with
// "results": by vector and runner "passed", "failed: where: what", "died" or "hung"; or with
// "unknown": true for a name that the model does not have. Each mutant runs in a process of its
// own, with "until_noticed" only up to the first result that is not "passed", `jobs` at once; one
// that dies, or hangs for so many milliseconds of processor time, is followed by another for the
// vectors and runners that are left.
nlohmann::json try_mutants(const nlohmann::json& pairs, unsigned jobs, unsigned milliseconds);
}  // namespace hca::testbench
