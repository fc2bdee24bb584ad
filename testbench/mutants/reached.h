// SPDX-License-Identifier: Apache-2.0
// Where the vectors lead: under which framings, services, operations and opcodes each mistake would
// be made.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/mutants/mistake.h"

namespace hca::testbench {
// By the names of mistakes. A mistake that is never asked for with a value changes nothing there.
using ReachedPlaces = std::map<std::string, mutants::Mutant::Reached>;

// Runs the vectors on the model without a mistake, in `jobs` processes. Throws std::runtime_error
// if one of them dies.
ReachedPlaces find_reached(std::span<const std::string> vectors, unsigned jobs);

// Whether a packet with this value of a key (of proto::kScopeKeys) can break the rule that the
// mistake is about; nothing: it is about none of the responder's, and that is not known.
std::optional<bool> could_reach(const std::string& mistake, std::size_t key, u32 value);
// "IB global", "RC", "SEND Only".
std::string value_name(std::size_t key, u32 value);
}  // namespace hca::testbench
