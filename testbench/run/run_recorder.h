// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "testbench/run/run_limits.h"
#include "testbench/trace/message_stats.h"
#include "testbench/trace/packet_ladder.h"
#include "testbench/trace/time_series.h"

namespace hca::testbench {
// What a run with --out tells of itself over time: what is completed, what links, PCIe and cores
// are busy with, how full the queues in front of each block are, and the first frames of each queue
// pair. Of a metered scenario. It listens and changes nothing.
class RunRecorder {
 public:
  explicit RunRecorder(Testbed& testbed);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;

  // A part of the run begins or ends; between parts nothing is recorded.
  void phase(const std::string& what, bool begins);
  const TimeSeries& series() const { return series_; }
  // {"width_ps", "series", "phases", "ladders"}: for summary.json and the report.
  nlohmann::json json() const;
  // Of each message whose completion is taken in a part of the run.
  MessageLog::Sink message_sink;
  // "Bottleneck, WRITE bandwidth, 64 B: hca0 link transmit: 98 % busy (port.link_rate)", and the
  // second if it is as near: of each part of the run, neighbours with the same first one together.
  std::string bottleneck_lines() const;
  // What could not go on, for how much of the time and for want of what, in the part of the run in
  // which anything is busiest: the most.
  std::string stalls_line() const;
  // A line a part of the run, block and cause: cycles and share of the time.
  std::string stalls_csv() const;

 private:
  static constexpr std::size_t kNoResource = ~std::size_t{0};
  // Something that is busy or not, or of which so many can be.
  struct Resource {
    std::string name, kind, knob;
    double of = 1;  // how many
    std::size_t column = 0;
    double busy = 0;  // picoseconds, in this part of the run
  };
  // Cycles in which a block, or PCIe, could not go on; of queue pairs those of all.
  struct Stall {
    unsigned chip;
    std::string block, cause;
    const u64* cycles;
    std::size_t column;
    u64 begun = 0, seen = 0;  // when this part of the run began, at the last look
    const WaitRow* row = nullptr;
  };
  struct Stalled {
    std::string block, cause;
    u64 cycles;
    double share;
  };
  struct Phase {
    std::string what;
    u64 from, to, messages = 0, bytes = 0;
    std::vector<Use> uses{};  // by share, the largest first
    // Share of the time with work in front of each block, the largest first.
    std::vector<Use> blocks{};
    std::vector<Use> limits{};      // the nearest first
    std::vector<Stalled> stalls{};  // by share
    MessageStats times{};
  };
  struct Core : HostMeter {
    RunRecorder* recorder = nullptr;
    unsigned chip = 0;
    std::size_t bytes = 0, messages = 0, work = 0, interrupts = kNoResource;
    HostCosts costs{};  // before this part of the run
    // In this part of the run: programs in a closed loop, and how long they could not post, ps.
    std::map<const void*, u64> programs;
    std::map<const void*, Offer> open_loops;
    void worked(Cycle at, Cycle cycles) override;
    void wakes(Cycle at, Cycle cycles) override;
    void completed(Cycle at, u32 qpn, u64 bytes, Cycle unlocked) override;
    void was_full(const void* program, Cycle since, Cycle until) override;
    void offers(const void* program, const Offer& offer) override;
  };
  // The levels in front of the blocks of a chip, and what passes them.
  struct Chip : engine::ProbeSink {
    RunRecorder* recorder = nullptr;
    engine::Domain* domain = nullptr;
    u64 period = 0;
    Cycle seen = 0;
    std::vector<std::size_t> level_columns, block_columns,
        blocks;  // by watched, by block, of watched
    std::vector<u64> levels;
    std::vector<std::size_t> resources;  // by watched: of misses of a cache; kNoResource
    std::vector<u64> work;               // by block
    std::vector<std::string> names;      // by block
    std::vector<u64> waited;  // by block: time with work in front of it in this part of the run, ps
    struct Engine {
      const blocks::Engines* engines;
      unsigned index;
      std::size_t resource;
      Cycle worked = 0;  // until the last look
    };
    std::vector<Engine> engines;
    // A block that takes an item every `interval` cycles at most, in one direction of a link.
    struct Pace {
      u16 block, kind;  // of the event that it leaves with each
      Cycle interval;
      std::size_t resource;
      u64 items = 0;  // since the last look
    };
    std::vector<Pace> paces;
    // What is counted where it happens, and takes so many cycles each.
    struct Counted {
      const u64* count;
      Cycle each;
      std::size_t resource;
      u64 seen = 0;
    };
    std::vector<Counted> counted;
    // Of the parts of PCIe: cycles in which one or more TLPs waited for it, up to the second.
    std::array<u64, std::size_t(tlm_::PciePart::Count)> pcie_waits{}, pcie_until{};
    std::vector<bool> qps;  // by number: of a message in this part of the run
    std::size_t atomics = kNoResource;
    const blocks::RequesterCounters* requester = nullptr;
    blocks::RequesterCounters begun{};  // when this part of the run began
    // Of each port: frames dropped for want of room, and the same of all when this part began.
    std::vector<const u64*> no_room;
    u64 no_room_begun = 0;
    u64 dropped_for_room() const;
    void event(const engine::Event& event) override;
  };
  static constexpr Cycle kEach = 16;                   // cycles between two looks at the levels
  static constexpr std::size_t kMostMessages = 32768;  // to look at, of all parts of the run

  std::size_t add_resource(std::string group, std::string name, std::string kind, double of,
                           std::string knob = "");
  void begin_by(u64 picoseconds);
  void use(std::size_t resource, u64 from, u64 to, double amount);
  void add_core(unsigned chip);
  void add_pcie(unsigned chip);
  void add_levels(unsigned chip);
  void add_engines(unsigned chip);
  void add_paces(unsigned chip);
  void add_wire(unsigned wire);
  void add_slow_core(unsigned wire, unsigned end);
  u64 beats_of(unsigned chip, std::size_t bytes) const;
  bool may_be_slow(unsigned wire, unsigned end) const;
  void look(Chip& chip, Cycle at);
  // run_recorder_stalls.cpp
  void add_counted(unsigned chip);
  void add_registers(unsigned chip);
  void add_stalls(unsigned chip);
  void add_stall(unsigned chip, const std::string& block, std::string cause, const u64* cycles,
                 std::string_view counter = "");
  void look_at_stalls(const Chip& chip, u64 to);
  void begin_stalls();
  long waiting(unsigned chip, WaitOf of) const;
  long queue_pairs_to(unsigned chip) const;
  static void add_wait(Phase& phase, std::string name, const WaitRow& row, double share);
  void end_stalls(Phase& phase);
  bool holds_up_peer(unsigned chip, const std::vector<Use>& uses) const;
  std::vector<Use> may_limit(const Phase& phase) const;
  void end_depth(Phase& phase);
  void add_load(const Phase& phase, std::vector<Use>& uses) const;
  void end_atomics(Phase& phase);
  void end_losses(Phase& phase) const;
  std::string knobs_of_core(unsigned chip) const;
  const Phase* busiest() const;
  static std::string text_of(std::span<const Phase> parts);

  Testbed& testbed_;
  TimeSeries series_;
  PacketLadder ladder_;
  MessageLog log_;
  std::deque<Resource> resources_;
  std::vector<Core> cores_;  // by node
  std::vector<Chip> chips_;  // by node
  std::deque<Stall> stalls_;
  std::vector<Phase> phases_;
  bool recording_ = false, first_post_ = false;    // of this part: there was one
  u64 recording_since_ = 0, last_completion_ = 0;  // ps; 0: none yet
};
}  // namespace hca::testbench
