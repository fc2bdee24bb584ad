// SPDX-License-Identifier: Apache-2.0
// Every mistake against every vector.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace hca::testbench {
struct EveryMistake {
  std::string names = "*";  // a glob
  std::string vary;         // one of proto::kScopeKeys: made for one of its values at a time
  unsigned jobs = 2, milliseconds = 1000;
};
// Mistakes that no vector notices on one of the runners, by name, with `vary` and the value's name;
// each is tried with the vectors of these paths up to the first that notices. Throws
// std::runtime_error if no name matches, or `vary` is no key.
struct Unnoticed {
  std::vector<std::string> names;
  std::size_t tried = 0;
  // With `vary`: not tried, since no vector asks for the mistake with that value, or none can break
  // the rule with it; and those of them that could.
  std::size_t never_reached = 0;
  std::vector<std::string> reachable;
};
Unnoticed try_every(std::span<const std::string> vectors, const EveryMistake& which);
}  // namespace hca::testbench
