// SPDX-License-Identifier: Apache-2.0
// The reach of the vectors: the framings, services, operations and opcodes with which each mistake
// would take effect.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/mutants/mistake.h"

namespace hca::testbench {
// By the names of mistakes. If a mistake is never evaluated with a value, it changes nothing for
// that value.
using ReachedPlaces = std::map<std::string, mutants::Mutant::Reached>;

// Runs the vectors on the unchanged model in `jobs` processes. Throws std::runtime_error if one of
// them dies.
ReachedPlaces find_reached(std::span<const std::string> vectors, unsigned jobs);

// True if a packet with this value of a key (of proto::kScopeKeys) can break the rule of the
// mistake; empty: the mistake belongs to no rule of the responder, so this is not known.
std::optional<bool> could_reach(const std::string& mistake, std::size_t key, u32 value);
// "IB global", "RC", "SEND Only".
std::string value_name(std::size_t key, u32 value);
}  // namespace hca::testbench
