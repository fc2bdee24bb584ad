// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/traffic_of.h"

#include <algorithm>

#include "model/proto/wire/datagram.h"
#include "testbench/scenario/layout.h"

namespace hca::testbench {
namespace {
constexpr u64 kBufferBudget = 16 << 20;     // bytes in flight of one stream
constexpr u64 kAutomaticBudget = 24 << 20;  // bytes of one size when `messages` is 0
constexpr u64 kAutomaticStream = 5000, kAutomaticPingPong = 10'001, kAutomaticLeast = 32;
constexpr u32 kAutomaticDepth = 128, kReceiveDepth = 512;

u64 messages_of(const WorkloadConfig& w, u32 bytes) {
  if (w.messages) return w.messages;
  const u64 most = w.test == Test::Bandwidth ? kAutomaticStream : kAutomaticPingPong;
  return std::clamp(kAutomaticBudget / std::max(bytes, 1u), kAutomaticLeast, most);
}
}  // namespace

std::vector<u32> sizes_of(const WorkloadConfig& w) {
  if (!w.from) return {0};
  std::vector<u32> sizes;
  for (u64 bytes = w.from; bytes <= w.to; bytes *= 2) sizes.push_back(u32(bytes));
  return sizes;
}

std::vector<std::vector<Member>> groups_of(const Scenario& scenario) {
  std::vector<std::vector<Member>> groups;
  bool joins = false;
  for (std::size_t i = 0; i < scenario.workload.size(); ++i) {
    const bool together = scenario.workload[i].together;
    if (!joins || !together) groups.emplace_back();
    for (u32 thread = 0; thread < scenario.workload[i].separate_threads(); ++thread)
      groups.back().push_back({i, thread});
    joins = together;
  }
  return groups;
}

u32 depth_of(const WorkloadConfig& w, u32 qps, u64 slot_bytes) {
  if (w.depth) return w.depth;
  if (w.test == Test::Latency) return 1;
  const u64 most = std::clamp<u64>(kBufferBudget / slot_bytes / qps, 1, kAutomaticDepth);
  return std::max({u32(most), w.list, w.signal_every > 1 ? 2 * w.signal_every : 1});
}

Traffic traffic_of(const WorkloadConfig& w, u32 qps, u32 bytes, u64 seed, proto::Service service,
                   u32 thread) {
  const bool latency = w.test == Test::Latency;
  Traffic t;
  t.operation = w.operation;
  t.mix = w.weights();
  t.bytes = bytes;
  t.seed = t.shared_seed = seed;
  if (service == proto::Service::Ud) t.receive_header = proto::kDatagramHeaderBytes;
  t.may_lose = !proto::is_reliable(service);
  for (const SizeConfig& s : w.sizes) t.sizes.push_back({u32(s.size), s.weight});
  // Queue pairs and messages are distributed evenly; the first threads get the remaining messages.
  const u64 messages = messages_of(w, bytes);
  const u32 threads = w.separate_threads();
  t.messages = messages / threads + (thread < messages % threads);
  t.qps = latency ? 1 : std::max(1u, qps / threads);
  t.sharing_threads = w.share_qps ? w.threads : 1;
  t.random_qps = w.qp_order == QpOrder::Random;
  t.depth = depth_of(w, t.qps, t.slot());
  t.list = w.list;
  t.batches = w.batches;
  t.receive_depth = w.receive_depth ? w.receive_depth
                                    : std::max(2 * t.depth, std::min(kReceiveDepth, 8 * t.depth));
  if (!w.receive_depth && t.slot() > kBufferBudget) t.receive_depth = 2;
  t.atomic_addresses = w.atomic_addresses;
  t.read_addresses = w.read_addresses;
  t.address = w.address;
  t.working_set = w.working_set;
  t.stride = w.stride;
  t.regions = w.regions;
  t.sges = w.sges;
  t.fence = w.fence;
  t.solicited = w.solicited;
  if (w.threads > 1)
    t.by_events = false;
  else if (w.wait != WaitKind::Host)
    t.by_events = w.wait == WaitKind::Event;
  t.signal_every = w.signal_every;  // and the last message of each queue pair
  t.inline_below = std::min(w.inline_below, most_inline(service) + 1);
  t.push = w.push;
  t.keep_posts = latency;
  t.bits_per_second = w.rate;
  t.messages_per_second = w.message_rate;
  t.exponential = w.arrivals == ArrivalsKind::Exponential;
  t.queue = w.queue;
  t.response = u32(w.response);
  t.serve = {w.serve_time, 1};
  t.serve_exponential = w.serve == ServeKind::Exponential;
  for (const ServeTimeConfig& s : w.serve_times) t.serve_times.push_back({s.time, s.weight});
  return t;
}

namespace {
void widen_working_sets(Need& need, const Traffic& t) {
  const auto same = [&](const WorkingSetNeed& set) {
    return set.bytes == t.working_set && set.regions == t.regions;
  };
  auto found = std::ranges::find_if(need.working_sets, same);
  if (found == need.working_sets.end())
    found = need.working_sets.insert(found, {t.working_set, t.regions});
  const BufferKinds kinds = kinds_of(t);
  for (std::size_t i = 0; i < kBufferKinds; ++i) found->kinds[i] |= kinds[i];
}
void widen(Need& need, const Traffic& t) {
  const Layout layout(t);
  need.send_bytes = std::max(need.send_bytes, layout.flight_bytes());
  need.recv_bytes = std::max(need.recv_bytes, layout.receive_bytes());
  need.fetch_bytes = std::max(need.fetch_bytes, layout.fetch_bytes());
  need.qps = std::max(need.qps, t.qps);
  need.send_wqes = std::max(need.send_wqes, t.depth);
  need.receive_wqes = std::max(need.receive_wqes, t.receive_depth);
  need.sges = std::max(need.sges, t.sges);
  need.invalidates |= t.has([](const OperationRow& r) { return r.invalidates; });
  if (t.working_set) widen_working_sets(need, t);
  if (t.inline_below) need.inline_bytes = std::max(need.inline_bytes, t.inline_below - 1);
}
}  // namespace

std::map<BundleKey, Need> needs_of(const Scenario& scenario) {
  std::map<BundleKey, Need> needs;
  const proto::Service service = scenario.connection.service();
  for (const auto& group : groups_of(scenario))
    for (std::size_t place = 0; place < group.size(); ++place) {
      const WorkloadConfig& w = scenario.workload[group[place].entry];
      Need &need = needs[bundle_of(w, place)], &alone = needs[bundle_of(w, 0)];
      need.core = group[place].thread, need.service_level = w.service_level;
      for (const u32 bytes : sizes_of(w)) {
        const Traffic traffic = traffic_of(w, scenario.qps_of(w), bytes, 0, service);
        widen(need, traffic);
        if (traffic.is_request()) widen(need, traffic.answers());
        need.cores = std::max(need.cores, traffic.sharing_threads);
        widen(alone, traffic_of(w, 1, bytes, 0, service));  // for its time breakdown
      }
    }
  return needs;
}
}  // namespace hca::testbench
