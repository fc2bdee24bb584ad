// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "model/engine/histogram.h"
#include "testbench/trace/message_groups.h"
#include "testbench/trace/message_log.h"

namespace hca::testbench {
// The messages of one part of a run: statistics of each step over all of them, of the whole time by
// kMessageGroups, and samples: the
// slowest ones, and others spread evenly from the first to the last.
class MessageStats {
 public:
  static constexpr std::size_t kMostEven = 8192, kMostSlow = 16;

  void add(const MessageTimes& message);
  u64 count() const { return whole_.count(); }
  const engine::Histogram& whole() const { return whole_; }  // ps
  // {"count", "whole", "groups": [{"by", "name", "count", "bytes", ...}], "steps": [{"step", ...}]},
  // each with mean_ns, p50_ns, p99_ns, max_ns (null:
  // too few samples), and up to `messages` samples (0: only the figures) as [number, hca, qpn,
  // bytes, start in ps, way, ps of each step]; `ways` has the steps by way.
  nlohmann::json json(std::size_t messages) const;

 private:
  struct Kept {
    u64 number;
    MessageTimes times;
  };
  struct Group {
    GroupPlaces places;
    std::vector<engine::Histogram> whole;  // by place, ps
    std::vector<u64> bytes;
  };
  std::array<Group, kMessageGroups.size()> groups_;
  std::array<engine::Histogram, kStations> steps_;  // ps; by the station at the end of the step
  engine::Histogram whole_;
  std::vector<Kept> even_;  // every `stride_`th
  std::vector<Kept> slow_;  // a heap with the fastest on top
  u64 stride_ = 1;
};
}  // namespace hca::testbench
