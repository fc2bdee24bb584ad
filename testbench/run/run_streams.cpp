// SPDX-License-Identifier: Apache-2.0
// The streams of a run: one entry of the workload list, or several together, with all threads.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "testbench/run/program_group.h"
#include "testbench/run/run.h"
#include "testbench/workload/request_server.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
namespace {
// A stream as perftest has it: a row of the table.
bool is_plain(const WorkloadConfig& w, const Traffic& t) {
  return t.qps == 1 && t.mix.empty() && t.sizes.empty() && !t.is_open() && !w.together &&
         w.threads == 1 && w.direction == Direction::Forward && !t.response;
}
std::string words_of(const Traffic& t) {
  std::string text;
  for (const auto& [operation, weight] : t.mix)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(operation), weight);
  if (text.empty()) text = name_of(t.operation);
  text += t.sizes.empty() ? fmt::format(" {} B", t.bytes)
                          : fmt::format(" {} sizes to {} B", t.sizes.size(), t.bytes);
  return text + (t.response ? fmt::format(", answered by {} B", t.response) : "");
}
}  // namespace

double StreamResult::fairness() const {
  const auto [fastest, slowest] = std::minmax_element(qp_picoseconds.begin(), qp_picoseconds.end());
  return double(*fastest) / double(*slowest);
}

// Sender and receiver of one entry in one direction.
struct Runner::Stream {
  // The programs at both ends that answer the requests of a stream.
  struct Answers {
    Answers(const Endpoint& client, const Traffic& requests, StreamReceiver& at_server,
            StreamSender& at_client)
        : traffic(requests.answers()),
          trips(requests),
          receiver(client, traffic, Way::ToClient),
          sender(*client.peer, traffic, Way::ToClient),
          server(*client.peer, requests, at_server, sender, trips) {
      at_client.keep_trips(trips);
      receiver.arrived = [&at_client](u32 qp, u64 k) { at_client.answered(qp, k); };
    }
    const Traffic traffic;
    RoundTrips trips;
    StreamReceiver receiver;
    StreamSender sender;
    RequestServer server;
  };
  // One of the threads that share the queues of a stream. The first one sees the end: what arrives
  // last wakes it, and not always the others.
  template <class Shared>
  class SharingThread : public Program {
   public:
    SharingThread(Shared& program, HostCpu& cpu, bool first)
        : program_(program), cpu_(cpu), first_(first) {}
    Cycle act(Cycle now) override {
      program_.on_core(cpu_);
      return program_.act(now);
    }
    Cycle wakes_at() const override { return program_.wakes_at(); }
    bool finished() const override { return !first_ || program_.finished(); }
    bool failed() const override { return program_.failed(); }

   private:
    Shared& program_;
    HostCpu& cpu_;
    bool first_;
  };

  Stream(Testbed& testbed, const BundleKey& bundle, const Member& m, const Traffic& t, bool back,
         SharedByThreads shared)
      : member(m),
        backward(back),
        traffic(t),
        from(testbed.end(back ? kServer : kClient, bundle)),
        receiver(*from.peer, traffic, way()),
        sender(from, traffic, way(), std::move(shared)) {
    if (traffic.is_request()) answers.emplace(from, traffic, receiver, sender);
    for (u32 thread = 0; thread < traffic.sharing_threads; ++thread) {
      if (traffic.sharing_threads == 1) break;
      senders.emplace_back(sender, testbed.node(from.node).core(thread), !thread);
      receivers.emplace_back(receiver, testbed.node(from.peer->node).core(thread), !thread);
    }
  }
  Way way() const { return backward ? Way::ToClient : Way::ToServer; }
  Member member;
  bool backward;
  const Traffic traffic;
  const Endpoint& from;
  StreamReceiver receiver;
  StreamSender sender;
  std::optional<Answers> answers;
  // By thread; empty: one thread has them alone.
  std::deque<SharingThread<StreamSender>> senders;
  std::deque<SharingThread<StreamReceiver>> receivers;
};

void Runner::run_streams(const std::vector<Member>& members, const std::vector<Traffic>& traffic) {
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::vector<ProgramGroup>> groups(testbed_.nodes());
  const auto add = [&](const Endpoint& end, u32 thread, Program& program) {
    std::vector<ProgramGroup>& of_node = groups[end.node];
    of_node.resize(std::max<std::size_t>(of_node.size(), thread + 1));
    of_node[thread].add(program);
  };
  for (std::size_t place = 0; place < members.size(); ++place) {
    const Member& member = members[place];
    const WorkloadConfig& w = scenario_.workload[member.entry];
    for (const bool backward : {false, true}) {
      if (backward && w.direction != Direction::Both) continue;
      SharedByThreads shared;
      for (const auto& other : streams)
        if (other->member.entry == member.entry && other->backward == backward) {
          if (w.atomic_addresses) shared.numbers = other->sender.numbers();
          if (!shared.served) shared.served = other->from.peer;  // of the first thread
        }
      Stream& s = *streams.emplace_back(std::make_unique<Stream>(
          testbed_, bundle_of(w, place), member, traffic[place], backward, std::move(shared)));
      for (u32 thread = 0; thread < s.senders.size(); ++thread) {
        add(s.from, thread, s.senders[thread]);
        add(*s.from.peer, thread, s.receivers[thread]);
      }
      if (!s.senders.empty()) continue;
      add(s.from, member.thread, s.sender);
      if (s.answers)
        add(s.from, member.thread, s.answers->receiver),
            add(*s.from.peer, member.thread, s.answers->server);
      else
        add(*s.from.peer, member.thread, s.receiver);
    }
  }
  Programs programs(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i)
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
    if (good) {
      s->sender.check_end();
      s->receiver.check_end();
      if (s->answers) s->answers->sender.check_end(), s->answers->receiver.check_end();
    }
    keep({&s->sender.checker, &s->receiver.checker});
    if (s->answers) keep({&s->answers->sender.checker, &s->answers->receiver.checker});
    result_.lost += s->receiver.lost();
    result_.duplicates += s->receiver.duplicates();
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
        fmt::format("{}: {} messages are lost, and no fault, no missing receive WQE and no full "
                    "receive buffer explains it",
                    what_, result_.lost));
  for (std::size_t place = 0; place < members.size(); ++place)
    if (std::any_of(streams.begin(), streams.end(), [&](const auto& s) {
          return s->member.entry == members[place].entry &&
                 s->member.thread == members[place].thread && s->receiver.has_left_receives();
        }))
      testbed_.renew(bundle_of(scenario_.workload[members[place].entry], place));
}

// The streams of the threads of one entry in one direction are one.
void Runner::keep_stream(const std::vector<const Stream*>& threads) {
  const Stream& s = *threads.front();
  const WorkloadConfig& w = scenario_.workload[s.member.entry];
  const u64 period = s.from.period;
  Cycle begin = engine::kNever, end = 0;
  for (const Stream* t : threads) {
    begin = std::min(begin, t->sender.first_post());
    end = std::max(end, t->sender.last_completion());
  }
  u64 picoseconds = (end - begin) * period, messages = 0, bytes = 0;
  if (s.traffic.measure_to) picoseconds = std::min(picoseconds, s.traffic.measure_to);
  picoseconds -= std::min(picoseconds, s.traffic.measure_from);
  for (const Stream* t : threads) {
    messages += t->sender.measured();
    bytes += t->sender.bytes_measured();
  }
  if (!messages && !scenario_.measure.is_whole()) return measured_nothing();
  if (is_plain(w, s.traffic)) {
    row(w, s.traffic.bytes).bandwidth =
        BandwidthResult{messages, picoseconds, s.receiver.lost(), s.receiver.duplicates()};
    return;
  }
  StreamResult result;
  result.entry = s.member.entry;
  result.backward = s.backward;
  result.ends = w.ends();
  result.qps = s.traffic.qps * u32(threads.size());
  result.what = words_of(s.traffic);
  result.picoseconds = picoseconds;
  result.messages = messages, result.bytes = bytes;
  result.planned_bits_per_second = s.traffic.bits_per_second;
  result.planned_messages_per_second = s.traffic.messages_per_second;
  for (const Stream* t : threads) {
    const StreamSender& sender = t->sender;
    result.lost_on_the_way += t->receiver.lost();
    result.duplicates += t->receiver.duplicates();
    result.dropped += sender.dropped();
    result.queued_most = std::max(result.queued_most, sender.queued_most());
    for (u32 qp = 0; qp < t->traffic.qps; ++qp)
      if (t->traffic.messages_on(qp))
        result.qp_picoseconds.push_back((sender.last_completion(qp) - sender.first_post()) *
                                        period);
    result.latency.merge(sender.latencies());
    if (!t->answers) continue;
    result.trip.resize(kTripParts);
    for (std::size_t p = 0; p < kTripParts; ++p) result.trip[p].merge(t->answers->trips.parts()[p]);
  }
  result_.streams.push_back(std::move(result));
}
}  // namespace hca::testbench
