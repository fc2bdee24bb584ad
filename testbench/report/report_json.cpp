// SPDX-License-Identifier: Apache-2.0
// The result of a run as data.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

#include "testbench/report/report.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/workload/round_trips.h"

namespace hca::testbench {
namespace {
nlohmann::json json_of(const engine::Histogram& latency) {
  nlohmann::json json{{"samples", latency.count()}, {"histogram_ps", latency.sorted()}};
  for (const double percent : kPercentiles) {
    const auto value = latency.percentile(percent);
    json[fmt::format("p{:g}_us", percent)] =
        value ? nlohmann::json(double(*value) * 1e-6) : nlohmann::json();
  }
  return json;
}

// With more nodes than a pair: names the ends.
nlohmann::json with_ends(nlohmann::json row, const Scenario& scenario, const Ends& ends) {
  if (scenario.nodes.size() > 2) {
    row["client"] = ends[kClient].node;
    row["server"] = ends[kServer].node;
  }
  return row;
}

// The parts of a round trip: [{"part", "mean_us", "p50_us" ...}]; empty: no answers.
nlohmann::json trip_of(const StreamResult& r) {
  nlohmann::json parts = nlohmann::json::array();
  for (std::size_t p = 0; p < r.trip.size(); ++p) {
    nlohmann::json part = json_of(r.trip[p]);
    part.erase("histogram_ps");
    part["part"] = kTripPartNames[p];
    part["mean_us"] = r.trip[p].mean().value_or(0) * 1e-6;
    parts.push_back(std::move(part));
  }
  return parts;
}

nlohmann::json json_of(const StreamResult& r) {
  return {{"entry", r.entry},
          {"direction", r.backward ? "backward" : "forward"},
          {"what", r.what},
          {"port", r.ends[kClient].port + 1},
          {"qps", r.qps},
          {"messages", r.messages},
          {"bytes", r.bytes},
          {"picoseconds", r.picoseconds},
          {"gbit_per_s", r.gigabits_per_second()},
          {"mmsg_per_s", r.million_messages_per_second()},
          {"planned_bit_per_s", r.planned_bits_per_second},
          {"planned_msg_per_s", r.planned_messages_per_second},
          {"lost", r.dropped},
          {"lost_on_the_way", r.lost_on_the_way},
          {"duplicates", r.duplicates},
          {"queue_most", r.queued_most},
          {"qp_picoseconds", r.qp_picoseconds},
          {"fairness", r.fairness()},
          {"round_trip", trip_of(r)},
          {"latency", json_of(r.latency)}};
}
}  // namespace

namespace {
// Every knob by its path; knobs for all chips or ports are listed for each.
nlohmann::json knobs_json(Scenario scenario) {
  nlohmann::json knobs;
  const auto keep = [&](const KnobTable::Entry& entry) { knobs[entry.path] = entry.text; };
  const KnobTable table = knobs_of(scenario);
  for (const KnobTable::Entry& entry : table.entries())
    if (!is_of_both_chips(entry.path) &&
        !(scenario.ports() == 1 ? is_of_one_port(entry.path) : is_of_both_ports(entry.path)))
      keep(entry);
  KnobTable lists;
  for (std::size_t i = 0; i < scenario.workload.size(); ++i) {
    WorkloadConfig& w = scenario.workload[i];
    const std::string path = fmt::format("workload[{}]", i);
    lists.add(path, w);
    if (w.is_mixed()) lists.add(path + ".mix", w.mix);
    for (std::size_t k = 0; k < w.sizes.size(); ++k)
      lists.add(fmt::format("{}.sizes[{}]", path, k), w.sizes[k]);
    for (std::size_t k = 0; k < w.serve_times.size(); ++k)
      lists.add(fmt::format("{}.serve_times[{}]", path, k), w.serve_times[k]);
  }
  for (std::size_t i = 0; i < scenario.faults.size(); ++i)
    lists.add(fmt::format("faults[{}]", i), scenario.faults[i]);
  for (std::size_t i = 0; i < scenario.vl_arbitration.size(); ++i)
    lists.add(fmt::format("vl_arbitration[{}]", i), scenario.vl_arbitration[i]);
  for (const KnobTable::Entry& entry : lists.entries()) keep(entry);
  return knobs;
}
// The same with entries of lists that say nothing.
nlohmann::json plain_lists(Scenario scenario) {
  for (WorkloadConfig& w : scenario.workload) {
    const std::size_t sizes = w.sizes.size(), times = w.serve_times.size();
    w = {};
    w.sizes.resize(sizes);
    w.serve_times.resize(times);
  }
  std::ranges::fill(scenario.faults, FaultConfig{});
  std::ranges::fill(scenario.vl_arbitration, decltype(scenario.vl_arbitration)::value_type{});
  return knobs_json(std::move(scenario));
}

// The paths of those that are not as by default; an entry of a list also of those that the workload
// has which is run without one.
nlohmann::json changed_knobs(const Scenario& scenario) {
  Scenario defaults = default_scenario();
  defaults.nodes.resize(scenario.nodes.size());
  defaults.cables.resize(scenario.cables.size());
  const nlohmann::json entries = plain_lists(scenario), own = knobs_json(defaults);
  std::map<std::string, std::string> plain;
  const KnobTable table = knobs_of(defaults);
  for (const KnobTable::Entry& entry : table.entries()) plain[entry.path] = entry.text;
  const nlohmann::json knobs = knobs_json(scenario);
  nlohmann::json changed = nlohmann::json::array();
  for (const auto& [path, text] : knobs.items()) {
    const auto found = plain.find(path);
    if (found != plain.end() ? found->second != text
                             : entries.value(path, "") != text && own.value(path, "") != text)
      changed.push_back(path);
  }
  return changed;
}
}  // namespace

nlohmann::json json_of(const RunResult& result, const Scenario& scenario) {
  using nlohmann::json;
  json sizes = json::array();
  for (const SizeResult& r : result.sizes) {
    json row{{"operation", name_of(r.operation)},
             {"port", r.ends[kClient].port + 1},
             {"bytes", r.bytes}};
    if (r.bandwidth)
      row["bandwidth"] = {{"messages", r.bandwidth->messages},
                          {"picoseconds", r.bandwidth->picoseconds},
                          {"gbit_per_s", r.bandwidth->gigabits_per_second(r.bytes)},
                          {"mmsg_per_s", r.bandwidth->million_messages_per_second()},
                          {"lost_on_the_way", r.bandwidth->lost_on_the_way},
                          {"duplicates", r.bandwidth->duplicates}};
    if (r.latency) {
      row["latency"] = json_of(r.latency->picoseconds);
    }
    sizes.push_back(with_ends(std::move(row), scenario, r.ends));
  }
  json breakdowns = json::array(), streams = json::array();
  for (const StreamResult& r : result.streams)
    streams.push_back(with_ends(json_of(r), scenario, r.ends));
  for (const Breakdown& b : result.breakdowns) {
    json parts = json::array();
    for (const TimePart& part : b.parts)
      parts.push_back({{"part", part.name}, {"cycles", part.cycles}});
    breakdowns.push_back({{"operation", name_of(b.operation)},
                          {"port", b.ends[kClient].port + 1},
                          {"bytes", b.bytes},
                          {"parts", parts},
                          {"sum", b.sum()},
                          {"whole", b.whole}});
  }
  json counters;
  for (const CounterValue& counter : result.counters) counters[counter.name] = counter.value;
  json faults = json::array();
  for (const auto& [sender, r] : result.faults)
    faults.push_back({{"us", double(r.picoseconds) * 1e-6},
                      {"action", tlm_::kFaultNames[unsigned(r.action)]},
                      {"port", sender.port + 1},
                      {"from", sender.node},
                      {"qpn", r.qpn},
                      {"psn", r.psn},
                      {"occurrence", r.occurrence}});
  json clocks = json::array(), unused = json::array();
  for (const NodeConfig& node : scenario.nodes) clocks.push_back(node.hca.core.hertz());
  for (const tlm_::FaultUse& use : result.fault_uses)
    if (!use.done) unused.push_back({{"index", use.number}, {"matched", use.matches}});
  return {{"succeeded", result.failures.empty()},
          {"failures", result.failures},
          {"sizes", sizes},
          {"streams", streams},
          {"breakdowns", breakdowns},
          {"counters", counters},
          {"faults", faults},
          {"unused_faults", unused},
          {"messages_checked", result.messages},
          {"bytes_checked", result.bytes_checked},
          {"frames", result.frames},
          {"lost", result.lost},
          {"duplicates", result.duplicates},
          {"simulated_ps", result.picoseconds},
          {"hash", result.hash ? json(fmt::format("{:016x}", *result.hash)) : json()},
          {"rtl", scenario.rtl.text()},
          {"clock_hz", clocks},
          {"knobs", knobs_json(scenario)},
          {"knobs_changed", changed_knobs(scenario)}};
}
}  // namespace hca::testbench
