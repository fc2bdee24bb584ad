// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/histogram.h"
#include "testbench/breakdown.h"

namespace hca::testbench {
struct BandwidthResult {
  u64 messages = 0, picoseconds = 0;
  double gigabits_per_second(u32 bytes) const {
    return double(messages) * bytes * 8e3 / double(picoseconds);
  }
  double million_messages_per_second() const {
    return double(messages) * 1e6 / double(picoseconds);
  }
};
struct LatencyResult {
  engine::Histogram picoseconds;  // half a round trip
};
// One row of the table: what is known of an operation at a size.
struct SizeResult {
  Operation operation{};
  u32 bytes = 0;
  std::optional<BandwidthResult> bandwidth;
  std::optional<LatencyResult> latency;
};

struct RunResult {
  std::vector<SizeResult> sizes;
  std::vector<Breakdown> breakdowns;
  std::vector<std::string> failures;  // empty: all that was asked for succeeded
  std::vector<tlm_::FaultRecord> faults;
  u64 messages = 0, bytes_checked = 0, frames = 0;
  std::optional<u64> hash;  // of all events, if it was asked for
  u64 picoseconds = 0;      // simulated
  double seconds = 0;       // of this machine
};

// Told every now and then. `done`: of the whole run, 0 to 1.
struct ProgressState {
  std::string what;
  double done = 0, seconds = 0;
  u64 picoseconds = 0;
};
using ProgressSink = std::function<void(const ProgressState&)>;

// Runs all workloads of a scenario one after the other on one testbed; ends with the first failure.
class Runner {
 public:
  Runner(const Scenario& scenario, ProgressSink progress);
  Runner(const Runner&) = delete;
  Testbed& testbed() { return testbed_; }
  RunResult run();

 private:
  void run(const WorkloadConfig& workload);
  void run_bandwidth(const WorkloadConfig& workload, const Traffic& traffic);
  void run_breakdowns();
  void run_breakdown(const WorkloadConfig& workload, u32 bytes);
  void run_latency(const WorkloadConfig& workload, const Traffic& traffic);
  // Simulates until both programs have finished or one has failed; false: stuck or failed.
  bool simulate(Program& client, Program& server, const std::function<u64()>& count);
  void keep(std::initializer_list<const Checker*> checkers);
  void report();
  SizeResult& row(Operation operation, u32 bytes);

  const Scenario scenario_;
  ProgressSink progress_;
  Testbed testbed_;
  std::array<engine::DigestSink, kChips> digests_;
  RunResult result_;
  std::string what_;
  double weight_done_ = 0, weight_now_ = 0, weight_all_ = 0;
  double started_ = 0;
};
}  // namespace hca::testbench
