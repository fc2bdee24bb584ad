// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "testbench/vectors/run.h"

namespace hca::testbench {
// Functional, and cycle with store: the other runners share their rules.
inline std::span<const ReplayRunner> trial_runners() { return vector_runners().first(2); }

// `pairs`: [{"mutant": name, "vectors": [path, ...]}, ...]. Returns the same objects with
// "results": by vector and runner "passed", "failed: where: what", "died" or "hung"; or with
// "unknown": true for a name that the model does not have. Each mutant runs in its own process,
// `jobs` at once; with "until_noticed" only up to the first result other than "passed". After a
// process that dies, or hangs for this many milliseconds of processor time, another one continues
// with the remaining vectors and runners.
nlohmann::json try_mutants(const nlohmann::json& pairs, unsigned jobs, unsigned milliseconds);
}  // namespace hca::testbench
