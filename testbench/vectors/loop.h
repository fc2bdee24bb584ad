// SPDX-License-Identifier: Apache-2.0
// Packets in flight between two connected queue pairs of the device.
#pragma once
#include <utility>
#include <vector>

#include "testbench/host/replay_device.h"
#include "testbench/vectors/symbols.h"

namespace hca::testbench {
class Loop {
 public:
  bool holds() const { return holds_; }
  void hold(const JsonAt& json) { holds_ = json.truth(); }
  // A sent packet; `merged`: an ACK that also replaces the previous one.
  void add(const Frame& frame, bool merged) {
    if (!holds_)
      passing_.push_back(frame);
    else if (merged && !held_.empty())
      held_.back() = frame;
    else
      held_.push_back(frame);
  }
  void release(const JsonAt& json, const Symbols& symbols) {
    for (Frame& frame : take_held(json, symbols)) passing_.push_back(std::move(frame));
  }
  void drop(const JsonAt& json, const Symbols& symbols) { take_held(json, symbols); }
  const std::vector<Frame>& held() const { return held_; }
  std::vector<Frame> arriving() { return std::exchange(passing_, {}); }

 private:
  // "all", or indices (from 0) of the held packets, in the order of delivery.
  std::vector<Frame> take_held(const JsonAt& json, const Symbols& symbols);
  bool holds_ = false;
  std::vector<Frame> held_, passing_;
};
}  // namespace hca::testbench
