// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "testbench/workload/round_trips.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kShownFaults = 16;

std::string microseconds(std::optional<u64> picoseconds) {
  return picoseconds ? fmt::format("{:.3f}", double(*picoseconds) * 1e-6) : "";
}

// " lost 3, twice 1": of what was sent.
template <class Result>
std::string on_the_way(const Result& r) {
  return fmt::format(" lost {}, twice {}", r.lost_on_the_way, r.duplicates);
}

std::string row_of(const SizeResult& r) {
  std::string line = fmt::format("{:>9}", r.bytes);
  if (r.bandwidth)
    line += fmt::format(" {:>9} {:>9.3f} {:>9.4f}", r.bandwidth->messages,
                        r.bandwidth->gigabits_per_second(r.bytes),
                        r.bandwidth->million_messages_per_second());
  else
    line += fmt::format(" {:>9} {:>9} {:>9}", "", "", "");
  const bool whole = !r.bandwidth || (!r.bandwidth->lost_on_the_way && !r.bandwidth->duplicates);
  if (!r.latency) return line + (whole ? "" : on_the_way(*r.bandwidth)) + "\n";
  line += fmt::format(" {:>9}", r.latency->picoseconds.count());
  for (const double percent : kPercentiles)
    line += fmt::format(" {:>9}", microseconds(r.latency->picoseconds.percentile(percent)));
  return line + (whole ? "" : on_the_way(*r.bandwidth)) + "\n";
}

// ", port 2" where a pair has two, ", hca1 to hca2" of more nodes.
std::string between(const Scenario& scenario, const Ends& ends) {
  if (scenario.nodes.size() > 2)
    return fmt::format(", hca{} to hca{}", ends[kClient].node, ends[kServer].node);
  return scenario.ports() == 1 ? "" : fmt::format(", port {}", ends[kClient].port + 1);
}

std::string table_of(const RunResult& result, const Scenario& scenario, Operation operation,
                     const Ends& ends) {
  std::string text = fmt::format("{}{}\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                                 name_of(operation), between(scenario, ends), "bytes", "messages",
                                 "Gb/s", "Mmsg/s", "samples", "p50 us", "p99 us", "p99.9 us");
  bool any = false;
  for (const SizeResult& r : result.sizes)
    if (r.operation == operation && r.ends == ends) {
      text += row_of(r);
      any = true;
    }
  return any ? text + "\n" : "";
}

// The streams that need more than a row of perftest.
std::string streams_of(const RunResult& result, const Scenario& scenario) {
  if (result.streams.empty()) return "";
  const auto entry_of = [&](const StreamResult& r) {
    return fmt::format("{} {} {}{}", r.entry, r.backward ? "<-" : "->", r.what,
                       between(scenario, r.ends));
  };
  std::size_t width = 5;
  for (const StreamResult& r : result.streams) width = std::max(width, entry_of(r).size());
  std::string text = fmt::format(
      "Streams: latency is from the post, in an open loop from the planned time, to the "
      "completion;\nlost: at the sender, whose queue was full; fair: slowest queue pair / "
      "fastest.\n{:<{}} {:>4} {:>9} {:>9} {:>9} {:>9} "
      "{:>9} "
      "{:>9} {:>9} {:>7} {:>5}\n",
      "entry", width, "qps", "messages", "Gb/s", "Mmsg/s", "p50 us", "p99 us", "p99.9 us", "lost",
      "queue", "fair");
  for (const StreamResult& r : result.streams) {
    text += fmt::format("{:<{}} {:>4} {:>9} {:>9.3f} {:>9.4f}", entry_of(r), width, r.qps,
                        r.messages, r.gigabits_per_second(), r.million_messages_per_second());
    for (const double percent : kPercentiles)
      text += fmt::format(" {:>9}", microseconds(r.latency.percentile(percent)));
    const bool open = r.planned_bits_per_second || r.planned_messages_per_second;
    const bool whole = !r.lost_on_the_way && !r.duplicates;
    text += fmt::format(" {:>9} {:>7} {:>5.3f}{}\n", open ? std::to_string(r.dropped) : "",
                        open ? std::to_string(r.queued_most) : "", r.fairness(),
                        whole ? "" : on_the_way(r));
  }
  return text + "\n";
}

// What the latency of requests consists of.
std::string trips_of(const RunResult& result) {
  std::string text;
  for (const StreamResult& r : result.streams) {
    if (r.trip.empty()) continue;
    text += fmt::format("Round trip of {} {}: its parts\n{:<40} {:>9} {:>9} {:>9} {:>9}\n", r.entry,
                        r.what, "part", "mean us", "p50 us", "p99 us", "p99.9 us");
    const auto line = [&](std::string_view name, const engine::Histogram& h) {
      text += fmt::format("{:<40} {:>9.3f}", name, h.mean().value_or(0) * 1e-6);
      for (const double percent : kPercentiles)
        text += fmt::format(" {:>9}", microseconds(h.percentile(percent)));
      text += '\n';
    };
    for (std::size_t p = 0; p < r.trip.size(); ++p) line(kTripPartNames[p], r.trip[p]);
    line("whole", r.latency);
    text += '\n';
  }
  return text;
}

// One line for each part that any of the messages has, in the order of the longest list.
std::vector<std::string_view> part_names(const std::vector<Breakdown>& breakdowns) {
  std::vector<const Breakdown*> longest_first;
  for (const Breakdown& b : breakdowns) longest_first.push_back(&b);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](auto* a, auto* b) { return a->parts.size() > b->parts.size(); });
  std::vector<std::string_view> names;
  for (const Breakdown* b : longest_first)
    for (const TimePart& part : b->parts)
      if (std::find(names.begin(), names.end(), part.name) == names.end())
        names.push_back(part.name);
  return names;
}

std::string breakdown_of(const RunResult& result, const Scenario& scenario) {
  if (result.breakdowns.empty()) return "";
  std::string text = fmt::format(
      "Where the time goes: one message alone, from its doorbell to its completion, in cycles of "
      "{:.6g} MHz.\nEach part ends with its block's stamp; followed is the last packet, of a READ "
      "the last response.\n{:<28}",
      double(scenario.nodes[0].hca.core.hertz()) * 1e-6, "");
  const auto title = [&](const Breakdown& b) {
    return fmt::format("{} {} B{}", name_of(b.operation), b.bytes, between(scenario, b.ends));
  };
  std::size_t width = 0;
  for (const Breakdown& b : result.breakdowns) width = std::max(width, title(b).size());
  for (const Breakdown& b : result.breakdowns) text += fmt::format(" {:>{}}", title(b), width);
  text += "\n";
  for (const std::string_view name : part_names(result.breakdowns)) {
    text += fmt::format("{:<28}", name);
    for (const Breakdown& b : result.breakdowns) {
      const auto at = std::find_if(b.parts.begin(), b.parts.end(),
                                   [&](const TimePart& part) { return part.name == name; });
      text += fmt::format(" {:>{}}", at == b.parts.end() ? "" : std::to_string(at->cycles), width);
    }
    text += "\n";
  }
  const auto line = [&](std::string_view name, auto value) {
    text += fmt::format("{:<28}", name);
    for (const Breakdown& b : result.breakdowns) text += fmt::format(" {:>{}}", value(b), width);
    text += "\n";
  };
  line("sum of the parts", [](const Breakdown& b) { return b.sum(); });
  line("measured whole", [](const Breakdown& b) { return b.whole; });
  const bool adds_up = std::all_of(result.breakdowns.begin(), result.breakdowns.end(),
                                   [](const Breakdown& b) { return b.sum() == b.whole; });
  if (adds_up) text += "The parts add up to the measured whole. ";
  return text +
         "A post without inline data means two reads by DMA: its WQE in wqe_fetch (spared by a "
         "push), its payload in packetizer.\n\n";
}

// The numbers of the cables that differ.
template <class Fn>
std::string of_cables(const Scenario& s, Fn&& number) {
  std::vector<double> numbers;
  for (const Cable& cable : s.laid_cables())
    if (const double each = number(cable); std::ranges::find(numbers, each) == numbers.end())
      numbers.push_back(each);
  return fmt::format("{:g}", fmt::join(numbers, " and "));
}

// For HCAs whose period is not a whole number of picoseconds at the requested clock.
std::string clocks_of(const Scenario& s) {
  std::string text;
  for (std::size_t i = 0; i < s.nodes.size(); ++i) {
    const blocks::CoreConfig& core = s.nodes[i].hca.core;
    if (core.hertz() == core.clock) continue;
    text += fmt::format(
        "hca{} runs at {:.9g} MHz, {} ps a cycle, {:+.0f} millionths of {:.9g} MHz\n", i,
        double(core.hertz()) * 1e-6, core.period(),
        (double(core.hertz()) / double(core.clock) - 1) * 1e6, double(core.clock) * 1e-6);
  }
  return text;
}

// Names the parts of a scenario that conform to no specification.
std::string extensions_of(const Scenario& s) {
  for (const NodeConfig& node : s.nodes)
    if (node.hca.transport.recovery != proto::Recovery::GoBackN)
      return fmt::format(
          "not conforming: hca.transport.recovery: {}, with {} packets of reorder_window\n",
          proto::kRecoveryNames[unsigned(node.hca.transport.recovery)],
          node.hca.transport.reorder_window);
  return "";
}

std::string measured_of(const MeasureConfig& measure) {
  if (measure.is_whole()) return "no warm-up is cut";
  return fmt::format("figures are of the time from {:g} us{} on after the first post",
                     double(measure.from) * 1e-6,
                     measure.to ? fmt::format(" to {:g} us", double(measure.to) * 1e-6) : "");
}

std::string head_of(const Scenario& s) {
  const auto rate = [&](const Cable& cable) {
    const NodePort& end = cable.ends[0];
    return double(s.nodes[end.node].hca.port[end.port].link_rate) * 1e-9;
  };
  const auto latency = [](const Cable& cable) { return double(cable.wire.one_way()) * 1e-3; };
  const std::size_t nodes = s.nodes.size();
  return fmt::format(
      "{} HCAs{}, {}, path MTU {}, {} Gb/s, wire {} ns, PCIe gen {} x{}, seed {}\n{}{}{}"
      "As perftest measures: bandwidth is payload from the first post to the last completion;\n"
      "latency is half the time from one post of a ping-pong to the next, of READ and ATOMIC all "
      "of the\n"
      "time from one to the next; {}.\n"
      "A percentile with fewer than {} samples beyond it stays blank.\n\n",
      nodes == 2 ? "Two" : std::to_string(nodes),
      nodes == 2 && s.ports() == 2 ? " with two ports" : "",
      kFramingWords[unsigned(s.connection.framing)], bytes_of_mtu(s.connection.path_mtu),
      of_cables(s, rate), of_cables(s, latency), s.nodes[0].pcie.generation, s.nodes[0].pcie.lanes,
      s.run.seed, clocks_of(s),
      s.rtl.any() ? std::string("RTL in the path of ") + (nodes == 2 ? "both" : "all") + ": " +
                        s.rtl.text() + "\n"
                  : "",
      extensions_of(s), measured_of(s.measure), engine::Histogram::kNeededBeyond);
}
// A fault that never happened is most often one that says another frame than it means.
std::string unused_faults_of(const RunResult& result, const Scenario& scenario) {
  std::string text;
  for (const tlm_::FaultUse& use : result.fault_uses)
    if (!use.done)
      text += fmt::format("faults[{}] ({}) never happened: {} frame{} matched\n", use.number,
                          tlm_::kFaultNames[unsigned(scenario.faults[use.number].action)],
                          use.matches, use.matches == 1 ? "" : "s");
  return text;
}
// No block obeys a congestion notification.
std::string unheard_of(const RunResult& result) {
  u64 sent = 0;
  for (const CounterValue& counter : result.counters)
    if (counter.name.ends_with(".responder_reply.cnps")) sent += counter.value;
  if (!sent) return "";
  return fmt::format("{} CNP{} and CNs were sent, and change no rate: no sender here slows down\n",
                     sent, sent == 1 ? "" : "s");
}
// The part of a sender's name that a fault's own words, "from end 0", do not contain.
std::string sent_by(const Scenario& scenario, const NodePort& sender) {
  if (scenario.nodes.size() > 2)
    return fmt::format(", hca{} port {}", sender.node, sender.port + 1);
  return scenario.ports() == 1 ? "" : fmt::format(", port {}", sender.port + 1);
}
// How many of each action, and the first ones.
std::string faults_of(const RunResult& result, const Scenario& scenario) {
  if (result.faults.empty()) return "";
  std::array<u64, tlm_::kFaultNames.size()> counts{};
  for (const WireFault& fault : result.faults) ++counts[unsigned(fault.record.action)];
  std::string text =
      fmt::format("{} fault{}:", result.faults.size(), result.faults.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i]) text += fmt::format(" {} {}", tlm_::kFaultNames[i], counts[i]);
  text += "\n";
  for (std::size_t i = 0; i < std::min(result.faults.size(), kShownFaults); ++i)
    text += fmt::format("  {}{}\n", to_string(result.faults[i].record),
                        sent_by(scenario, result.faults[i].sender));
  if (result.faults.size() > kShownFaults)
    text +=
        fmt::format("  and {} more: summary.json has all\n", result.faults.size() - kShownFaults);
  return text;
}
}  // namespace

std::string text_of(const RunResult& result, const Scenario& scenario) {
  std::string text = head_of(scenario);
  std::set<Ends> connections;
  for (const SizeResult& size : result.sizes) connections.insert(size.ends);
  for (std::size_t i = 0; i < kOperationCount; ++i)
    for (const Ends& ends : connections) text += table_of(result, scenario, Operation(i), ends);
  text += streams_of(result, scenario) + trips_of(result);
  text += breakdown_of(result, scenario);
  text += faults_of(result, scenario) + unused_faults_of(result, scenario) + unheard_of(result);
  text +=
      fmt::format("{} messages with {} bytes checked, {} frames; {:.3f} ms simulated in {:.2f} s\n",
                  result.messages, result.bytes_checked, result.frames,
                  double(result.picoseconds) * 1e-9, result.seconds);
  if (scenario.run.payload == blocks::Payload::Timed)
    text += fmt::format("payload is timed: of each message only the first {} bytes are checked\n",
                        blocks::kTimedPayload);
  if (result.hash) text += fmt::format("hash {:016x}\n", *result.hash);
  if (result.lost) text += fmt::format("messages lost on the way: {}\n", result.lost);
  if (result.duplicates) text += fmt::format("messages that came twice: {}\n", result.duplicates);
  for (const std::string& failure : result.failures) text += "FAILED: " + failure + "\n";
  return text;
}
}  // namespace hca::testbench
