// SPDX-License-Identifier: Apache-2.0
#include "testbench/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
constexpr std::array kPercentiles{50.0, 99.0, 99.9};

std::string microseconds(std::optional<u64> picoseconds) {
  return picoseconds ? fmt::format("{:.3f}", double(*picoseconds) * 1e-6) : "";
}

std::string row_of(const SizeResult& r) {
  std::string line = fmt::format("{:>9}", r.bytes);
  if (r.bandwidth)
    line += fmt::format(" {:>9} {:>9.3f} {:>9.4f}", r.bandwidth->messages,
                        r.bandwidth->gigabits_per_second(r.bytes),
                        r.bandwidth->million_messages_per_second());
  else
    line += fmt::format(" {:>9} {:>9} {:>9}", "", "", "");
  if (!r.latency) return line + "\n";
  line += fmt::format(" {:>9}", r.latency->picoseconds.count());
  for (const double percent : kPercentiles)
    line += fmt::format(" {:>9}", microseconds(r.latency->picoseconds.percentile(percent)));
  return line + "\n";
}

std::string table_of(const RunResult& result, Operation operation) {
  std::string text = fmt::format("{}\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
                                 kOperationNames[unsigned(operation)], "bytes", "messages", "Gb/s",
                                 "Mmsg/s", "samples", "p50 us", "p99 us", "p99.9 us");
  bool any = false;
  for (const SizeResult& r : result.sizes)
    if (r.operation == operation) text += row_of(r), any = true;
  return any ? text + "\n" : "";
}

// One line for each part that any of the messages has, in the order of the longest list.
std::vector<std::string> part_names(const std::vector<Breakdown>& breakdowns) {
  std::vector<std::string> names;
  for (const Breakdown& b : breakdowns)
    for (const TimePart& part : b.parts)
      if (std::find(names.begin(), names.end(), part.name) == names.end())
        names.push_back(part.name);
  return names;
}

std::string breakdown_of(const RunResult& result, const Scenario& scenario) {
  if (result.breakdowns.empty()) return "";
  std::string text = fmt::format(
      "Where the time goes: one message alone, from its doorbell to its completion, in cycles of "
      "{:.6g} MHz.\nEach part ends with its block's stamp; followed is the last packet.\n{:<26}",
      double(scenario.hca[0].core.clock) * 1e-6, "");
  for (const Breakdown& b : result.breakdowns)
    text += fmt::format(" {:>16}",
                        fmt::format("{} {} B", kOperationNames[unsigned(b.operation)], b.bytes));
  text += "\n";
  for (const std::string& name : part_names(result.breakdowns)) {
    text += fmt::format("{:<26}", name);
    for (const Breakdown& b : result.breakdowns) {
      const auto at = std::find_if(b.parts.begin(), b.parts.end(),
                                   [&](const TimePart& part) { return part.name == name; });
      text += fmt::format(" {:>16}", at == b.parts.end() ? "" : std::to_string(at->cycles));
    }
    text += "\n";
  }
  const auto line = [&](std::string_view name, auto value) {
    text += fmt::format("{:<26}", name);
    for (const Breakdown& b : result.breakdowns) text += fmt::format(" {:>16}", value(b));
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

std::string head_of(const Scenario& s) {
  return fmt::format(
      "Two HCAs, {}, path MTU {}, {:g} Gb/s, wire {:g} ns, PCIe gen {} x{}, seed {}\n"
      "As perftest measures: bandwidth is payload from the first post to the last completion;\n"
      "latency is half the time from one post of a ping-pong to the next; no warm-up is cut.\n"
      "A percentile with fewer than {} samples beyond it stays blank.\n\n",
      kFramingWords[unsigned(s.connection.framing)], bytes_of_mtu(s.connection.path_mtu),
      double(s.hca[0].port.link_rate) * 1e-9, double(s.wire.latency) * 1e-3, s.pcie[0].generation,
      s.pcie[0].lanes, s.run.seed, engine::Histogram::kNeededBeyond);
}
}  // namespace

std::string text_of(const RunResult& result, const Scenario& scenario) {
  std::string text = head_of(scenario);
  for (const Operation operation : {Operation::Write, Operation::Send})
    text += table_of(result, operation);
  text += breakdown_of(result, scenario);
  for (const tlm_::FaultRecord& fault : result.faults) text += "fault: " + to_string(fault) + "\n";
  text +=
      fmt::format("{} messages with {} bytes checked, {} frames; {:.3f} ms simulated in {:.2f} s\n",
                  result.messages, result.bytes_checked, result.frames,
                  double(result.picoseconds) * 1e-9, result.seconds);
  if (result.hash) text += fmt::format("hash {:016x}\n", *result.hash);
  for (const std::string& failure : result.failures) text += "FAILED: " + failure + "\n";
  return text;
}

nlohmann::json json_of(const RunResult& result, const Scenario& scenario) {
  using nlohmann::json;
  json sizes = json::array();
  for (const SizeResult& r : result.sizes) {
    json row{{"operation", kOperationNames[unsigned(r.operation)]}, {"bytes", r.bytes}};
    if (r.bandwidth)
      row["bandwidth"] = {{"messages", r.bandwidth->messages},
                          {"picoseconds", r.bandwidth->picoseconds},
                          {"gbit_per_s", r.bandwidth->gigabits_per_second(r.bytes)},
                          {"mmsg_per_s", r.bandwidth->million_messages_per_second()}};
    if (r.latency) {
      const engine::Histogram& h = r.latency->picoseconds;
      json latency{{"samples", h.count()}};
      for (const double percent : kPercentiles) {
        const auto value = h.percentile(percent);
        latency[fmt::format("p{:g}_us", percent)] = value ? json(double(*value) * 1e-6) : json();
      }
      row["latency"] = latency;
    }
    sizes.push_back(row);
  }
  json breakdowns = json::array();
  for (const Breakdown& b : result.breakdowns) {
    json parts = json::array();
    for (const TimePart& part : b.parts)
      parts.push_back({{"part", part.name}, {"cycles", part.cycles}});
    breakdowns.push_back({{"operation", kOperationNames[unsigned(b.operation)]},
                          {"bytes", b.bytes},
                          {"parts", parts},
                          {"sum", b.sum()},
                          {"whole", b.whole}});
  }
  Scenario copy = scenario;
  json knobs;
  const KnobTable table = knobs_of(copy);
  for (const KnobTable::Entry& entry : table.entries())
    if (!is_of_both_chips(entry.path)) knobs[entry.path] = entry.text();
  json faults = json::array();
  for (const tlm_::FaultRecord& fault : result.faults) faults.push_back(to_string(fault));
  return {{"succeeded", result.failures.empty()},
          {"failures", result.failures},
          {"sizes", sizes},
          {"breakdowns", breakdowns},
          {"faults", faults},
          {"messages_checked", result.messages},
          {"bytes_checked", result.bytes_checked},
          {"frames", result.frames},
          {"simulated_ps", result.picoseconds},
          {"hash", result.hash ? json(fmt::format("{:016x}", *result.hash)) : json()},
          {"knobs", knobs}};
}
}  // namespace hca::testbench
