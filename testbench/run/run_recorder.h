// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/run/buffer_peaks.h"
#include "testbench/run/run_limits.h"
#include "testbench/run/sample_times.h"
#include "testbench/trace/by_time.h"
#include "testbench/trace/message_stats.h"
#include "testbench/trace/packet_ladder.h"
#include "testbench/trace/time_series.h"

namespace hca::testbench {
// Records a run with --out over time, for a metered scenario: completions, use of links, PCIe and
// cores, fill levels of the queues before each block, and the first frames of each queue pair. It
// only observes.
class RunRecorder {
 public:
  explicit RunRecorder(Testbed& testbed);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;

  // A part of the run begins or ends; nothing is recorded between parts.
  void phase(const std::string& what, bool begins);
  const TimeSeries& series() const { return series_; }
  // {"width_ps", "series", "phases", "peaks", "ladders"}: for summary.json and the report.
  nlohmann::json json() const;
  // Called for each message whose completion is taken in a part of the run.
  MessageLog::Sink message_sink;
  // "Bottleneck, WRITE bandwidth, 64 B: hca0 link transmit: 98 % busy (port.link_rate)", with the
  // second if it is equally near. One line for each part of the run; neighbours with the same first
  // one are merged.
  std::string bottleneck_lines() const;
  // What a part of the run achieved, and what may have limited it.
  struct PartFigures {
    std::string what;
    double messages_per_second = 0, median_seconds = 0;
    std::vector<Use> limits;  // the nearest first
    std::vector<Use> uses;    // what may limit, by share
  };
  std::vector<PartFigures> figures() const;
  // The largest stall: the block, its share of time and the missing resource, in the part of the
  // run with the busiest resource.
  std::string stalls_line() const;
  // The buffers that were full at some time; empty: none.
  std::string peaks_line() const { return peaks_.line(); }
  // One line for each part of the run, block and cause: cycles and share of time.
  std::string stalls_csv() const;

 private:
  static constexpr std::size_t kNoResource = ~std::size_t{0};
  // A resource that is busy or idle, or of which a number can be in use.
  struct Resource {
    std::size_t column = 0;
    double busy = 0;  // in this part of the run, in units of its use
    double of = 1;    // the number
    std::string name, kind, knob;
    double each = 1;  // picoseconds that a unit takes: whole units add up exactly
    double picoseconds() const { return busy * each; }
  };
  // Cycles in which a block, or PCIe, was stalled; for queue pairs the sum of all.
  struct Stall {
    unsigned chip;
    std::string block, cause;
    const u64* cycles;
    std::size_t column;
    u64 begun = 0;  // count at the beginning of this part of the run
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
    // Share of time with work waiting before each block, the largest first.
    std::vector<Use> blocks{};
    std::vector<Use> limits{};      // the nearest first
    std::vector<Use> may_limit{};   // what these were chosen from, by share
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
    std::vector<u64> busy;  // of each core in this part of the run, ps
    void worked(Cycle at, Cycle cycles, u32 core) override;
    void wakes(Cycle at, Cycle cycles) override;
    void completed(const TakenMessage& message) override;
    void was_full(const void* program, Cycle since, Cycle until) override;
    void offers(const void* program, const Offer& offer) override;
  };
  // The use of a chip's PCIe, by part: its resource, and the cycles in which one or more TLPs
  // waited for it, counted up to `waited_until`.
  struct Pcie final : tlm_::PcieMeter {
    RunRecorder* recorder = nullptr;
    unsigned chip = 0;
    u64 period = 0;
    std::array<std::size_t, tlm_::kPcieParts.size()> resources{};
    std::array<u64, tlm_::kPcieParts.size()> waited{}, waited_until{};
    void use(tlm_::PciePart part, Cycle from, Cycle to, u64 amount) override;
    void waits(tlm_::PciePart part, Cycle from, Cycle to) override;
    tlm_::PcieWindow window(Cycle at) override;  // a bucket of the series
  };
  // The levels before the blocks of a chip, and the events of items that pass them.
  struct Chip : engine::ProbeSink {
    RunRecorder* recorder = nullptr;
    engine::Domain* domain = nullptr;
    u64 period = 0;
    SampleTimes samples{1};
    Cycle held_until = 0;   // a sample, or the begin of this part of the run
    u64 counted_until = 0;  // ps: the end of a bucket, or the begin of this part of the run
    std::vector<std::size_t> level_columns, block_columns,
        blocks;  // by watched, by block, of watched
    std::vector<u64> levels;
    // Since counted_until: the level times the cycles that it held, by watched object; and by block
    // the cycles with waiting work.
    std::vector<u64> held, worked;
    struct Change {
      Cycle at;
      std::size_t watched;
      int by;
    };
    std::vector<Change> changes;             // of the levels between two samples
    std::vector<engine::LevelChange> found;  // of one of them
    // by watched object: the resource of a cache's misses; kNoResource
    std::vector<std::size_t> resources;
    std::vector<u64> work;           // by block: 1 if an object of it holds something
    std::vector<std::string> names;  // by block
    std::vector<u64> waited;         // by block: time with waiting work in this part of the run, ps
    struct Engine {
      const blocks::Engines* engines;
      unsigned index;
      std::size_t resource;
      Cycle worked = 0;  // until counted_until
    };
    std::vector<Engine> engines;
    // A block that takes at most one item every `interval` cycles, in one direction of a link.
    struct Pace {
      u16 block, kind;  // of the event for each departing item
      Cycle interval;
      std::size_t resource;
      u64 items = 0;  // since counted_until
    };
    std::vector<Pace> paces;
    std::vector<u8> pace_of;  // by block and kind: one more than its place in `paces`; 0: none
    // A resource counted where it is used, with a fixed number of cycles per use.
    struct Counted {
      const u64* count;
      Cycle each;
      std::size_t resource;
      u64 seen = 0;
    };
    std::vector<Counted> counted;
    // A stall of this chip, and its count when it was looked at. One thing can wait for all of a
    // bucket; of queue pairs many can, so these are looked at with each sample.
    struct SampledStall {
      const u64* cycles;
      u64 seen;
      const Stall* of;
    };
    std::vector<SampledStall> stalls, queue_pair_stalls;
    Pcie pcie;
    std::vector<bool> qps;  // by number: had a message in this part of the run
    std::size_t atomics = kNoResource;
    const blocks::RequesterCounters* requester = nullptr;
    blocks::RequesterCounters begun{};  // at the beginning of this part of the run
    // For each port: frames dropped for lack of room; and their total at the beginning of this
    // part.
    std::vector<const u64*> no_room;
    u64 no_room_begun = 0;
    u64 dropped_for_room() const;
    void event(const engine::Event& event) override;
    bool wants(std::string_view block) const override;
  };
  // kept for display, over all parts of the run
  static constexpr std::size_t kMostMessages = 4096;
  static constexpr std::size_t kTakenEach =
      256;  // messages that wait are few: they stay in a cache

  std::size_t add_resource(std::string group, std::string name, std::string kind, double of,
                           std::string knob = "", double each = 1);
  void begin_by(u64 picoseconds);
  void use(std::size_t resource, u64 from, u64 to, double amount) {
    if (!recording_) return;
    resources_[resource].busy += amount;
    series_.add(resources_[resource].column, from, to, amount);
  }
  void add_core(unsigned chip);
  void add_throughput(unsigned chip, const TakenMessage& message, u64 picoseconds);
  std::size_t throughput_column(std::size_t group, const GroupedMessage& message);
  void add_pcie(unsigned chip);
  void add_levels(unsigned chip);
  void add_engines(unsigned chip);
  void add_paces(unsigned chip);
  void add_wire(unsigned wire);
  void add_slow_core(unsigned wire, unsigned end);
  u64 beats_of(unsigned chip, std::size_t bytes) const;
  bool may_be_slow(unsigned wire, unsigned end) const;
  void look(Chip& chip, Cycle at);
  void look(Chip& chip, Cycle at, Cycle to);
  void look_further(Chip& chip, Cycle to);
  static void find_levels(Chip& chip, Cycle at);
  void hold_levels(Chip& chip, Cycle sample) const;
  void pass_sample(Chip& chip);
  void part_of_bucket(Chip& chip, u64 to);
  void end_levels(Chip& chip, u64 from, u64 to);
  // run_recorder_stalls.cpp
  void add_counted(unsigned chip);
  void add_registers(unsigned chip);
  void add_stalls(unsigned chip);
  void add_stall(unsigned chip, const std::string& block, std::string cause, const u64* cycles,
                 std::string_view counter = "");
  void look_at_stalls(std::vector<Chip::SampledStall>& stalls, u64 period, u64 to);
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
  BufferPeaks peaks_;
  TimeSeries series_;
  PacketLadder ladder_;
  MessageLog log_;
  ByTime<MessageTimes> taken_;  // in the order of their completions, whichever chip runs first
  std::size_t since_hand_on_ = 0;
  struct Throughput {
    GroupPlaces places;
    std::vector<std::size_t> columns;  // by place
  };
  std::array<Throughput, kMessageGroups.size()> throughput_;
  // The last message that was completed, and its columns: many are like the one before.
  std::optional<GroupedMessage> last_completed_;
  std::array<std::size_t, kMessageGroups.size()> last_columns_{};
  std::vector<Resource> resources_;
  std::vector<Core> cores_;  // by node
  std::vector<Chip> chips_;  // by node
  std::deque<Stall> stalls_;
  std::vector<Phase> phases_;
  bool recording_ = false, first_post_ = false;    // first_post_: this part has had its first post
  u64 recording_since_ = 0, last_completion_ = 0;  // ps; 0: none yet
};
}  // namespace hca::testbench
