// SPDX-License-Identifier: Apache-2.0
// Shared functions for tests of replays.
#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "testbench/replay/replay.h"
#include "testbench/replay/replay_runners.h"

namespace hca::testbench {
inline Capture load(const std::string& name) {
  return load_capture(std::string(HCA_SOURCE_DIR) + "/vectors/captures/" + name + ".pcap");
}

inline const ReplayRunner& any_runner() {
  return replay_runners()[GENERATE(range(std::size_t{0}, replay_runners().size()))];
}
// The n-th frame (from 0) that `end` sends.
inline std::size_t sent_by(const Capture& capture, End end, std::size_t n) {
  for (std::size_t i = 0; i < capture.frames.size(); ++i)
    if (capture.frames[i].from == end && n-- == 0) return i;
  FAIL("no such frame");
  return 0;
}
inline std::string first_field(const ReplayReport& report) {
  return report.difference && !report.difference->fields.empty()
             ? report.difference->fields[0].name()
             : "";
}
}  // namespace hca::testbench
