// SPDX-License-Identifier: Apache-2.0
// The frames of both ends of a wire as one capture in the order of time.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "testbench/pcap_file.h"
#include "tlm/wire.h"

namespace hca::testbench {
// Frames come in any order and leave by the time of their first bit; of two at the same time the
// first sender's leaves first, so that the order does not depend on who was asked first.
class FramesByTime {
 public:
  using Sink = std::function<void(u64 picoseconds, std::span<const u8> frame)>;
  explicit FramesByTime(Sink sink) : sink_(std::move(sink)) {}
  void add(u64 picoseconds, u8 sender, std::span<const u8> frame) {
    frames_.emplace(std::pair(picoseconds, sender), std::vector<u8>(frame.begin(), frame.end()));
  }
  // Hands on what lies before `picoseconds`: nothing that is added from now on may.
  void hand_on_until(u64 picoseconds) {
    for (; !frames_.empty() && frames_.begin()->first.first < picoseconds;
         frames_.erase(frames_.begin()))
      sink_(frames_.begin()->first.first, frames_.begin()->second);
  }
  std::size_t waiting() const { return frames_.size(); }

 private:
  Sink sink_;
  std::multimap<std::pair<u64, u8>, std::vector<u8>> frames_;  // by time and sender
};

// Writes every frame as it reaches the far port. A chip runs ahead of the kernel, so frames wait
// until no earlier one can come: none reaches a port before the kernel's time. It taps the wire for
// as long as that exists.
class WireCapture {
 public:
  WireCapture(const std::string& path, tlm_::Wire& wire, proto::LinkLayer link);
  void close();

 private:
  CaptureWriter writer_;
  FramesByTime frames_;
};
}  // namespace hca::testbench
