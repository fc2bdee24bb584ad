// SPDX-License-Identifier: Apache-2.0
#include "testbench/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "testbench/program_group.h"
#include "testbench/workload_pingpong.h"
#include "testbench/workload_stream.h"

namespace hca::testbench {
namespace {
constexpr double kSlicesOfPatience = 500'000;  // without a message: 5 s of simulated time

sc_core::sc_time slice() { return {10, sc_core::SC_US}; }
sc_core::sc_time head_start() { return {2, sc_core::SC_US}; }

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
u64 now_picoseconds() {
  return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}

// What a message costs to simulate, roughly: its packets and itself.
double weight_of(const Traffic& t, PathMtu mtu) {
  const double each = 1.5 + double(t.bytes) / bytes_of_mtu(mtu);
  return double(t.messages) * each * (t.keep_posts ? 2 : 1);
}
template <class Fn>
void for_each_size(const WorkloadConfig& w, Fn&& fn) {
  for (const u32 bytes : sizes_of(w)) fn(bytes);
}
// A stream as perftest has it: a row of the table.
bool is_plain(const WorkloadConfig& w, const Traffic& t) {
  return t.qps == 1 && t.mix.empty() && t.sizes.empty() && !t.is_open() && !w.together &&
         w.threads == 1 && w.direction == Direction::Forward;
}
std::string words_of(const Traffic& t) {
  std::string text;
  for (const auto& [operation, weight] : t.mix)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(operation), weight);
  if (text.empty()) text = name_of(t.operation);
  if (t.sizes.empty()) return text + fmt::format(" {} B", t.bytes);
  return text + fmt::format(" {} sizes to {} B", t.sizes.size(), t.bytes);
}
}  // namespace

double StreamResult::fairness() const {
  const auto [fastest, slowest] = std::minmax_element(qp_picoseconds.begin(), qp_picoseconds.end());
  return double(*fastest) / double(*slowest);
}

Runner::Runner(const Scenario& scenario, ProgressSink progress)
    : scenario_(scenario), progress_(std::move(progress)), testbed_(scenario) {
  for (const WorkloadConfig& w : scenario_.workload)
    for_each_size(w, [&](u32 bytes) {
      weight_all_ +=
          weight_of(traffic_of(w, scenario_.qps_of(w), bytes, 0, scenario_.connection.service()),
                    scenario_.connection.path_mtu);
    });
}

RunResult Runner::run() {
  started_ = wall_seconds();
  if (scenario_.run.hash)
    for (unsigned i = 0; i < kChips; ++i) testbed_.node(i).hca.probes().attach(digests_[i]);
  testbed_.connect();
  for (const auto& group : groups_of(scenario_))
    if (result_.failures.empty()) run_group(group);
  // A breakdown follows a message to its acknowledgement.
  if (result_.failures.empty() && scenario_.faults.empty() &&
      proto::is_reliable(scenario_.connection.service()))
    run_breakdowns();
  if (scenario_.run.hash) result_.hash = digests_[0].value() ^ std::rotl(digests_[1].value(), 1);
  keep_wires();
  keep_counters();
  result_.picoseconds = now_picoseconds();
  if (!result_.failures.empty() && !result_.failed_at) result_.failed_at = result_.picoseconds;
  result_.seconds = wall_seconds() - started_;
  return std::move(result_);
}

// The smallest and the largest message of each operation, alone on the wire.
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

void Runner::run_breakdown(const WorkloadConfig& workload, u32 bytes) {
  if (!result_.failures.empty()) return;
  what_ = fmt::format("{} breakdown, {} B", name_of(workload.operation), bytes);
  WorkloadConfig one = workload;
  one.messages = 1, one.threads = 1, one.rate = one.message_rate = 0;
  const Traffic traffic =
      traffic_of(one, 1, bytes, scenario_.run.seed, scenario_.connection.service());
  const std::size_t lane = lane_of(workload, 0);
  StreamReceiver server(testbed_.end(1, lane), traffic);
  StreamSender client(testbed_.end(0, lane), traffic);
  run_for(head_start());  // what came before is over, and is not recorded
  BreakdownRecorder recorder(testbed_, lane);
  const bool good = simulate({{{&client}, {&server}}}, [&] { return client.completed(); });
  keep({&client.checker, &server.checker});
  if (!good) return;
  Breakdown breakdown{workload.operation, workload.port, bytes,
                      recorder.parts(row_of(workload.operation)),
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
    for (const Member& member : group) {
      const WorkloadConfig& w = scenario_.workload[member.entry];
      const u32 bytes = alone ? size : u32(w.to);
      const u64 seed =
          scenario_.run.seed + 1000 * (result_.sizes.size() + result_.streams.size()) + bytes;
      traffic.push_back(traffic_of(w, scenario_.qps_of(w), bytes, seed + 17 * traffic.size(),
                                   scenario_.connection.service(), member.thread));
      weight_now_ += weight_of(traffic.back(), scenario_.connection.path_mtu);
    }
    what_ = fmt::format("{} {}, {} B", traffic[0].mix.empty() ? name_of(first.operation) : "mix",
                        kTestNames[unsigned(first.test)], size);
    if (first.test == Test::Bandwidth)
      run_streams(group, traffic);
    else
      run_latency(first, traffic[0]);
    weight_done_ += weight_now_;
  });
}

// A part of the run while it lasts.
struct Runner::PhaseGuard {
  explicit PhaseGuard(Runner& r) : runner(r) { tell(true); }
  ~PhaseGuard() { tell(false); }
  PhaseGuard(const PhaseGuard&) = delete;
  void tell(bool begins) const {
    if (runner.phase) runner.phase(runner.what_, begins);
  }
  Runner& runner;
};

// Sender and receiver of one entry in one direction.
struct Runner::Stream {
  Stream(Testbed& testbed, std::size_t lane, const Member& m, const Traffic& t, bool back)
      : member(m),
        backward(back),
        traffic(t),
        receiver(testbed.end(back ? 0 : 1, lane), traffic, way()),
        sender(testbed.end(back ? 1 : 0, lane), traffic, way()) {}
  Way way() const { return backward ? Way::ToClient : Way::ToServer; }
  Member member;
  bool backward;
  const Traffic traffic;
  StreamReceiver receiver;
  StreamSender sender;
};

void Runner::run_streams(const std::vector<Member>& members, const std::vector<Traffic>& traffic) {
  std::vector<std::unique_ptr<Stream>> streams;
  u32 threads = 0;
  for (const Member& member : members) threads = std::max(threads, member.thread + 1);
  std::array<std::vector<ProgramGroup>, kChips> groups;
  for (auto& of_chip : groups) of_chip.resize(threads);
  for (std::size_t place = 0; place < members.size(); ++place) {
    const Member& member = members[place];
    const WorkloadConfig& w = scenario_.workload[member.entry];
    for (const bool backward : {false, true}) {
      if (backward && w.direction != Direction::Both) continue;
      Stream& s = *streams.emplace_back(
          std::make_unique<Stream>(testbed_, lane_of(w, place), member, traffic[place], backward));
      groups[backward][member.thread].add(s.sender);
      groups[!backward][member.thread].add(s.receiver);
    }
  }
  Programs programs;
  for (unsigned i = 0; i < kChips; ++i)
    for (ProgramGroup& group : groups[i]) programs[i].push_back(&group);
  const PhaseGuard guard(*this);
  const bool good = simulate(
      programs,
      [&] {
        u64 completed = 0;
        for (const auto& s : streams) completed += s->sender.completed();
        return completed;
      },
      [&] {
        bool lost = false;
        for (const auto& s : streams) lost |= s->receiver.lose_rest();
        return lost && std::all_of(streams.begin(), streams.end(),
                                   [](const auto& s) { return s->sender.finished(); });
      });
  const bool atomics = std::any_of(streams.begin(), streams.end(),
                                   [](const auto& s) { return s->sender.uses_atomics(); });
  if (good && atomics) wait_for_writes();
  for (const auto& s : streams) {
    if (good) s->sender.check_end(), s->receiver.check_end();
    keep({&s->sender.checker, &s->receiver.checker});
    result_.lost += s->receiver.lost(), result_.duplicates += s->receiver.duplicates();
  }
  if (!good) return;
  for (const auto& s : streams) {
    if (s->member.thread) continue;
    std::vector<const Stream*> of_entry;
    for (const auto& other : streams)
      if (other->member.entry == s->member.entry && other->backward == s->backward)
        of_entry.push_back(other.get());
    keep_stream(of_entry);
  }
  if (result_.lost && !testbed_.may_have_lost())
    result_.failures.push_back(
        fmt::format("{}: {} messages are lost, and no fault and no missing receive WQE explains it",
                    what_, result_.lost));
  for (std::size_t place = 0; place < members.size(); ++place)
    if (std::any_of(streams.begin(), streams.end(), [&](const auto& s) {
          return s->member.entry == members[place].entry &&
                 s->member.thread == members[place].thread && s->receiver.has_left_receives();
        }))
      testbed_.renew(lane_of(scenario_.workload[members[place].entry], place));
}

// The streams of the threads of one entry in one direction are one.
void Runner::keep_stream(const std::vector<const Stream*>& threads) {
  const Stream& s = *threads.front();
  const WorkloadConfig& w = scenario_.workload[s.member.entry];
  const u64 period = testbed_.node(s.backward ? 1 : 0).hca.period().value();
  Cycle begin = engine::kNever, end = 0;
  for (const Stream* t : threads) {
    begin = std::min(begin, t->sender.first_post());
    end = std::max(end, t->sender.last_completion());
  }
  const u64 picoseconds = (end - begin) * period;
  if (is_plain(w, s.traffic)) {
    row(w, s.traffic.bytes).bandwidth = BandwidthResult{s.traffic.messages, picoseconds,
                                                        s.receiver.lost(), s.receiver.duplicates()};
    return;
  }
  StreamResult result;
  result.entry = s.member.entry, result.backward = s.backward;
  result.port = w.port, result.qps = s.traffic.qps * u32(threads.size());
  result.what = words_of(s.traffic);
  result.picoseconds = picoseconds;
  result.planned_bits_per_second = s.traffic.bits_per_second;
  result.planned_messages_per_second = s.traffic.messages_per_second;
  for (const Stream* t : threads) {
    const StreamSender& sender = t->sender;
    result.messages += sender.completed(), result.bytes += sender.bytes_completed();
    result.lost_on_the_way += t->receiver.lost();
    result.duplicates += t->receiver.duplicates();
    result.dropped += sender.dropped();
    result.queued_most = std::max(result.queued_most, sender.queued_most());
    for (u32 qp = 0; qp < t->traffic.qps; ++qp)
      if (t->traffic.messages_on(qp))
        result.qp_picoseconds.push_back((sender.last_completion(qp) - sender.first_post()) *
                                        period);
    result.latency.merge(sender.latencies());
  }
  result_.streams.push_back(std::move(result));
}

void Runner::run_latency(const WorkloadConfig& workload, const Traffic& traffic) {
  LatencyResult latency;
  const std::size_t lane = lane_of(workload, 0);
  const u64 period = testbed_.node(0).hca.period().value();
  const auto add_posts = [&](const std::vector<Cycle>& posts, u64 parts) {
    for (std::size_t i = 1; i < posts.size(); ++i)
      latency.picoseconds.add((posts[i] - posts[i - 1]) * period / parts);
  };
  const PhaseGuard guard(*this);
  bool good;
  if (row_of(workload.operation).fetches()) {
    StreamReceiver server(testbed_.end(1, lane), traffic);
    StreamSender client(testbed_.end(0, lane), traffic);
    good = simulate({{{&client}, {&server}}}, [&] { return client.completed(); });
    if (good && client.uses_atomics()) wait_for_writes(), client.check_end();
    keep({&client.checker, &server.checker});
    add_posts(client.posts(), 1);
  } else {
    PingPong server(testbed_.end(1, lane), traffic, Way::ToClient);
    PingPong client(testbed_.end(0, lane), traffic, Way::ToServer);
    good = simulate({{{&client}, {&server}}}, [&] { return client.completed(); });
    keep({&client.checker_received, &server.checker_received, &client.checker_sent,
          &server.checker_sent});
    add_posts(client.posts(), 2);
  }
  if (good) row(workload, traffic.bytes).latency = std::move(latency);
}

// A posted write takes its time on PCIe while the answer may already be back.
void Runner::wait_for_writes() {
  const u64 latency = std::max(scenario_.pcie[0].latency, scenario_.pcie[1].latency);
  run_for(slice() + sc_core::sc_time(double(latency), sc_core::SC_PS));
}

bool Runner::simulate(const Programs& programs, const std::function<u64()>& count,
                      const std::function<bool()>& lose) {
  run_for(head_start());  // the receive WQEs are there before the first message
  for (const unsigned i : {1u, 0u})
    for (u32 core = 0; core < programs[i].size(); ++core)
      testbed_.node(i).run(programs[i][core], core);
  const bool may_lose = !proto::is_reliable(scenario_.connection.service());
  u64 last = count(), slices_without = 0;
  std::string stuck;
  const auto finished = [&](unsigned i) {
    Cycle end = 0;
    for (u32 core = 0; core < programs[i].size(); ++core)
      end = std::max(end, testbed_.node(i).core(core).finished_at());
    return testbed_.node(i).is_past(end);
  };
  const auto failed = [&] {
    for (const auto& of_chip : programs)
      for (const Program* program : of_chip)
        if (program->failed()) return true;
    return false;
  };
  // Of an unreliable service nothing may come behind the end: it would be taken for the next
  // stream's.
  const auto is_settled = [&] {
    return !may_lose || (testbed_.is_asleep() && !testbed_.release_held());
  };
  const auto is_over = [&] { return finished(0) && finished(1) && is_settled(); };
  while (!is_over() && stuck.empty() && !failed()) {
    run_for(slice());
    const u64 counted = count();
    slices_without = counted == last ? slices_without + 1 : 0;
    last = counted;
    report();
    if (failed()) break;   // nothing moves any more, for a known reason
    if (is_over()) break;  // what sends last may complete long before it arrives
    if (slices_without > 2 && testbed_.is_asleep()) {
      if (testbed_.release_held()) continue;
      if (lose && lose()) break;
      stuck = "stands still";
    } else if (slices_without > kSlicesOfPatience)
      stuck = "made no progress in 5 s of simulated time";
  }
  const std::string asleep = testbed_.sleep_report();
  for (unsigned i = 0; i < kChips; ++i)
    for (u32 core = 0; core < programs[i].size(); ++core) testbed_.node(i).run(nullptr, core);
  if (stuck.empty() && !failed()) return true;
  if (!result_.failed_at) result_.failed_at = now_picoseconds();
  if (stuck.empty()) {
    run_for(slice());  // what follows from the failure comes in
    if (const std::string causes = testbed_.causes_report(); !causes.empty())
      result_.failures.push_back(what_ + ": a queue pair failed\n" + causes);
    return false;
  }
  result_.failures.push_back(fmt::format("{}: {} after {} messages, at {:.3f} us\n{}{}", what_,
                                         stuck, last, double(now_picoseconds()) * 1e-6, asleep,
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
  for (unsigned port = 0; port < testbed_.ports(); ++port) {
    const tlm_::Wire& wire = testbed_.wire(port);
    for (const tlm_::FaultRecord& record : wire.faults().records())
      result_.faults.push_back({port + 1, record});
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
  for (unsigned i = 0; i < kChips; ++i)
    testbed_.node(i).hca.for_each_counters([&](std::string_view block, const auto& counters) {
      engine::for_each_counter(counters, [&](const auto& row, u64 value) {
        result_.counters.push_back({fmt::format("hca{}.{}.{}", i, block, row.name), value});
      });
    });
}

SizeResult& Runner::row(const WorkloadConfig& w, u32 bytes) {
  for (SizeResult& size : result_.sizes)
    if (size.operation == w.operation && size.port == w.port && size.bytes == bytes) return size;
  result_.sizes.push_back({w.operation, w.port, bytes, {}, {}});
  return result_.sizes.back();
}

void Runner::report() {
  if (progress_)
    progress_({what_, weight_done_ / weight_all_, wall_seconds() - started_, now_picoseconds()});
}
}  // namespace hca::testbench
