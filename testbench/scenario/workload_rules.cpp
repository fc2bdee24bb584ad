// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/workload_rules.h"

#include <algorithm>
#include <array>

#include "testbench/scenario/address_rules.h"
#include "testbench/scenario/traffic_of.h"

namespace hca::testbench {
namespace {
constexpr u64 kMaxInFlight = 1 << 20;       // messages of all queue pairs: the largest CQ
constexpr u64 kMaxBytesInFlight = 1 << 30;  // with a given depth: each has buffers at both ends

struct Entry {
  const WorkloadConfig& w;
  const GivenKeys& given;
  u32 qps;
  proto::Service service;
  u32 path_mtu;
  bool has(std::string_view key) const {
    const auto at = given.lower_bound(key);
    return at != given.end() && at->starts_with(key);
  }
  bool has_exactly(std::string_view key) const { return given.contains(key); }
  bool has_range() const { return has_exactly("from") || has_exactly("to"); }
  bool has_exact_size() const { return !has("mix.") && row_of(w.operation).work().exact_bytes; }
  bool sends_atomics() const {
    return (!has("mix.") && row_of(w.operation).is_atomic()) || w.mix.compare_swap ||
           w.mix.fetch_add;
  }
  bool reads() const {
    return (!has("mix.") && row_of(w.operation).is_read()) || w.mix.read || w.mix.extended_get;
  }
  bool is_above_mtu() const {
    const auto above = [this](u64 bytes) { return bytes > path_mtu; };
    return service == proto::Service::Ud &&
           (w.size || !w.sizes.empty()
                ? above(w.size) || std::any_of(w.sizes.begin(), w.sizes.end(),
                                               [&](const SizeConfig& s) { return above(s.size); })
                : above(w.to));
  }
  bool is_latency() const { return w.test == Test::Latency; }
  u64 largest() const {
    u64 most = has_exact_size() ? proto::kAtomicBytes : w.size ? w.size : w.to;
    if (!w.sizes.empty()) most = std::ranges::max(w.sizes, {}, &SizeConfig::size).size;
    return most;
  }
};
struct Rule {
  std::string_view key, problem, allowed;
  bool (*broken)(const Entry&);
};
bool no_weight(const Entry& e) {
  return e.has("sizes[") && std::all_of(e.w.sizes.begin(), e.w.sizes.end(),
                                        [](const SizeConfig& s) { return !s.weight; });
}
bool all_empty(const Entry& e) {
  return e.has("sizes[") && std::all_of(e.w.sizes.begin(), e.w.sizes.end(),
                                        [](const SizeConfig& s) { return !s.size; });
}
bool may_be_answered(Operation operation) {
  return operation == Operation::Send || operation == Operation::SendImmediate ||
         operation == Operation::WriteImmediate;
}
bool gives_another_size(const Entry& e) {
  const u64 size = e.w.size;
  return e.has("sizes[") || (size && size != proto::kAtomicBytes) ||
         (e.has_exactly("from") && e.w.from != proto::kAtomicBytes) ||
         (e.has_exactly("to") && e.w.to != proto::kAtomicBytes);
}

constexpr std::array kRules{
    // clang-format off
    Rule{"mix", "has no weight above 0", "one weight or more above 0",
         [](const Entry& e) { return e.has("mix.") && !e.w.is_mixed(); }},
    Rule{"mix", "conflicts with operation", "one of them",
         [](const Entry& e) { return e.has("mix.") && e.has_exactly("operation"); }},
    Rule{"mix", "has an operation that connection.service does not have", "WRITE and SEND with uc, SEND with ud",
         [](const Entry& e) { return e.has("mix.") && !has_operations(e.service, e.w); }},
    Rule{"operation", "does not exist in connection.service", "WRITE or SEND with uc, SEND with ud",
         [](const Entry& e) { return !e.has("mix.") && !has_operations(e.service, e.w); }},
    Rule{"size", "makes datagrams of more than connection.path_mtu", "that or less with ud",
         [](const Entry& e) { return e.is_above_mtu(); }},
    Rule{"inline_below", "leaves no room for the address handle of a datagram in a WQE of 256 B", "0 to 177 B with ud",
         [](const Entry& e) { return e.has_exactly("inline_below") && e.w.inline_below > most_inline(e.service) + 1; }},
    Rule{"operation", "is an ATOMIC or ATOMIC WRITE, which has 8 B", "no size, or 8 B",
         [](const Entry& e) { return e.has_exact_size() && gives_another_size(e); }},
    Rule{"size", "conflicts with from or to", "only size, or from and to",
         [](const Entry& e) { return e.w.size && e.has_range(); }},
    Rule{"sizes", "conflicts with size, from or to", "one of them",
         [](const Entry& e) { return e.has("sizes[") && (e.w.size || e.has_range()); }},
    Rule{"sizes", "has no weight above 0", "one weight or more above 0", no_weight},
    Rule{"rate", "plans bits, and no message has any", "message_rate, or one size or more above 0 B",
         [](const Entry& e) { return e.w.rate && all_empty(e); }},
    Rule{"message_rate", "conflicts with rate", "one of them",
         [](const Entry& e) { return e.w.rate && e.w.message_rate; }},
    Rule{"arrivals", "is for an open loop", "rate or message_rate beside it",
         [](const Entry& e) { return e.has_exactly("arrivals") && !e.w.is_open(); }},
    Rule{"queue", "is for an open loop", "rate or message_rate beside it",
         [](const Entry& e) { return e.has_exactly("queue") && !e.w.is_open(); }},
    Rule{"signal_every", "is above 1 with batches", "1",
         [](const Entry& e) { return e.w.batches && e.w.signal_every > 1; }},
    Rule{"signal_every", "is above 1 in an open loop", "1",
         [](const Entry& e) { return e.w.is_open() && e.w.signal_every > 1; }},
    Rule{"atomic_addresses", "is for ATOMICs", "an ATOMIC, or a mix with one",
         [](const Entry& e) { return e.has_exactly("atomic_addresses") && !e.sends_atomics(); }},
    Rule{"read_addresses", "is for READs and GETs", "a READ or GET, or a mix with one",
         [](const Entry& e) { return e.has_exactly("read_addresses") && !e.reads(); }},
    Rule{"read_addresses", "makes more than 1 GiB of the peer's memory", "read_addresses times the largest size up to that",
         [](const Entry& e) { return u64{e.w.read_addresses} * e.largest() > kMaxBytesInFlight && e.w.read_addresses > 1; }},
    Rule{"push", "is set with a list: one doorbell brings one WQE", "list: 1, or push: false",
         [](const Entry& e) { return e.w.push && e.w.list > 1; }},
    Rule{"list", "is above 1 for a latency test", "1",
         [](const Entry& e) { return e.is_latency() && e.w.list > 1; }},
    Rule{"depth", "is above 1 for a latency test, which has one message in flight", "1",
         [](const Entry& e) { return e.is_latency() && e.w.depth > 1; }},
    Rule{"signal_every", "is above 1 for a latency test, which has one message in flight", "1",
         [](const Entry& e) { return e.is_latency() && e.w.signal_every > 1; }},
    Rule{"signal_every", "is above depth: a full queue would have no completion", "depth or less",
         [](const Entry& e) { return e.w.depth && e.w.signal_every > e.w.depth; }},
    Rule{"depth", "makes more than 1 GiB in flight on all queue pairs",
         "qps times depth times the largest size up to that",
         [](const Entry& e) {
           return e.w.depth > 1 &&
                  u64{e.qps} * e.w.depth * std::max(e.largest(), e.w.response) > kMaxBytesInFlight; }},
    Rule{"test", "is latency with several queue pairs", "qps: 1",
         [](const Entry& e) { return e.is_latency() && e.w.qps > 1; }},
    Rule{"test", "is latency with a mix", "one operation",
         [](const Entry& e) { return e.is_latency() && e.has("mix."); }},
    Rule{"test", "is latency with weighted sizes", "size, or from and to",
         [](const Entry& e) { return e.is_latency() && e.has("sizes["); }},
    Rule{"test", "is latency in an open loop", "no rate and no message_rate",
         [](const Entry& e) { return e.is_latency() && e.w.is_open(); }},
    Rule{"test", "is latency in both directions", "direction: forward",
         [](const Entry& e) { return e.is_latency() && e.w.direction == Direction::Both; }},
    Rule{"batches", "is set in an open loop", "neither rate nor message_rate",
         [](const Entry& e) { return e.w.batches && e.w.is_open(); }},
    Rule{"threads", "is above 1 for a latency test", "threads: 1",
         [](const Entry& e) { return e.is_latency() && e.w.threads > 1; }},
    Rule{"threads", "does not divide the queue pairs", "a divisor of qps, or share_qps: true",
         [](const Entry& e) { return e.w.separate_threads() > 1 && e.qps % e.w.threads != 0; }},
    Rule{"share_qps", "is set for one thread", "threads: 2 or more beside it",
         [](const Entry& e) { return e.w.share_qps && e.w.threads == 1; }},
    Rule{"share_qps", "is set with response", "one of them",
         [](const Entry& e) { return e.w.share_qps && e.w.response; }},
    Rule{"response", "is set for a latency test", "test: bandwidth, with depth: 1 for one at a time",
         [](const Entry& e) { return e.w.response && e.is_latency(); }},
    Rule{"response", "is set with a mix", "one operation",
         [](const Entry& e) { return e.w.response && e.has("mix."); }},
    Rule{"response", "is set for an operation that does not tell the server", "send, send_immediate or write_immediate",
         [](const Entry& e) { return e.w.response && !e.has("mix.") && !may_be_answered(e.w.operation); }},
    Rule{"response", "is set in both directions", "direction: forward",
         [](const Entry& e) { return e.w.response && e.w.direction == Direction::Both; }},
    Rule{"response", "is set for a service that may lose messages", "rc, xrc or rd as connection.service",
         [](const Entry& e) { return e.w.response && !proto::is_reliable(e.service); }},
    Rule{"serve_times", "conflicts with serve_time or serve", "one of them",
         [](const Entry& e) { return e.has("serve_times[") && (e.has_exactly("serve_time") || e.has_exactly("serve")); }},
    Rule{"serve_times", "has no weight above 0", "one weight or more above 0",
         [](const Entry& e) { return e.has("serve_times[") && std::ranges::all_of(e.w.serve_times, [](const ServeTimeConfig& s) { return !s.weight; }); }},
    Rule{"serve_time", "is for answers", "response beside it",
         [](const Entry& e) { return e.w.serve_time && !e.w.response; }},
    Rule{"serve", "is for answers", "response and serve_time beside it",
         [](const Entry& e) { return e.has_exactly("serve") && !(e.w.response && e.w.serve_time); }},
    Rule{"serve_times", "is for answers", "response beside it",
         [](const Entry& e) { return e.has("serve_times[") && !e.w.response; }},
    Rule{"threads", "is above 1 with programs that sleep", "wait: poll",
         [](const Entry& e) { return e.w.threads > 1 && e.w.wait == WaitKind::Event; }},
    Rule{"threads", "is above 1 in an open loop", "one thread, or neither rate nor message_rate",
         [](const Entry& e) { return e.w.threads > 1 && e.w.is_open(); }},
    Rule{"together", "is set for a latency test", "test: bandwidth",
         [](const Entry& e) { return e.w.together && e.is_latency(); }},
    Rule{"together", "is set with several sizes one after the other",
         "size from 1 B on, or sizes",
         [](const Entry& e) {
           return e.w.together && !e.w.size && !e.has("sizes[") && !e.has_exact_size() &&
                  e.w.from * 2 <= e.w.to; }},
    Rule{"depth", "makes more than 1048576 messages in flight on all queue pairs",
         "qps times depth up to that",
         [](const Entry& e) { return u64{e.qps} * e.w.depth > kMaxInFlight; }},
    Rule{"receive_depth", "makes more than 2097152 receive WQEs on all queue pairs",
         "qps times receive_depth up to that",
         [](const Entry& e) { return u64{e.qps} * e.w.receive_depth > 2 * kMaxInFlight; }},
    // clang-format on
};
}  // namespace

bool has_operations(proto::Service service, const WorkloadConfig& w) {
  const auto has = [&](Operation operation) {
    return includes(proto::kWorkRows[std::size_t(row_of(operation).opcode)].services, service);
  };
  const auto weights = w.weights();
  if (weights.empty()) return has(w.operation);
  return std::all_of(weights.begin(), weights.end(),
                     [&](const auto& weight) { return has(weight.first); });
}

std::vector<WorkloadMistake> mistakes_in(const Scenario& scenario, const WorkloadConfig& w,
                                         const GivenKeys& given) {
  const Entry entry{w, given, scenario.qps_of(w), scenario.connection.service(),
                    bytes_of_mtu(scenario.connection.path_mtu)};
  std::vector<WorkloadMistake> all;
  for (const Rule& rule : kRules)
    if (rule.broken(entry))
      all.push_back({std::string(rule.key), std::string(rule.problem), std::string(rule.allowed)});
  if (w.from > w.to && !w.size && !entry.has("sizes[") && !entry.has_exact_size())
    all.push_back({"to", std::to_string(w.to) + " B is less than from",
                   std::to_string(w.from) + " B or more"});
  if (!all.empty()) return all;
  WorkloadConfig settled = w;
  settle_sizes(settled, given);
  return address_mistakes(scenario, settled);
}

void settle_sizes(WorkloadConfig& w, const GivenKeys& given) {
  const Entry entry{w, given, 1, proto::Service::Rc, 0};
  if (w.size) w.from = w.to = w.size;
  if (entry.has_exact_size()) w.from = w.to = proto::kAtomicBytes;
  for (const SizeConfig& s : w.sizes)
    w.from = w.to = &s == w.sizes.data() ? s.size : std::max(w.to, s.size);
}
}  // namespace hca::testbench
