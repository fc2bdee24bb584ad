// SPDX-License-Identifier: Apache-2.0
// Records stalls, their causes, and limits.
#include <fmt/format.h>

#include <algorithm>

#include "model/blocks/chip.h"
#include "testbench/run/run_recorder.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kStallsToPrint = 4, kPartsToPrint = 24;
constexpr double kShareToPrint = 0.05;

std::string name_of_register(unsigned i) {
  return fmt::format("host {}'s busiest doorbell register", i);
}
}  // namespace

// Resources that are used without an event.
void RunRecorder::add_counted(unsigned i) {
  Chip& chip = chips_[i];
  const Hca& hca = testbed_.node(i).hca;
  const blocks::ResponderExecuteConfig& execute = hca.config().responder_execute;
  hca.chip().for_each_look_up([&](const std::string& name, const u64& count, Cycle interval) {
    const std::string block = name.substr(0, name.find(','));
    if (interval > 1)
      chip.counted.push_back({&count, interval,
                              add_resource("intervals", fmt::format("hca{} {}", i, name),
                                           "interval", 1, block + ".interval")});
  });
  hca.chip().for_each_counters([&]<class C>(std::string_view, const C& counters) {
    if constexpr (std::is_same_v<C, blocks::RequesterCounters>) chip.requester = &counters;
    if constexpr (std::is_same_v<C, blocks::DoorbellCounters>)
      if (const Cycle interval = hca.config().doorbell.interval; interval > 1)
        chip.counted.push_back({&counters.doorbells, interval,
                                add_resource("intervals", fmt::format("hca{} doorbell", i),
                                             "interval", 1, "doorbell.interval")});
    if constexpr (std::is_same_v<C, blocks::LinkControlCounters>)
      chip.no_room.push_back(&counters.no_room);
    if constexpr (std::is_same_v<C, blocks::ResponderExecuteCounters>) {
      if (execute.read_interval > 1)
        chip.counted.push_back(
            {&counters.reads, execute.read_interval,
             add_resource("intervals", fmt::format("hca{} responder_execute, READs", i), "interval",
                          hca.config().core.ports, "responder_execute.read_interval")});
      chip.atomics = add_resource("ATOMICs", fmt::format("hca{} ATOMIC units", i), "ATOMICs",
                                  execute.atomics, "responder_execute.atomics");
      chip.counted.push_back({&counters.atomic_cycles, 1, chip.atomics});
    }
  });
}

// For a host whose threads lock doorbell registers, or take time for pushed WQEs.
void RunRecorder::add_registers(unsigned i) {
  const HostWrites& writes = testbed_.node(i).writes();
  if (writes.has_lock())
    chips_[i].counted.push_back(
        {&writes.counters().busiest_register, 1,
         add_resource("hosts", name_of_register(i), "registers", 1, "host.doorbell_registers")});
  if (testbed_.shares_queues())
    chips_[i].counted.push_back(
        {&writes.counters().busiest_queue, 1,
         add_resource("hosts", fmt::format("host {}'s busiest shared queue", i), "registers", 1,
                      "host.queue_lock, workload[].share_qps")});
  if (writes.combines())
    chips_[i].counted.push_back({&writes.counters().combining_cycles, 1,
                                 add_resource("hosts", fmt::format("host {}'s write combining", i),
                                              "registers", testbed_.cores(), "host.push_line")});
}

void RunRecorder::add_stall(unsigned i, const std::string& block, std::string cause,
                            const u64* cycles, std::string_view counter) {
  const WaitRow* row =
      counter.empty() ? wait_row(block, cause) : wait_row_of_counter(block, counter);
  // For queue pairs the number that wait at the same time is counted.
  const bool counts = row && row->of != WaitOf::Block;
  const std::size_t column =
      series_.add_column({fmt::format("stalls of hca{}", i), block + ": " + cause,
                          counts ? "queue pairs" : "%", counts ? 1.0 : 100.0, counts ? 0.0 : 1.0});
  stalls_.push_back({i, fmt::format("hca{} {}", i, block), std::move(cause), cycles, column});
  stalls_.back().row = row;
}

void RunRecorder::add_stalls(unsigned i) {
  const Hca& hca = testbed_.node(i).hca;
  const engine::Domain& domain = testbed_.node(i).hca.domain();
  for (const engine::Stalls& s : domain.stalls())
    add_stall(i, domain.name_of(s.waiting),
              s.on ? fmt::format("room in {} ({})", domain.name_of(s.on), s.cause) : s.cause,
              s.cycles);
  hca.chip().for_each_counters([&](std::string_view block, const auto& counters) {
    engine::for_each_counter(counters, [&](const auto& row, const u64& value) {
      if (row.unit == engine::kWaited)
        add_stall(i, std::string(block), std::string(row.sentence), &value, row.name);
    });
  });
  engine::for_each_counter(testbed_.node(i).writes().counters(),
                           [&](const auto& row, const u64& value) {
                             if (row.unit == engine::kWaited)
                               add_stall(i, "host", std::string(row.sentence), &value, row.name);
                           });
  for (std::size_t p = 0; p < tlm_::kPcieParts.size(); ++p)
    add_stall(i, "PCIe", std::string(tlm_::kPcieParts[p].name), &chips_[i].pcie.waited[p]);
}

// Waits are counted when they are over: they are drawn over the time in front.
void RunRecorder::look_at_stalls(std::vector<Chip::SampledStall>& stalls, u64 period, u64 to) {
  for (Chip::SampledStall& s : stalls) {
    if (*s.cycles == s.seen) [[likely]]
      continue;
    const u64 more = (*s.cycles - s.seen) * period;
    s.seen = *s.cycles;
    if (!recording_) continue;
    const u64 since = std::max(recording_since_, to - std::min(to, more));
    series_.add(s.of->column, std::min(since, to), to, double(more));
  }
}

u64 RunRecorder::Chip::dropped_for_room() const {
  u64 all = 0;
  for (const u64* port : no_room) all += *port;
  return all;
}

void RunRecorder::begin_stalls() {
  for (Stall& s : stalls_) s.begun = *s.cycles;
  for (Chip& chip : chips_) {
    for (auto* stalls : {&chip.stalls, &chip.queue_pair_stalls})
      for (Chip::SampledStall& s : *stalls) s.seen = *s.cycles;
    chip.qps.clear();
    chip.begun = *chip.requester;
    chip.no_room_begun = chip.dropped_for_room();
  }
  for (Core& core : cores_) {
    core.programs.clear();
    core.open_loops.clear();
    core.busy.clear();
    core.costs = testbed_.node(core.chip).cpu.costs();
  }
}

// The work that the cores of a host spent most time on, and all work at least half as long.
std::string RunRecorder::knobs_of_core(unsigned i) const {
  HostCosts costs = testbed_.node(i).cpu.costs();
  for (std::size_t c = 0; c < costs.size(); ++c) costs[c] -= cores_[i].costs[c];
  std::vector<std::size_t> order;
  const Cycle most = *std::ranges::max_element(costs);
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (most && costs[c] * 2 >= most) order.push_back(c);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t c) { return costs[c]; });
  std::string knobs;
  for (const std::size_t c : order)
    knobs += (knobs.empty() ? "" : ", ") + std::string(kHostCostKnobs[c]);
  return knobs.empty() ? "host" : knobs;
}

// Packets that went again; and a work request that went again as often as it may and failed.
void RunRecorder::end_losses(Phase& p) const {
  for (unsigned i = 0; i < chips_.size(); ++i) {
    const blocks::RequesterCounters &now = *chips_[i].requester, &then = chips_[i].begun;
    const u64 resent = now.resent - then.resent;
    if (!resent) continue;
    const bool lost = now.timeouts + now.sequence_naks + now.implied_naks !=
                      then.timeouts + then.sequence_naks + then.implied_naks;
    const bool dropped = std::ranges::any_of(testbed_.ends_at(i), [&](const Endpoint* end) {
      const Chip& peer = chips_[end->peer->node];
      return peer.dropped_for_room() != peer.no_room_begun;
    });
    if (lost)
      p.uses.push_back({fmt::format("hca{} losses", i), "losses",
                        double(resent) / double(now.packets - then.packets),
                        dropped ? "link_control.buffer, link_control.mode" : "wire, faults"});
    if (now.failed == then.failed) continue;
    p.uses.push_back({fmt::format("hca{} retries", i), "retries", 1,
                      lost ? "connection.retry_count, connection.timeout"
                           : "connection.rnr_retry, connection.min_rnr_timer"});
  }
}

void RunRecorder::Core::was_full(const void* program, Cycle since, Cycle until) {
  if (!recorder->recording_) return;
  programs[program] += (until - since) * recorder->chips_[chip].period;
}

void RunRecorder::Core::offers(const void* program, const Offer& offer) {
  if (recorder->recording_) open_loops[program] = offer;
}

// How much of the rate that open loops offer is completed, of the one that falls back most; if
// there are no others.
void RunRecorder::add_load(const Phase& p, std::vector<Use>& uses) const {
  Use least{"", "load", 2};
  for (const Core& core : cores_) {
    if (!core.programs.empty()) return;
    for (const auto& [program, offer] : core.open_loops) {
      const u64 last = offer.last * chips_[core.chip].period;
      const double share = double(offer.messages - offer.dropped) / double(offer.messages) *
                           double(last - std::min(last, p.from)) / double(p.to - p.from);
      if (share < least.share)
        least = {fmt::format("host {}'s offered load", core.chip), "load", share,
                 std::string(offer.knob)};
    }
  }
  if (!least.name.empty()) uses.push_back(std::move(least));
}

// A stream that always has as much in flight as it may, and no more: of several the one that does
// most.
void RunRecorder::end_depth(Phase& p) {
  for (const Core& core : cores_) {
    if (core.programs.empty()) continue;
    u64 full = 0;
    for (const auto& [program, time] : core.programs) full = std::max(full, time);
    p.uses.push_back({fmt::format("host {}'s messages in flight", core.chip), "depth",
                      std::min(1.0, double(full) / double(p.to - p.from)), "workload[].depth"});
  }
}

// ATOMICs of a queue pair are executed one after the other, however many units there are.
void RunRecorder::end_atomics(Phase& p) {
  for (unsigned i = 0; i < chips_.size(); ++i) {
    const Resource& units = resources_[chips_[i].atomics];
    const double chains = double(queue_pairs_to(i));
    if (units.busy == 0 || chains == 0 || chains > units.of) continue;
    p.uses.push_back({fmt::format("hca{} ATOMICs, one of a queue pair at a time", i), "ATOMICs",
                      std::min(1.0, units.picoseconds() / double(p.to - p.from) / chains),
                      "workload[].qps"});
  }
}

// The queue pairs with a message in this part of the run whose other end is at this chip.
long RunRecorder::queue_pairs_to(unsigned i) const {
  long count = 0;
  for (const Endpoint* end : testbed_.ends_at(i)) {
    const std::vector<bool>& qps = chips_[end->peer->node].qps;
    count += std::ranges::count_if(
        end->peer->qps, [&](const Qp* qp) { return qp->qpn < qps.size() && qps[qp->qpn]; });
  }
  return count;
}

// How many wait, if all do.
long RunRecorder::waiting(unsigned i, WaitOf of) const {
  if (of == WaitOf::Block) return 1;
  if (of == WaitOf::PeersQueuePairs) return queue_pairs_to(i);
  return std::count(chips_[i].qps.begin(), chips_[i].qps.end(), true);
}

// Among ports and lanes with the same cause, the one that waits most counts.
void RunRecorder::add_wait(Phase& p, std::string name, const WaitRow& row, double share) {
  const auto at =
      std::find_if(p.uses.begin(), p.uses.end(), [&](const Use& use) { return use.name == name; });
  if (at != p.uses.end())
    at->share = std::max(at->share, share);
  else
    p.uses.push_back({std::move(name), std::string(row.kind), share, std::string(row.knob)});
}

// A host that only receives holds its peer up when that waits for receive WQEs, and not otherwise:
// most of the time, or now and then for a core that has no time left.
bool RunRecorder::holds_up_peer(unsigned i, const std::vector<Use>& uses) const {
  double works = 0, waits = 0;
  for (const Use& use : uses)
    if (use.name == resources_[cores_[i].work].name) works = use.share;
  for (const Endpoint* end : testbed_.ends_at(i)) {
    const std::string peer = fmt::format("hca{} ", end->peer->node);
    for (const Use& use : uses)
      if (use.name == peer + "message credits" || use.name == peer + "RNR timers")
        waits = std::max(waits, use.share);
  }
  return waits >= kShareToName || (works >= kShareOfAll && waits >= kShareBeside);
}

// A doorbell register that one thread has for itself is its core's time.
std::vector<Use> RunRecorder::may_limit(const Phase& p) const {
  std::vector<Use> uses = p.uses;
  add_load(p, uses);
  const auto leave_out = [&](const std::string& name) {
    std::erase_if(uses, [&](const Use& use) { return use.name == name; });
  };
  for (unsigned i = 0; i < chips_.size(); ++i) {
    if (!testbed_.node(i).writes().shares_registers(testbed_.cores()))
      leave_out(name_of_register(i));
    if (!waiting(i, WaitOf::QueuePairs) && !holds_up_peer(i, uses))
      leave_out(resources_[cores_[i].work].name);
  }
  return uses;
}

void RunRecorder::end_stalls(Phase& p) {
  std::vector<std::pair<std::string, double>> waited;
  for (const Stall& s : stalls_) {
    const Chip& chip = chips_[s.chip];
    const u64 cycles = *s.cycles - s.begun;
    if (!cycles) continue;
    const double each = s.row ? double(std::max(waiting(s.chip, s.row->of), 1L)) : 1;
    const double share = std::min(1.0, double(cycles * chip.period) / double(p.to - p.from) / each);
    p.stalls.push_back({s.block, s.cause, cycles, share});
    if (s.row) add_wait(p, fmt::format("hca{} {}", s.chip, s.row->name), *s.row, share);
    waited.emplace_back(s.block + ' ' + s.cause, share);
  }
  // Tags and credits that are all in use are waited for or not.
  for (Use& use : p.uses) {
    if (use.kind != "tags" && use.kind != "credits") continue;
    const auto at = std::find_if(waited.begin(), waited.end(),
                                 [&](const auto& one) { return one.first == use.name; });
    use.waited = at == waited.end() ? 0 : at->second;
  }
  std::stable_sort(p.stalls.begin(), p.stalls.end(),
                   [](const Stalled& a, const Stalled& b) { return a.share > b.share; });
}

// The part in which the nearest limit is nearest; of several the first.
const RunRecorder::Phase* RunRecorder::busiest() const {
  const auto share = [](const Phase& p) {
    return !p.limits.empty() ? 1 + p.limits[0].share : p.uses.empty() ? -1 : p.uses[0].share;
  };
  const auto at =
      std::max_element(phases_.begin(), phases_.end(),
                       [&](const Phase& a, const Phase& b) { return share(a) < share(b); });
  return at == phases_.end() || at->uses.empty() ? nullptr : &*at;
}

std::vector<RunRecorder::PartFigures> RunRecorder::figures() const {
  std::vector<PartFigures> all;
  for (const Phase& p : phases_) {
    const double seconds = double(p.to - p.from) * 1e-12;
    PartFigures part{p.what, double(p.messages) / seconds, 0, p.limits, p.may_limit};
    if (const auto median = p.times.whole().percentile(50))
      part.median_seconds = double(*median) * 1e-12;
    all.push_back(std::move(part));
  }
  return all;
}

// Neighbours with the same limit are merged into one line.
std::string RunRecorder::bottleneck_lines() const {
  const auto limited_by = [](const Phase& p) {
    return p.limits.empty() ? "" : p.limits[0].name + p.limits[0].knob;
  };
  std::string text;
  std::size_t lines = 0;
  for (auto first = phases_.begin(), next = first; first != phases_.end(); first = next) {
    const auto differs = [&](const Phase& p) { return limited_by(p) != limited_by(*first); };
    next = std::find_if(first, phases_.end(), differs);
    if (first->uses.empty()) continue;
    if (++lines > kPartsToPrint)
      return text + fmt::format("{} more parts: in recording.phases of summary.json\n",
                                phases_.end() - first);
    text += text_of(std::span(first, next));
  }
  return text;
}

std::string RunRecorder::text_of(std::span<const Phase> parts) {
  const Phase& p = parts.front();
  const std::string what = parts.size() == 1 ? p.what
                                             : fmt::format("{} to {}, {} parts", p.what,
                                                           parts.back().what, parts.size());
  if (p.limits.empty()) {
    const auto share = [](const Phase& one) { return one.uses[0].share; };
    return fmt::format(
        "Nothing is busy enough to limit, {}: {} (the most); latency or the plan of an open loop "
        "does\n",
        what, testbench::text_of(std::ranges::max_element(parts, {}, share)->uses[0]));
  }
  if (parts.size() == 1)
    return fmt::format("Bottleneck, {}: {}{}\n", what, testbench::text_of(p.limits[0]),
                       p.limits.size() > 1 ? "; as near: " + testbench::text_of(p.limits[1]) : "");
  const auto share = [](const Phase& one) { return one.limits[0].share; };
  const auto [least, most] = std::ranges::minmax_element(parts, {}, share);
  return fmt::format("Bottleneck, {}: {}\n", what,
                     testbench::text_of(p.limits[0], share(*least), share(*most)));
}

std::string RunRecorder::stalls_line() const {
  const Phase* const p = busiest();
  std::string line;
  for (std::size_t i = 0; p && i < std::min(p->stalls.size(), kStallsToPrint); ++i)
    if (const Stalled& s = p->stalls[i]; s.share >= kShareToPrint)
      line +=
          fmt::format("{}{} waits for {} {:.0f} %", i ? "; " : "", s.block, s.cause, s.share * 100);
  return line.empty() ? line : fmt::format("Stalls, {}: {}\n", p->what, line);
}

std::string RunRecorder::stalls_csv() const {
  std::string text = "part,block,cause,cycles,share\n";
  for (const Phase& p : phases_)
    for (const Stalled& s : p.stalls)
      text += fmt::format("\"{}\",\"{}\",\"{}\",{},{:.4f}\n", p.what, s.block, s.cause, s.cycles,
                          s.share);
  return text;
}
}  // namespace hca::testbench
