// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/loop.h"

#include <fmt/format.h>

namespace hca::testbench {
std::vector<Frame> Loop::take_held(const JsonAt& json, const Symbols& symbols) {
  if (json.value() == "all") return std::exchange(held_, {});
  std::vector<Frame> taken;
  for (const JsonAt& place : json.entries()) {
    const u64 i = symbols.value(place, ~u64{0});
    if (i >= held_.size() || held_[i].empty())
      place.refuse("nothing is held there",
                   fmt::format("a place below {}, each once", held_.size()));
    taken.push_back(std::exchange(held_[i], {}));
  }
  std::erase_if(held_, [](const Frame& frame) { return frame.empty(); });
  return taken;
}
}  // namespace hca::testbench
