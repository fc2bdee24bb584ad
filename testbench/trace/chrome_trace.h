// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"
#include "testbench/trace/trace_flows.h"

namespace hca::testbench {
// The run as a timeline in the Chrome trace format (JSON), for Perfetto and Chromium's
// about:tracing. A chip is a process, a block a track in it, "port, arrived" a track beside "port".
// A slice means that an item passed the block's output; it is as long as the block's interval, or
// lasts until the next item. The wires are a process with a track for each direction, where a slice
// is the time of a frame at the receiving port. Arrows follow the first packet of each message from
// its doorbell to its completion. Times are whole nanoseconds. At most kMostSlices slices are
// written.
class ChromeTrace {
 public:
  static constexpr u64 kMostSlices = 300'000;
  ChromeTrace(const std::string& path, Testbed& testbed);
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  void close();
  // If the trace was cut: when its last slice begins, ps; 0: the trace is complete.
  u64 cut_at() const { return slices_ < kMostSlices ? 0 : last_; }

 private:
  struct Item {
    unsigned process;  // a node, or the process of the wires
    engine::Event event;
    u64 picoseconds = 0;        // duration
    bool is_request = false;    // a frame
    std::string_view opcode{};  // of a frame
  };
  struct Sink : engine::ProbeSink {
    ChromeTrace* trace = nullptr;
    unsigned chip = 0;
    void event(const engine::Event& event) override { trace->take(chip, event); }
  };
  // A slice whose end is known only when the next one begins.
  struct Track {
    bool open = false;
    u64 from = 0, to = 0;  // ns
    std::string rest;      // remainder of its line
  };
  using TrackId = std::pair<unsigned, unsigned>;
  unsigned wires() const { return testbed_.nodes(); }  // the process of all wires

  void take(unsigned chip, const engine::Event& event);
  void frame(unsigned wire, u8 sender, u64 picoseconds, std::span<const u8> bytes);
  void write(u64 picoseconds, const Item& item);
  void end(const TrackId& id, Track& track, u64 at);
  void line(const std::string& json);
  Track& track_of(const TrackId& id, const Item& item);
  std::string track_name(const Item& item) const;

  std::string path_;
  std::ofstream file_;
  Testbed& testbed_;
  std::vector<Sink> sinks_;                              // by node
  std::map<std::string, Cycle, std::less<>> intervals_;  // by block
  ByTime<Item> items_;
  TraceFlows flows_;
  std::map<TrackId, Track> tracks_;
  bool empty_ = true;  // no line has been written
  u64 slices_ = 0, last_ = 0;
  std::size_t since_flush_ = 0;
};
}  // namespace hca::testbench
