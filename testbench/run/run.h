// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/histogram.h"
#include "testbench/run/run_digest.h"
#include "testbench/testbed/testbed.h"
#include "testbench/trace/breakdown.h"
#include "testbench/workload/workload.h"

namespace hca::testbench {
struct BandwidthResult {
  u64 messages = 0, picoseconds = 0;        // sent
  u64 lost_on_the_way = 0, duplicates = 0;  // for an unreliable service
  double gigabits_per_second(u32 bytes) const {
    return double(messages) * bytes * 8e3 / double(picoseconds);
  }
  double million_messages_per_second() const {
    return double(messages) * 1e6 / double(picoseconds);
  }
};
struct LatencyResult {
  engine::Histogram picoseconds;  // half a round trip; READ and ATOMIC: from post to post
};
// One row of the table: the results of an operation and a size between two ports.
struct SizeResult {
  Operation operation{};
  Ends ends = ends_in_pair(0);
  u32 bytes = 0;
  std::optional<BandwidthResult> bandwidth;
  std::optional<LatencyResult> latency;
};
// A stream beyond perftest's scope: several queue pairs, a mix, an open loop, or not alone.
struct StreamResult {
  std::size_t entry = 0;  // index in the workload list
  bool backward = false;  // from the server
  std::string what;
  Ends ends = ends_in_pair(0);
  u32 qps = 1;
  u64 messages = 0, bytes = 0, picoseconds = 0;
  u64 planned_bits_per_second = 0, planned_messages_per_second = 0;  // 0: closed loop
  u64 dropped = 0, queued_most = 0;
  u64 lost_on_the_way = 0, duplicates = 0;  // for an unreliable service
  std::vector<u64> qp_picoseconds;          // from the first post to the last completion of each
  engine::Histogram latency;  // ps, from the post or the planned time to the completion
  // Of requests: their parts, as kTripPartNames has them; otherwise empty.
  std::vector<engine::Histogram> trip;
  double gigabits_per_second() const { return double(bytes) * 8e3 / double(picoseconds); }
  double million_messages_per_second() const {
    return double(messages) * 1e6 / double(picoseconds);
  }
  // The rate of the slowest queue pair divided by that of the fastest: 1 is fair.
  double fairness() const;
};
// A fault on the wire of a port.
struct WireFault {
  NodePort sender;
  tlm_::FaultRecord record;
};
struct CounterValue {
  std::string name;  // "hca0.requester.packets"
  u64 value;
};

struct RunResult {
  std::vector<SizeResult> sizes;
  std::vector<StreamResult> streams;
  std::vector<Breakdown> breakdowns;
  std::vector<CounterValue> counters;
  std::vector<std::string> failures;       // empty: the run succeeded
  std::vector<WireFault> faults;           // in the order of time
  std::vector<tlm_::FaultUse> fault_uses;  // for each entry of the scenario's list
  u64 messages = 0, bytes_checked = 0, frames = 0;
  // messages of an unreliable service that did not arrive, or arrived twice
  u64 lost = 0, duplicates = 0;
  std::optional<u64> hash;  // of all events, if requested
  u64 picoseconds = 0;      // simulated
  u64 failed_at = 0;        // ps, when the first failure was detected; 0: none
  double seconds = 0;       // real time
};

// Progress, reported now and then. `done`: of the whole run, 0 to 1.
struct ProgressState {
  std::string what;
  double done = 0, seconds = 0;
  u64 picoseconds = 0;
};
using ProgressSink = std::function<void(const ProgressState&)>;

// Runs all workloads of a scenario in sequence on one testbed; ends at the first failure.
class Runner {
 public:
  Runner(const Scenario& scenario, ProgressSink progress);
  Runner(const Runner&) = delete;
  Testbed& testbed() { return testbed_; }
  // Called when a part of the run begins and when it ends; not for breakdowns.
  std::function<void(const std::string& what, bool begins)> phase;
  RunResult run();

 private:
  struct Stream;
  // A part of the run while it lasts.
  struct PhaseGuard {
    explicit PhaseGuard(Runner& r) : runner(r) {
      r.testbed_.meet();
      tell(true);
    }
    ~PhaseGuard() { tell(false); }
    PhaseGuard(const PhaseGuard&) = delete;
    void tell(bool begins) const {
      if (runner.phase) runner.phase(runner.what_, begins);
    }
    Runner& runner;
  };
  // With the bytes that its messages have by `run.payload`.
  Traffic as_held(Traffic traffic) const;
  void run_group(const std::vector<Member>& group);
  void run_streams(const std::vector<Member>& members, const std::vector<Traffic>& traffic);
  void keep_stream(const std::vector<const Stream*>& threads);
  void run_breakdowns();
  void measured_nothing();
  void run_breakdown(const WorkloadConfig& workload, u32 bytes);
  void run_latency(const WorkloadConfig& workload, const Traffic& traffic);
  // Simulates until both programs have finished or one has failed; false: stuck or failed.
  // `programs`: for each node, one per core.
  using Programs = std::vector<std::vector<Program*>>;
  Programs programs_of(const BundleKey& bundle, Program& client, Program& server) const;
  bool simulate(const Programs& programs, const std::function<u64()>& count,
                const std::function<bool()>& lose = {});
  // Waits until the writes of ATOMICs are in memory.
  void advance(const sc_core::sc_time& by);
  void wait_for_writes();
  void keep(std::initializer_list<const Checker*> checkers);
  void keep_counters();
  void keep_wires();
  void report(u64 messages);  // about the current part
  SizeResult& row(const WorkloadConfig& workload, u32 bytes);

  const Scenario scenario_;
  ProgressSink progress_;
  Testbed testbed_;
  std::vector<RunDigest> digests_;  // by node
  RunResult result_;
  std::string what_;
  double weight_done_ = 0, weight_now_ = 0, weight_all_ = 0;
  u64 messages_now_ = 0;
  double started_ = 0;
};
}  // namespace hca::testbench
