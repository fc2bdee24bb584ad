// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model/engine/histogram.h"
#include "testbench/trace/message_log.h"

namespace hca::testbench {
// The messages of one part of a run: how long each step took, of all of them, and some to look at:
// the slowest, and others evenly from the first to the last.
class MessageStats {
 public:
  static constexpr std::size_t kMostEven = 8192, kMostSlow = 16;

  void add(const MessageTimes& message);
  u64 count() const { return whole_.count(); }
  // {"count", "whole", "steps": [{"step", ...}]}, each with mean_ns, p50_ns, p99_ns, max_ns (null:
  // too few samples), and so many `messages` (0: the figures alone) by number, each as
  // [number, hca, qpn, bytes, start in ps, way, ps of each step], where `ways` has the steps by
  // way.
  nlohmann::json json(std::size_t messages) const;

 private:
  struct Kept {
    u64 number;
    MessageTimes times;
  };
  std::array<engine::Histogram, kStations> steps_;  // ps; by the station at whose passing it ends
  engine::Histogram whole_;
  std::vector<Kept> even_;  // each `stride_`th
  std::vector<Kept> slow_;  // a heap, the fastest of them at its top
  u64 stride_ = 1;
};
}  // namespace hca::testbench
