// SPDX-License-Identifier: Apache-2.0
// The items that a recording still expects of a replay, and its progress.
#pragma once
#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

namespace hca::testbench {
// Completions of one queue.
struct Expected {
  std::vector<std::size_t> events;
  std::size_t seen = 0;
  void push_back(std::size_t i) { events.push_back(i); }
};
// Frames of one stream.
struct Frames {
  std::vector<std::size_t> indices;  // in the capture
  std::size_t seen = 0;
};
// True if no stream expects any more frames.
inline bool all_seen(const std::map<unsigned, Frames>& streams) {
  return std::ranges::all_of(
      streams, [](const auto& s) { return s.second.seen == s.second.indices.size(); });
}
struct ExpectedAsync {
  std::size_t event;
  bool seen = false;
};
}  // namespace hca::testbench
