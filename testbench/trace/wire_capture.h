// SPDX-License-Identifier: Apache-2.0
// The frames of both ends of all wires as one capture, in the order of time.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "testbench/packets/pcapng_writer.h"
#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// Frames are added in any order and leave by the time of their first bit; at equal times the first
// source comes first, so that the order does not depend on the order of execution.
class FramesByTime {
 public:
  using Sink = std::function<void(u64 picoseconds, u32 source, std::span<const u8> frame)>;
  explicit FramesByTime(Sink sink) : sink_(std::move(sink)) {}
  void add(u64 picoseconds, u32 source, std::span<const u8> frame) {
    frames_.emplace(std::pair(picoseconds, source), std::vector<u8>(frame.begin(), frame.end()));
  }
  // Passes on all frames before `picoseconds`; none may be added before that time afterwards.
  void hand_on_until(u64 picoseconds) {
    for (; !frames_.empty() && frames_.begin()->first.first < picoseconds;
         frames_.erase(frames_.begin()))
      sink_(frames_.begin()->first.first, frames_.begin()->first.second, frames_.begin()->second);
  }
  std::size_t waiting() const { return frames_.size(); }

 private:
  Sink sink_;
  std::multimap<std::pair<u64, u32>, std::vector<u8>> frames_;  // by time and source
};

// Writes every frame as it reaches the far port. A chip runs ahead of the kernel, so frames wait
// until no earlier one can come: none reaches a port before the kernel's time. It taps the wires
// during its lifetime. One wire gives a pcap file, several a pcapng file with an interface each.
class WireCapture {
 public:
  WireCapture(const std::string& path, const std::vector<NamedWire>& wires, proto::LinkLayer link);
  // Including its suffix.
  static std::string name_of(std::size_t wires) { return wires == 1 ? "run.pcap" : "run.pcapng"; }
  // Writes everything known so far to the file. `idle`: nothing is in flight, so no earlier frame
  // can come.
  void flush(bool idle);
  void close();

 private:
  void write(u64 time_ns, u32 source, std::span<const u8> frame);
  std::optional<CaptureWriter> pcap_;
  std::optional<PcapngWriter> pcapng_;
  FramesByTime frames_;
};
}  // namespace hca::testbench
