// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbench/testbed/testbed.h"
#include "testbench/trace/by_time.h"
#include "testbench/trace/level_changes.h"
#include "testbench/trace/trace_flows.h"
#include "testbench/trace/trace_stays.h"

namespace hca::testbench {
// The run as a timeline in the Chrome trace format (JSON), for Perfetto and Chromium's
// about:tracing. A chip is a process, a block a track in it, "port, arrived" a track beside "port".
// A slice is an item in the block, from the time when it left the block before to that when it
// passes this one's output (TraceStays). Items that are there at the same time have tracks of their
// own, "requester (2)". Where an item comes from nowhere the slice begins when it passes the
// output, and is as long as the block's interval, or lasts until the next item. The wires are a
// process with a track for each direction, where a slice is the time of a frame at the receiving
// port. Arrows follow the first packet of each message from its doorbell to its completion, from
// the begin of a slice to that of the next one. Queues and buffers with room for more than
// kPipeline items are counters. Times are whole nanoseconds. At most kMostItems slices and values
// of counters are written.
class ChromeTrace {
 public:
  static constexpr u64 kMostItems = 300'000;
  static constexpr unsigned kPipeline = 2;    // a link with less room only connects two blocks
  static constexpr unsigned kMostLanes = 32;  // tracks of a block
  ChromeTrace(const std::string& path, Testbed& testbed);
  ~ChromeTrace();
  ChromeTrace(const ChromeTrace&) = delete;
  void close();
  // If the trace was cut: when its last item is, ps; 0: the trace is complete.
  u64 cut_at() const { return items_written_ < kMostItems ? 0 : last_; }

 private:
  struct Item {
    unsigned process;  // a node, or the process of the wires
    engine::Event event;
    u64 picoseconds = 0;        // duration
    bool is_request = false;    // a frame
    std::string_view opcode{};  // of a frame
    // The value of a counter: its place in the list of the chip's domain. The value is event.c.
    std::optional<std::size_t> watched{};
  };
  struct Sink : engine::ProbeSink {
    ChromeTrace* trace = nullptr;
    unsigned chip = 0;
    void event(const engine::Event& event) override { trace->take(chip, event); }
  };
  // The slices of a block, or of a direction of a wire.
  struct Track {
    // One whose end is known only when the next one begins.
    bool open = false;
    unsigned lane = 0;
    u64 from = 0, to = 0;      // ns
    std::string rest{};        // remainder of its line
    std::vector<u64> lanes{};  // the end of the last slice of each, ns
  };
  using TrackId = std::pair<unsigned, unsigned>;       // process, first thread
  unsigned wires() const { return testbed_.nodes(); }  // the process of all wires

  void take(unsigned chip, const engine::Event& event);
  void frame(unsigned wire, u8 sender, u64 picoseconds, const proto::FrameView& bytes);
  void write(u64 picoseconds, const Item& item);
  void write_counter(u64 picoseconds, const Item& item);
  void hand_on();
  u64 place(const TrackId& id, Track& track, const Item& item, u64 since, u64 at);
  void slice(unsigned process, unsigned thread, u64 from, u64 to, const std::string& rest);
  void end(const TrackId& id, Track& track, u64 at);
  void line(const std::string& json);
  void name_thread(const TrackId& id, unsigned lane, const Item& item);
  std::string track_name(const Item& item) const;

  std::string path_;
  std::ofstream file_;
  Testbed& testbed_;
  std::vector<Sink> sinks_;                              // by node
  std::map<std::string, Cycle, std::less<>> intervals_;  // by block
  ByTime<Item> items_;
  TraceFlows flows_;
  TraceStays stays_;
  std::map<TrackId, Track> tracks_;
  std::vector<std::vector<std::string>> counters_;  // names by node and watched object; "": none
  unsigned lane_ = 0;                               // of the slice that was placed last
  bool empty_ = true;                               // no line has been written
  u64 items_written_ = 0, slices_ = 0, last_ = 0;
  LevelChanges levels_;
};
}  // namespace hca::testbench
