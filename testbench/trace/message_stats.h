// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <utility>
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
  static constexpr std::size_t kMostEven = 8192, kFewEven = 256, kMostSlow = 16;

  MessageStats() = default;
  MessageStats(MessageStats&&) = default;  // `*last_` stays where it is
  void add(const MessageTimes& message);
  u64 count() const { return count_; }
  engine::Histogram whole() const;  // ps
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
  // Messages that have the same places in all groups: each is counted once, and figures of a group
  // are merged when they are read.
  using Places = std::array<std::size_t, kMessageGroups.size()>;
  struct Kind {
    engine::Histogram whole;  // ps
    u64 bytes = 0;
  };
  Kind& kind_of(const MessageTimes& message);
  std::array<GroupPlaces, kMessageGroups.size()> groups_;
  std::map<Places, Kind> kinds_;
  GroupedMessage last_message_{};
  Kind* last_ = nullptr;                            // its kind
  std::array<engine::Histogram, kStations> steps_;  // ps; by the station at the end of the step
  u64 count_ = 0;
  std::vector<Kept> even_;  // every `stride_`th
  std::vector<Kept> slow_;  // a heap with the fastest on top
  u64 stride_ = 1;          // a power of two
};
}  // namespace hca::testbench
