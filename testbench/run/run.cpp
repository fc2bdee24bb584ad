// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>
#include <utility>

#include "model/blocks/chip.h"
#include "model/proto/transport/timeout.h"
#include "testbench/run/program_group.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/testbed/kernel_time.h"
#include "testbench/workload/workload_pingpong.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
namespace {
constexpr double kSlicesInSecond = 100'000;
sc_core::sc_time run_slice() { return {10, sc_core::SC_US}; }
sc_core::sc_time head_start() { return {2, sc_core::SC_US}; }

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The messages of one thread of an entry, in all its directions.
u64 messages_of(const WorkloadConfig& w, const Traffic& t) {
  return t.messages * (w.direction == Direction::Both ? 2 : 1);
}
// The cost of simulating them, roughly: their packets and themselves.
double weight_of(const WorkloadConfig& w, const Traffic& t, PathMtu mtu) {
  const double each = 1.5 + double(t.bytes) / bytes_of_mtu(mtu);
  return double(messages_of(w, t)) * each * (t.keep_posts ? 2 : 1);
}
// Seconds of simulated time that may pass without a message: more than the timers of all retries,
// the time between two messages of an open loop, and a service time.
double patience_of(const Scenario& s) {
  const double timers = 4e-9 * double(proto::ack_timeout_ns(u8(s.connection.timeout))) *
                        (s.connection.retry_count + 1);
  double gap = 0;
  for (const WorkloadConfig& w : s.workload) {
    const auto sizes = sizes_of(w);
    const double bits = 8.0 * *std::max_element(sizes.begin(), sizes.end());
    if (w.rate) gap = std::max(gap, bits / double(w.rate));
    if (w.message_rate) gap = std::max(gap, 1 / double(w.message_rate));
    gap = std::max(gap, double(w.serve_time) * 1e-12);
    for (const ServeTimeConfig& one : w.serve_times) gap = std::max(gap, double(one.time) * 1e-12);
  }
  constexpr double kUnevenly = 20;  // what comes at random may come so much later
  return 5 + timers + kUnevenly * gap;
}
template <class Fn>
void for_each_size(const WorkloadConfig& w, Fn&& fn) {
  for (const u32 bytes : sizes_of(w)) fn(bytes);
}
}  // namespace

Runner::Runner(const Scenario& scenario, ProgressSink progress)
    : scenario_(scenario),
      progress_(std::move(progress)),
      testbed_(scenario),
      digests_(scenario.nodes.size()) {
  for (const GivenKey& given : scenario.given)
    if (given.path.starts_with("fail"))
      throw ScenarioError({given.where + ": " + given.path +
                           ": is of programs that attach to `hca serve`; allowed: without it"});
  for (const auto& group : groups_of(scenario))
    for (const Member& member : group) {
      const WorkloadConfig& w = scenario_.workload[member.entry];
      for_each_size(w, [&](u32 bytes) {
        weight_all_ += weight_of(w,
                                 traffic_of(w, scenario_.qps_of(w), bytes, 0,
                                            scenario_.connection.service(), member.thread),
                                 scenario_.connection.path_mtu);
      });
    }
}

RunResult Runner::run() {
  started_ = wall_seconds();
  if (scenario_.run.hash)
    for (unsigned i = 0; i < digests_.size(); ++i)
      testbed_.node(i).hca.probes().attach(digests_[i]);
  testbed_.connect();
  for (const auto& group : groups_of(scenario_))
    if (result_.failures.empty()) run_group(group);
  // A breakdown follows a message to its acknowledgement.
  if (result_.failures.empty() && scenario_.faults.empty() &&
      proto::is_reliable(scenario_.connection.service()))
    run_breakdowns();
  if (scenario_.run.hash) {
    result_.hash = 0;
    for (std::size_t i = 0; i < digests_.size(); ++i)
      *result_.hash ^= std::rotl(digests_[i].value(), int(i % 64));
  }
  result_.picoseconds = kernel_picoseconds();
  testbed_.meet();
  keep_wires();
  keep_counters();
  if (!result_.failures.empty() && !result_.failed_at) result_.failed_at = result_.picoseconds;
  result_.seconds = wall_seconds() - started_;
  return std::move(result_);
}

// The smallest and the largest message of each operation, each without other traffic.
void Runner::run_breakdowns() {
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const WorkloadConfig *smallest = nullptr, *largest = nullptr;
    for (const WorkloadConfig& w : scenario_.workload) {
      if (w.is_mixed() || !w.sizes.empty() || w.operation != Operation(i)) continue;
      if (!smallest || w.from < smallest->from) smallest = &w;
      if (!largest || w.to > largest->to) largest = &w;
    }
    if (!smallest) continue;
    run_breakdown(*smallest, u32(smallest->from));
    const u32 bytes = sizes_of(*largest).back();
    if (bytes != smallest->from) run_breakdown(*largest, bytes);
  }
}

Traffic Runner::as_held(Traffic traffic) const {
  if (scenario_.run.payload == blocks::Payload::Timed) traffic.held = blocks::kTimedPayload;
  return traffic;
}

void Runner::run_breakdown(const WorkloadConfig& workload, u32 bytes) {
  if (!result_.failures.empty()) return;
  what_ = fmt::format("{} breakdown, {} B", name_of(workload.operation), bytes);
  WorkloadConfig one = workload;
  one.messages = 1;
  one.threads = 1;
  one.share_qps = false;
  one.response = 0;
  one.rate = one.message_rate = 0;
  const Traffic traffic =
      as_held(traffic_of(one, 1, bytes, scenario_.run.seed, scenario_.connection.service()));
  const BundleKey bundle = bundle_of(workload, 0);
  StreamReceiver server(testbed_.end(kServer, bundle), traffic);
  StreamSender client(testbed_.end(kClient, bundle), traffic);
  advance(head_start());  // what came before is over, and is not recorded
  std::optional<MessageTimes> times;
  MessageLog log(testbed_, [&](const MessageTimes& message) { times = message; });
  const bool good =
      simulate(programs_of(bundle, client, server), [&] { return client.completed(); });
  keep({&client.checker, &server.checker});
  if (!good) return;
  Breakdown breakdown{workload.operation, bundle.ends, bytes,
                      parts_of(times.value(), testbed_.end(kClient, bundle).period),
                      client.last_completion() - client.first_post()};
  if (breakdown.sum() != breakdown.whole)
    result_.failures.push_back(fmt::format("{}: the parts are {} cycles, the whole is {}", what_,
                                           breakdown.sum(), breakdown.whole));
  result_.breakdowns.push_back(std::move(breakdown));
}

// One entry, its sizes one after the other, or several with a size each, together.
void Runner::run_group(const std::vector<Member>& group) {
  const WorkloadConfig& first = scenario_.workload[group[0].entry];
  const bool alone = group.front().entry == group.back().entry;
  for_each_size(first, [&](u32 size) {
    if (!result_.failures.empty()) return;
    std::vector<Traffic> traffic;
    weight_now_ = 0;
    messages_now_ = 0;
    for (const Member& member : group) {
      const WorkloadConfig& w = scenario_.workload[member.entry];
      const u32 bytes = alone ? size : u32(w.to);
      const u64 seed =
          scenario_.run.seed + 1000 * (result_.sizes.size() + result_.streams.size()) + bytes;
      traffic.push_back(
          as_held(traffic_of(w, scenario_.qps_of(w), bytes, seed + 17 * traffic.size(),
                             scenario_.connection.service(), member.thread)));
      traffic.back().entry = u32(member.entry);
      if (member.thread) traffic.back().shared_seed = traffic[traffic.size() - 2].shared_seed;
      traffic.back().measure_from = scenario_.measure.from;
      traffic.back().measure_to = scenario_.measure.to;
      weight_now_ += weight_of(w, traffic.back(), scenario_.connection.path_mtu);
      messages_now_ += messages_of(w, traffic.back());
    }
    what_ = fmt::format("{} {}, {} B", traffic[0].mix.empty() ? name_of(first.operation) : "mix",
                        kTestNames[unsigned(first.test)], size);
    if (first.test == Test::Bandwidth)
      run_streams(group, traffic);
    else
      run_latency(first, traffic[0]);
    weight_done_ += std::exchange(weight_now_, 0);
  });
}

void Runner::run_latency(const WorkloadConfig& workload, const Traffic& traffic) {
  LatencyResult latency;
  const BundleKey bundle = bundle_of(workload, 0);
  const u64 period = testbed_.end(kClient, bundle).period;
  const auto add_posts = [&](const std::vector<Cycle>& posts, u64 parts) {
    for (std::size_t i = 1; i < posts.size(); ++i)
      if (traffic.measures((posts[i] - posts[0]) * period))
        latency.picoseconds.add((posts[i] - posts[i - 1]) * period / parts);
  };
  const PhaseGuard guard(*this);
  bool good;
  if (row_of(workload.operation).is_alone()) {
    StreamReceiver server(testbed_.end(kServer, bundle), traffic);
    StreamSender client(testbed_.end(kClient, bundle), traffic);
    good = simulate(programs_of(bundle, client, server), [&] { return client.completed(); });
    if (good && client.uses_atomics()) {
      wait_for_writes();
      client.check_end();
    }
    keep({&client.checker, &server.checker});
    add_posts(client.posts(), 1);
  } else {
    PingPong server(testbed_.end(kServer, bundle), traffic, Way::ToClient);
    PingPong client(testbed_.end(kClient, bundle), traffic, Way::ToServer);
    good = simulate(programs_of(bundle, client, server), [&] { return client.completed(); });
    keep({&client.checker_received, &server.checker_received, &client.checker_sent,
          &server.checker_sent});
    add_posts(client.posts(), 2);
  }
  if (good && !latency.picoseconds.count() && !scenario_.measure.is_whole())
    return measured_nothing();
  if (good) row(workload, traffic.bytes).latency = std::move(latency);
}

void Runner::measured_nothing() {
  const auto from = scenario_.measure.from, to = scenario_.measure.to;
  result_.failures.push_back(fmt::format(
      "{}: nothing completes in what is measured, from {:.3f} us{} on after its first post", what_,
      double(from) * 1e-6, to ? fmt::format(" to {:.3f} us", double(to) * 1e-6) : ""));
}

// The hash is of all that happens until then, however far a chip has run ahead of it.
void Runner::advance(const sc_core::sc_time& by) {
  const u64 end = (sc_core::sc_time_stamp() + by).value();
  for (unsigned i = 0; scenario_.run.hash && i < digests_.size(); ++i) {
    const u64 period = testbed_.node(i).hca.period().value();
    digests_[i].until((end + period - 1) / period);
  }
  run_quiet_for(by);
}

// A posted write takes its time on PCIe while the answer may already be back.
void Runner::wait_for_writes() {
  u64 latency = 0;
  for (const NodeConfig& node : scenario_.nodes) latency = std::max(latency, node.pcie.latency);
  advance(run_slice() + sc_core::sc_time(double(latency), sc_core::SC_PS));
  testbed_.meet();
}

Runner::Programs Runner::programs_of(const BundleKey& bundle, Program& client,
                                     Program& server) const {
  Programs programs(scenario_.nodes.size());
  programs[bundle.ends[kClient].node].push_back(&client);
  programs[bundle.ends[kServer].node].push_back(&server);
  return programs;
}

bool Runner::simulate(const Programs& programs, const std::function<u64()>& count,
                      const std::function<bool()>& lose) {
  advance(head_start());  // the receive WQEs are there before the first message
  for (unsigned i = testbed_.nodes(); i-- > 0;)
    for (u32 core = 0; core < programs[i].size(); ++core)
      testbed_.node(i).run(programs[i][core], core);
  const bool may_lose = !proto::is_reliable(scenario_.connection.service());
  u64 last = count(), slices_without = 0;
  std::string stuck;
  const auto finished = [&] {
    for (unsigned i = 0; i < programs.size(); ++i)
      for (u32 core = 0; core < programs[i].size(); ++core)
        if (!testbed_.node(i).is_past(testbed_.node(i).core(core).finished_at())) return false;
    return true;
  };
  const auto failed = [&] {
    for (const auto& of_chip : programs)
      for (const Program* program : of_chip)
        if (program->failed()) return true;
    return false;
  };
  // For an unreliable service nothing may arrive after the end: it would be assigned to the next
  // stream.
  const auto is_settled = [&] {
    return !may_lose || (testbed_.is_asleep() && !testbed_.release_held());
  };
  const auto is_over = [&] { return finished() && is_settled(); };
  const double patience = patience_of(scenario_);
  while (!is_over() && stuck.empty() && !failed()) {
    advance(run_slice());
    const u64 counted = count();
    slices_without = counted == last ? slices_without + 1 : 0;
    last = counted;
    report(counted);
    if (failed()) break;   // nothing moves any more, for a known reason
    if (is_over()) break;  // what sends last may complete long before it arrives
    if (slices_without > 2 && testbed_.is_asleep() && testbed_.has_caught_up()) {
      if (testbed_.release_held()) continue;
      if (lose && lose()) break;
      stuck = "stands still";
    } else if (slices_without > patience * kSlicesInSecond)
      stuck = fmt::format("made no progress in {:.0f} s of simulated time", patience);
  }
  const std::string asleep = testbed_.sleep_report();
  for (unsigned i = 0; i < programs.size(); ++i)
    for (u32 core = 0; core < programs[i].size(); ++core) testbed_.node(i).run(nullptr, core);
  testbed_.meet();
  if (stuck.empty() && !failed()) return true;
  if (!result_.failed_at) result_.failed_at = kernel_picoseconds();
  if (stuck.empty()) {
    advance(run_slice());  // what follows from the failure comes in
    if (const std::string causes = testbed_.causes_report(); !causes.empty())
      result_.failures.push_back(what_ + ": a queue pair failed\n" + causes);
    return false;
  }
  result_.failures.push_back(fmt::format("{}: {} after {} messages, at {:.3f} us\n{}{}", what_,
                                         stuck, last, double(kernel_picoseconds()) * 1e-6, asleep,
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

void Runner::keep_wires() {
  for (u32 number = 0; number < scenario_.faults.size(); ++number)
    result_.fault_uses.push_back({number, 0, 0});
  for (unsigned number = 0; number < testbed_.wires(); ++number) {
    const tlm_::Wire& wire = testbed_.wire(number);
    for (const tlm_::FaultRecord& record : wire.faults().records())
      result_.faults.push_back({testbed_.ends_of_wire(number)[record.direction], record});
    for (const tlm_::FaultUse& use : wire.faults().uses()) {
      result_.fault_uses[use.number].matches += use.matches;
      result_.fault_uses[use.number].done += use.done;
    }
    result_.frames += wire.frames(0) + wire.frames(1);
  }
  std::stable_sort(result_.faults.begin(), result_.faults.end(), [](const auto& a, const auto& b) {
    return a.record.picoseconds < b.record.picoseconds;
  });
}

void Runner::keep_counters() {
  const unsigned nodes = testbed_.nodes();
  for (unsigned wire = 0; wire < testbed_.wires(); ++wire)
    for (u8 end = 0; end < kEnds; ++end)
      result_.counters.push_back({fmt::format("{}.damaged_from_hca{}", testbed_.name_of_wire(wire),
                                              testbed_.ends_of_wire(wire)[end].node),
                                  testbed_.wire(wire).damaged(end)});
  for (unsigned i = 0; i < nodes; ++i)
    engine::for_each_counter(testbed_.node(i).writes().counters(), [&](const auto& row, u64 value) {
      result_.counters.push_back({fmt::format("host{}.{}", i, row.name), value});
    });
  for (unsigned i = 0; i < nodes; ++i)
    if (const tlm_::RootCounters* root = testbed_.node(i).pcie().root_counters())
      engine::for_each_counter(*root, [&](const auto& row, u64 value) {
        result_.counters.push_back({fmt::format("pcie{}.{}", i, row.name), value});
      });
  for (unsigned i = 0; i < nodes; ++i)
    testbed_.node(i).hca.chip().for_each_counters(
        [&](std::string_view block, const auto& counters) {
          engine::for_each_counter(counters, [&](const auto& row, u64 value) {
            result_.counters.push_back({fmt::format("hca{}.{}.{}", i, block, row.name), value});
          });
        });
}

// A row has both figures of a size; a second entry with one of them gets its own row.
SizeResult& Runner::row(const WorkloadConfig& w, u32 bytes) {
  for (SizeResult& size : result_.sizes) {
    const bool has =
        w.test == Test::Bandwidth ? size.bandwidth.has_value() : size.latency.has_value();
    if (!has && size.operation == w.operation && size.ends == w.ends() && size.bytes == bytes)
      return size;
  }
  result_.sizes.push_back({w.operation, w.ends(), bytes, {}, {}});
  return result_.sizes.back();
}

void Runner::report(u64 messages) {
  if (!progress_) return;
  const double part = messages_now_ ? std::min(1.0, double(messages) / double(messages_now_)) : 0;
  progress_({what_, (weight_done_ + weight_now_ * part) / weight_all_, wall_seconds() - started_,
             kernel_picoseconds()});
}
}  // namespace hca::testbench
