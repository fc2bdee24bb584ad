// SPDX-License-Identifier: Apache-2.0
// What a recording still expects of a replay, and how much of it has come.
#pragma once
#include <cstddef>
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
struct ExpectedAsync {
  std::size_t event;
  bool seen = false;
};
}  // namespace hca::testbench
