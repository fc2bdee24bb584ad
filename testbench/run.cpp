// SPDX-License-Identifier: Apache-2.0
#include "testbench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "testbench/workload_pingpong.h"
#include "testbench/workload_stream.h"

namespace hca::testbench {
namespace {
constexpr u64 kBufferBudget = 16 << 20;     // bytes in flight of one stream
constexpr u64 kAutomaticBudget = 24 << 20;  // bytes of one size when `messages` is 0
constexpr u64 kAutomaticStream = 5000, kAutomaticPingPong = 10'001, kAutomaticLeast = 32;
constexpr u32 kReceiveDepth = 512;
constexpr double kSlicesOfPatience = 500'000;  // without a message: 5 s of simulated time

sc_core::sc_time slice() { return {10, sc_core::SC_US}; }
sc_core::sc_time head_start() { return {2, sc_core::SC_US}; }

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
u64 now_picoseconds() {
  return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}

u64 messages_of(const WorkloadConfig& w, u32 bytes) {
  if (w.messages) return w.messages;
  const u64 most = w.test == Test::Bandwidth ? kAutomaticStream : kAutomaticPingPong;
  return std::clamp(kAutomaticBudget / bytes, kAutomaticLeast, most);
}
// What a message costs to simulate, roughly: its packets and itself.
double weight_of(const WorkloadConfig& w, u32 bytes, PathMtu mtu) {
  const double each = 1.5 + double(bytes) / bytes_of_mtu(mtu);
  return double(messages_of(w, bytes)) * each * (w.test == Test::Latency ? 2 : 1);
}
template <class Fn>
void for_each_size(const WorkloadConfig& w, Fn&& fn) {
  for (u64 bytes = w.from; bytes <= w.to; bytes *= 2) fn(u32(bytes));
}
}  // namespace

Traffic traffic_of(const WorkloadConfig& w, u32 bytes, u64 seed) {
  Traffic t;
  t.operation = w.operation, t.bytes = bytes, t.seed = seed;
  t.messages = messages_of(w, bytes);
  t.depth = u32(std::clamp<u64>(kBufferBudget / slot_bytes(bytes), 1, w.depth));
  if (w.test == Test::Latency) t.depth = 1;
  t.receive_depth = std::max(2 * t.depth, std::min(kReceiveDepth, 8 * t.depth));
  // Each stream ends with a completion, and no queue is full without one.
  t.signal_every = w.test == Test::Latency ? 1 : std::min(w.signal_every, (t.depth + 1) / 2);
  t.inline_below = w.inline_below, t.push = w.push;
  return t;
}

Need need_of(const Scenario& scenario) {
  Need need;
  for (const WorkloadConfig& w : scenario.workload)
    for_each_size(w, [&](u32 bytes) {
      const Traffic t = traffic_of(w, bytes, 0);
      need.buffer_bytes = std::max(need.buffer_bytes, t.receive_depth * slot_bytes(bytes));
      need.send_wqes = std::max(need.send_wqes, t.depth);
      need.receive_wqes = std::max(need.receive_wqes, t.receive_depth);
      if (w.inline_below) need.inline_bytes = std::max(need.inline_bytes, w.inline_below - 1);
    });
  return need;
}

Runner::Runner(const Scenario& scenario, ProgressSink progress)
    : scenario_(scenario), progress_(std::move(progress)), testbed_(scenario) {
  for (const WorkloadConfig& w : scenario_.workload)
    for_each_size(
        w, [&](u32 bytes) { weight_all_ += weight_of(w, bytes, scenario_.connection.path_mtu); });
}

RunResult Runner::run() {
  started_ = wall_seconds();
  if (scenario_.run.hash)
    for (unsigned i = 0; i < kChips; ++i) testbed_.node(i).hca.probes().attach(digests_[i]);
  testbed_.connect();
  for (const WorkloadConfig& workload : scenario_.workload)
    if (result_.failures.empty()) run(workload);
  if (result_.failures.empty() && scenario_.faults.empty()) run_breakdowns();
  if (scenario_.run.hash) result_.hash = digests_[0].value() ^ std::rotl(digests_[1].value(), 1);
  result_.faults = testbed_.wire().faults().records();
  result_.frames = testbed_.wire().frames(0) + testbed_.wire().frames(1);
  result_.picoseconds = now_picoseconds();
  result_.seconds = wall_seconds() - started_;
  return std::move(result_);
}

// The smallest and the largest message of each operation, alone on the wire.
void Runner::run_breakdowns() {
  for (const Operation operation : {Operation::Write, Operation::Send}) {
    const WorkloadConfig *smallest = nullptr, *largest = nullptr;
    for (const WorkloadConfig& w : scenario_.workload) {
      if (w.operation != operation) continue;
      if (!smallest || w.from < smallest->from) smallest = &w;
      if (!largest || w.to > largest->to) largest = &w;
    }
    if (!smallest) continue;
    run_breakdown(*smallest, u32(smallest->from));
    u64 bytes = largest->from;
    while (bytes * 2 <= largest->to) bytes *= 2;
    if (bytes != smallest->from) run_breakdown(*largest, u32(bytes));
  }
}

void Runner::run_breakdown(const WorkloadConfig& workload, u32 bytes) {
  if (!result_.failures.empty()) return;
  what_ = fmt::format("{} breakdown, {} B", kOperationNames[unsigned(workload.operation)], bytes);
  WorkloadConfig one = workload;
  one.messages = 1;
  const Traffic traffic = traffic_of(one, bytes, scenario_.run.seed);
  StreamReceiver server(testbed_.end(1), traffic);
  StreamSender client(testbed_.end(0), traffic);
  sc_core::sc_start(head_start());  // what came before is over, and is not recorded
  BreakdownRecorder recorder(testbed_);
  const bool good = simulate(client, server, [&] { return client.completed(); });
  keep({&client.checker, &server.checker});
  if (!good) return;
  Breakdown breakdown{workload.operation, bytes, recorder.parts(),
                      client.last_completion() - client.first_post()};
  if (breakdown.sum() != breakdown.whole)
    result_.failures.push_back(fmt::format("{}: the parts are {} cycles, the whole is {}", what_,
                                           breakdown.sum(), breakdown.whole));
  result_.breakdowns.push_back(std::move(breakdown));
}

void Runner::run(const WorkloadConfig& workload) {
  for_each_size(workload, [&](u32 bytes) {
    if (!result_.failures.empty()) return;
    what_ = fmt::format("{} {}, {} B", kOperationNames[unsigned(workload.operation)],
                        kTestNames[unsigned(workload.test)], bytes);
    weight_now_ = weight_of(workload, bytes, scenario_.connection.path_mtu);
    const Traffic traffic =
        traffic_of(workload, bytes, scenario_.run.seed + 1000 * result_.sizes.size() + bytes);
    if (workload.test == Test::Bandwidth)
      run_bandwidth(workload, traffic);
    else
      run_latency(workload, traffic);
    weight_done_ += weight_now_;
  });
}

void Runner::run_bandwidth(const WorkloadConfig& workload, const Traffic& traffic) {
  StreamReceiver server(testbed_.end(1), traffic);
  StreamSender client(testbed_.end(0), traffic);
  const bool good = simulate(client, server, [&] { return client.completed(); });
  keep({&client.checker, &server.checker});
  if (!good) return;
  const u64 period = testbed_.node(0).hca.period().value();
  row(workload.operation, traffic.bytes).bandwidth =
      BandwidthResult{traffic.messages, (client.last_completion() - client.first_post()) * period};
}

void Runner::run_latency(const WorkloadConfig& workload, const Traffic& traffic) {
  PingPong server(testbed_.end(1), traffic, Way::ToClient);
  PingPong client(testbed_.end(0), traffic, Way::ToServer);
  const bool good = simulate(client, server, [&] { return client.completed(); });
  keep({&client.checker_received, &server.checker_received, &client.checker_sent,
        &server.checker_sent});
  if (!good) return;
  LatencyResult latency;
  const u64 period = testbed_.node(0).hca.period().value();
  for (std::size_t i = 1; i < client.posts().size(); ++i)
    latency.picoseconds.add((client.posts()[i] - client.posts()[i - 1]) * period / 2);
  row(workload.operation, traffic.bytes).latency = std::move(latency);
}

bool Runner::simulate(Program& client, Program& server, const std::function<u64()>& count) {
  sc_core::sc_start(head_start());  // the receive WQEs are there before the first message
  testbed_.node(1).run(&server);
  testbed_.node(0).run(&client);
  u64 last = count(), slices_without = 0;
  std::string stuck;
  const auto finished = [&](unsigned i) {
    return testbed_.node(i).is_past(testbed_.node(i).cpu.finished_at());
  };
  while (!(finished(0) && finished(1)) && stuck.empty()) {
    if (client.failed() || server.failed()) break;
    sc_core::sc_start(slice());
    const u64 counted = count();
    slices_without = counted == last ? slices_without + 1 : 0;
    last = counted;
    report();
    if (slices_without > 2 && testbed_.is_asleep())
      stuck = "stands still";
    else if (slices_without > kSlicesOfPatience)
      stuck = "made no progress in 5 s of simulated time";
  }
  for (unsigned i = 0; i < kChips; ++i) testbed_.node(i).run(nullptr);
  if (stuck.empty()) return !client.failed() && !server.failed();
  result_.failures.push_back(fmt::format("{}: {} after {} messages, at {:.3f} us\n{}", what_, stuck,
                                         last, double(now_picoseconds()) * 1e-6,
                                         testbed_.stuck_report()));
  return false;
}

void Runner::keep(std::initializer_list<const Checker*> checkers) {
  for (const Checker* checker : checkers) {
    for (const std::string& failure : checker->failures())
      result_.failures.push_back(what_ + ": " + failure);
    result_.messages += checker->messages();
    result_.bytes_checked += checker->bytes();
  }
}

SizeResult& Runner::row(Operation operation, u32 bytes) {
  for (SizeResult& size : result_.sizes)
    if (size.operation == operation && size.bytes == bytes) return size;
  result_.sizes.push_back({operation, bytes, {}, {}});
  return result_.sizes.back();
}

void Runner::report() {
  if (progress_)
    progress_({what_, weight_done_ / weight_all_, wall_seconds() - started_, now_picoseconds()});
}
}  // namespace hca::testbench
