// SPDX-License-Identifier: Apache-2.0
// trace.json, read back: what Perfetto needs of it, and that arrows follow a message.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "testbench/run/run.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/trace/chrome_trace.h"

namespace hca::testbench {
namespace {
using TrackId = std::pair<int, int>;
struct Mark {
  std::int64_t at;  // ns
  std::string phase, track;
  bool operator<(const Mark& o) const { return at < o.at; }
};
struct Timeline {
  RunResult result;
  u64 cut_at = 0;
  std::string text;
  std::map<TrackId, std::string> names;
  std::map<TrackId, std::vector<std::pair<std::int64_t, std::int64_t>>> slices;  // from, to: ns
  std::map<std::string, std::vector<std::pair<std::int64_t, u64>>> counters;     // at, value
  std::map<u64, std::vector<Mark>> flows;                                        // by message
  std::vector<std::int64_t> passed_port;                                         // of hca0, ns
  bool bound = true;  // each mark of a flow is at the begin of a slice of its track
  bool whole = true;  // each event has what readers of the format ask for

  // Of a block, in all its tracks, by their ends.
  std::vector<std::pair<std::int64_t, std::int64_t>> slices_of(const std::string& process,
                                                               const std::string& track) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;
    for (const auto& [id, name] : names)
      if (name == process + ": " + track || name.starts_with(process + ": " + track + " ("))
        all.insert(all.end(), slices.at(id).begin(), slices.at(id).end());
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    return all;
  }
  std::vector<std::int64_t> ends_of(const std::string& process, const std::string& track) const {
    std::vector<std::int64_t> ends;
    for (const auto& [from, to] : slices_of(process, track)) ends.push_back(to);
    return ends;
  }
};
std::int64_t nanoseconds(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

Timeline run_with_trace(const std::string& text) {
  FreshKernel kernel;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("hca_trace_" + std::to_string(::getpid()) + ".json"))
                               .string();
  Timeline line;
  {
    Runner runner(parse_scenario(text, "test.yaml"), {});
    ChromeTrace trace(path, runner.testbed());
    engine::RecordingSink sink;
    engine::ProbeHub& hub = runner.testbed().node(0).hca.probes();
    hub.attach(sink);
    line.result = runner.run();
    hub.detach(sink);
    trace.close();
    for (const engine::Event& e : sink.events)
      if (hub.name(e.block) == "port" && e.kind == u16(blocks::Step::Passed))
        line.passed_port.push_back(std::int64_t(e.at * 2500 / 1000));  // 400 MHz
    line.cut_at = trace.cut_at();
  }
  std::ostringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  line.text = bytes.str();
  const nlohmann::json json = nlohmann::json::parse(line.text);
  std::filesystem::remove(path);
  std::map<int, std::string> processes;
  for (const auto& e : json.at("traceEvents")) {
    const std::string phase = e.at("ph"), name = e.at("name");
    for (const char* key : {"cat", "ts", "pid"}) line.whole &= e.contains(key);
    if (name == "process_name") processes[e.at("pid")] = e.at("args").at("name");
    if (phase == "C")
      line.counters[processes.at(e.at("pid")) + ": " + name].push_back(
          {nanoseconds(e.at("ts")), e.at("args").at("items")});
    if (!e.contains("tid")) continue;
    const TrackId id{e.at("pid"), e.at("tid")};
    if (name == "thread_name")
      line.names[id] = processes.at(id.first) + ": " + e.at("args").at("name").get<std::string>();
    if (phase == "X")
      line.slices[id].push_back(
          {nanoseconds(e.at("ts")), nanoseconds(e.at("ts")) + nanoseconds(e.at("dur"))});
    if (phase == "s" || phase == "t" || phase == "f")
      line.flows[e.at("id")].push_back({nanoseconds(e.at("ts")), phase, line.names.at(id)});
  }
  for (auto& [id, list] : line.slices) std::sort(list.begin(), list.end());
  for (auto& [message, marks] : line.flows)
    for (const Mark& mark : marks)
      line.bound &= std::any_of(line.slices.begin(), line.slices.end(), [&](const auto& track) {
        return line.names.at(track.first) == mark.track &&
               std::any_of(track.second.begin(), track.second.end(),
                           [&](const auto& slice) { return slice.first == mark.at; });
      });
  return line;
}
std::vector<std::string> way_of(const std::vector<Mark>& marks) {
  std::vector<std::string> way;
  for (const Mark& mark : marks) way.push_back(mark.track);
  return way;
}
}  // namespace

TEST_CASE("trace.json: no two slices of a track overlap, and every frame is there",
          "[run][files][trace]") {
  const Timeline line = run_with_trace(
      "wire: {latency: 100 ns}\nworkload:\n"
      "  - {operation: write, size: 8 KiB, messages: 20}\n"
      "  - {operation: read, size: 4 KiB, messages: 20, qps: 2}\n");
  REQUIRE(line.result.failures.empty());
  CHECK(line.cut_at == 0);
  bool apart = true;
  for (const auto& [id, slices] : line.slices)
    for (std::size_t i = 1; i < slices.size(); ++i)
      apart &= slices[i - 1].second <= slices[i].first;
  CHECK(apart);
  CHECK(line.bound);
  CHECK(line.whole);
  const auto count = [&](const char* process, const char* track) {
    return line.slices_of(process, track).size();
  };
  CHECK(count("wire", "port 1, from hca0") + count("wire", "port 1, from hca1") ==
        line.result.frames);
  CHECK(count("hca0", "port") + count("hca1", "port") == line.result.frames);
  CHECK(line.ends_of("hca0", "port") == line.passed_port);
}

// The blocks of docs/design/architecture.md, "One WRITE, block by block".
TEST_CASE("trace.json: the arrows of a WRITE pass its blocks in their order",
          "[run][files][trace]") {
  const Timeline line =
      run_with_trace("workload:\n  - {operation: write, size: 64 B, messages: 3, depth: 1}\n");
  REQUIRE(line.result.failures.empty());
  REQUIRE(line.flows.size() == 4);  // the breakdown's message is the fourth
  const std::vector<std::string> way{
      "hca0: doorbell",          "hca0: qp_scheduler",      "hca0: wqe_fetch",
      "hca0: requester",         "hca0: packetizer",        "wire: port 1, from hca0",
      "hca1: responder_check",   "hca1: responder_execute", "hca1: responder_reply",
      "wire: port 1, from hca1", "hca0: response_check",    "hca0: requester, completed",
      "hca0: completion"};
  for (const auto& [message, marks] : line.flows) {
    CHECK(way_of(marks) == way);
    CHECK(std::is_sorted(marks.begin(), marks.end()));
    for (const Mark& mark : marks)
      CHECK(mark.phase == (&mark == &marks.front() ? "s" : &mark == &marks.back() ? "f" : "t"));
  }
  // From the doorbell's stamp to the entry into `completion`, as the breakdown has it: cycles of
  // 2.5 ns.
  REQUIRE(line.result.breakdowns.size() == 1);
  const auto& parts = line.result.breakdowns[0].parts;
  const auto part = [&](const char* name) {
    return std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.name == name; });
  };
  u64 cycles = 0;
  for (auto p = part("doorbell") + 1; p != part("completion"); ++p) cycles += p->cycles;
  const std::vector<Mark>& last = line.flows.rbegin()->second;
  CHECK(std::abs(double(last.back().at - last.front().at) - double(cycles) * 2.5) < 1);
}

// One message alone: each slice is as long as its part of the breakdown, cycles of 2.5 ns.
TEST_CASE("trace.json: a slice is as long as the item stays in the block", "[run][files][trace]") {
  const Timeline line =
      run_with_trace("workload:\n  - {operation: write, size: 64 B, messages: 1, depth: 1}\n");
  REQUIRE(line.result.failures.empty());
  REQUIRE(line.result.breakdowns.size() == 1);
  const std::pair<const char*, const char*> tracks[] = {
      {"hca0: qp_scheduler", "qp_scheduler"},
      {"hca0: wqe_fetch", "wqe_fetch"},
      {"hca0: requester", "requester"},
      {"hca0: packetizer", "packetizer"},
      {"hca0: icrc_unit", "icrc_unit, inserted"},
      {"hca0: port", "port, transmit"},
      {"hca1: responder_check", "responder_check"},
      {"hca1: responder_execute", "responder_execute"},
      {"hca1: responder_reply", "responder_reply"},
      {"hca0: response_check", "response_check"},
      {"hca0: requester, completed", "requester, completion"},
      {"hca0: completion", "completion"}};
  for (const auto& [track, part] : tracks) {
    INFO(track);
    const std::string name(track);
    const auto slices = line.slices_of(name.substr(0, 4), name.substr(6));
    REQUIRE(!slices.empty());
    for (const TimePart& p : line.result.breakdowns[0].parts)
      if (p.name == part)  // that message is the last one
        CHECK(std::abs(double(slices.back().second - slices.back().first) -
                       2.5 * double(p.cycles)) <= 1);
  }
}

// Of a chip with three packet buffers: its counter goes up to 3, ends with 0, and has each value
// for a time.
TEST_CASE("trace.json: queues and buffers are counters", "[run][files][trace]") {
  const Timeline line = run_with_trace(
      "hca.packetizer.buffers: 3\nworkload:\n"
      "  - {operation: write, size: 8 KiB, messages: 20}\n");
  REQUIRE(line.result.failures.empty());
  const auto& values = line.counters.at("hca0: requester: packet buffers");
  u64 most = 0;
  for (const auto& [at, value] : values) most = std::max(most, value);
  CHECK(most == 3);
  CHECK(values.back().second == 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    CHECK(values[i - 1].first <= values[i].first);
    CHECK(values[i - 1].second != values[i].second);
  }
}

TEST_CASE("trace.json: arrows follow both directions of one queue pair, and a READ",
          "[run][files][trace]") {
  const Timeline line = run_with_trace(
      "workload:\n"
      "  - {operation: send, size: 64 B, messages: 10, direction: both}\n"
      "  - {operation: read, size: 64 B, messages: 10, depth: 1}\n");
  REQUIRE(line.result.failures.empty());
  CHECK(line.bound);
  u64 whole = 0, from_server = 0;
  for (const auto& [message, marks] : line.flows) {
    whole += marks.front().phase == "s" && marks.back().phase == "f";
    from_server += marks.front().track == "hca1: doorbell";
  }
  CHECK(whole == line.flows.size());
  CHECK(from_server == 10);
  CHECK(line.flows.size() == 32);  // and one breakdown for each operation
}

TEST_CASE("trace.json has the same bytes however far chips run ahead", "[run][files][trace]") {
  const std::string workload =
      "hca1.core.clock: 250 MHz\nworkload:\n"
      "  - {operation: write, size: 2 KiB, messages: 20, direction: both}\n";
  const Timeline line = run_with_trace(workload);
  REQUIRE(line.result.failures.empty());
  REQUIRE(line.cut_at == 0);
  CHECK(line.text.size() > 10'000);
  CHECK(run_with_trace("run: {quantum: 1 cycle}\n" + workload).text == line.text);
  CHECK(run_with_trace("run: {shuffle_seed: 3}\n" + workload).text == line.text);
}
}  // namespace hca::testbench
