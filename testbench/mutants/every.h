// SPDX-License-Identifier: Apache-2.0
// Every mistake against every vector.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace hca::testbench {
struct EveryMistake {
  std::string names = "*";  // a glob
  // one of proto::kScopeKeys: restricts the mistake to one of its values at a time
  std::string vary;
  unsigned jobs = 2, milliseconds = 1000;
};
// Mistakes that no vector notices on one of the runners, by name, or with `vary` by name and value.
// Each is tried with the vectors of these paths until the first one notices. Throws
// std::runtime_error if no name matches, or `vary` is not a key.
struct Unnoticed {
  std::vector<std::string> names;
  std::size_t tried = 0;
  // With `vary`: the number of pairs not tried, because no vector reaches the mistake with that
  // value, or none can break the rule with it; and the number of those that could.
  std::size_t never_reached = 0;
  std::vector<std::string> reachable;
};
Unnoticed try_every(std::span<const std::string> vectors, const EveryMistake& which);
}  // namespace hca::testbench
