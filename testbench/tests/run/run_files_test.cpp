// SPDX-License-Identifier: Apache-2.0
// events.csv and run.vcd: read back by small parsers and compared with the run.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "testbench/run/run.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/trace/event_log.h"
#include "testbench/trace/vcd_file.h"

namespace hca::testbench {
namespace {
struct Files {
  RunResult result;
  std::string events, vcd;
};
std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
Files run_with_files(const std::string& text) {
  FreshKernel kernel;
  const auto directory = std::filesystem::temp_directory_path();
  const std::string stem = (directory / ("hca_run_files_" + std::to_string(::getpid()))).string();
  Files files;
  {
    Runner runner(parse_scenario(text, "test.yaml"), {});
    EventLog events(stem + ".csv", runner.testbed());
    VcdFile vcd(stem + ".vcd", runner.testbed());
    files.result = runner.run();
    events.close(), vcd.close();
  }
  files.events = text_of_file(stem + ".csv"), files.vcd = text_of_file(stem + ".vcd");
  std::filesystem::remove(stem + ".csv"), std::filesystem::remove(stem + ".vcd");
  return files;
}

// The signals of a VCD by their path, with all changes: (time, value).
struct Vcd {
  std::map<std::string, std::vector<std::pair<u64, u64>>> signals;
  std::map<std::string, unsigned> widths;
  bool in_order = true;
};
Vcd parse_vcd(const std::string& text) {
  Vcd vcd;
  std::map<std::string, std::string> path_of;
  std::vector<std::string> scopes;
  std::istringstream in(text);
  u64 now = 0;
  bool defined = false;
  for (std::string word; in >> word;) {
    std::string a, b, c, d, end;
    if (word == "$scope") {
      in >> a >> b >> end;
      scopes.push_back(b);
    } else if (word == "$upscope") {
      in >> end;
      scopes.pop_back();
    } else if (word == "$var") {
      in >> a >> b >> c >> d >> end;
      REQUIRE(end == "$end");
      std::string path;
      for (const std::string& scope : scopes) path += scope + ".";
      REQUIRE(path_of.emplace(c, path + d).second);
      REQUIRE(vcd.signals.emplace(path + d, std::vector<std::pair<u64, u64>>{}).second);
      vcd.widths[path + d] = unsigned(std::stoul(b));
    } else if (word == "$enddefinitions") {
      in >> end;
      defined = true;
    } else if (word == "$dumpvars" || word == "$end") {
    } else if (word == "$version" || word == "$timescale") {
      while (in >> end && end != "$end") {
      }
    } else if (word[0] == '#') {
      const u64 at = std::stoull(word.substr(1));
      vcd.in_order &= defined && at >= now;
      now = at;
    } else {
      REQUIRE(word[0] == 'b');
      in >> a;
      REQUIRE(path_of.contains(a));
      vcd.signals[path_of[a]].push_back({now, std::stoull(word.substr(1), nullptr, 2)});
    }
  }
  REQUIRE(scopes.empty());
  return vcd;
}

const char* const kText =
    "run: {hash: true}\nwire: {latency: 100 ns}\nworkload:\n"
    "  - {operation: write, size: 8 KiB, messages: 20}\n"
    "  - {operation: read, size: 4 KiB, messages: 20, qps: 2}\n";
}  // namespace

TEST_CASE("events.csv has every event in the order of time", "[run][files]") {
  const Files files = run_with_files(kText);
  REQUIRE(files.result.failures.empty());
  std::istringstream in(files.events);
  std::string line;
  std::getline(in, line);
  CHECK(line == "time_ps,cycle,hca,block,event,qpn,psn,value");
  u64 before = 0, sent = 0, arrived = 0;
  bool in_order = true, whole = true;
  std::set<std::string> blocks;
  while (std::getline(in, line)) {
    std::vector<std::string> fields(1);
    for (const char c : line) c == ',' ? void(fields.emplace_back()) : fields.back().push_back(c);
    whole &= fields.size() == 8 && fields[0] == std::to_string(2500 * std::stoull(fields[1]));
    in_order &= std::stoull(fields[0]) >= before;
    before = std::stoull(fields[0]);
    blocks.insert(fields[3]);
    sent += fields[3] == "port" && fields[4] == "passed";
    arrived += fields[3] == "port" && fields[4] == "arrived";
  }
  CHECK(whole);
  CHECK(in_order);
  CHECK(sent == files.result.frames);
  CHECK(arrived == files.result.frames);
  for (const char* block : {"host", "doorbell", "requester", "responder_execute", "completion"})
    CHECK(blocks.contains(block));
}

TEST_CASE("run.vcd has the levels of all links and the frames on the wire", "[run][files]") {
  const Files files = run_with_files(kText);
  REQUIRE(files.result.failures.empty());
  const Vcd vcd = parse_vcd(files.vcd);
  CHECK(vcd.in_order);
  CHECK(vcd.signals.size() > 80);  // of two chips
  u64 frames = 0;
  for (const char* wire : {"wire.from_hca0", "wire.from_hca1"}) {
    REQUIRE(vcd.signals.contains(wire));
    u64 last = 0, at = 0;
    bool back_to_back = true;
    for (const auto& [time, value] : vcd.signals.at(wire)) {
      frames += value > last;
      back_to_back &= value <= 1 && time >= at;
      last = value, at = time;
    }
    CHECK(back_to_back);
    CHECK(last == 0);
  }
  // Frames that follow each other without a gap may be one pulse.
  CHECK(frames > files.result.frames / 4);
  CHECK(frames <= files.result.frames);
  // The first full packet of a WRITE has 1024 + 82 + 16 B on the wire: 89.76 ns, 35 whole cycles.
  const auto& wire = vcd.signals.at("wire.from_hca0");
  bool full = false;
  for (std::size_t i = 2; i < wire.size(); ++i)
    full |= wire[i].second == 0 && wire[i].first - wire[i - 1].first == 87'500;
  CHECK(full);
  bool within = true;
  for (const auto& [path, changes] : vcd.signals)
    for (const auto& change : changes) within &= change.second >> (vcd.widths.at(path) - 1) <= 1;
  CHECK(within);
  // The work has gone through, and no file is left over.
  for (const char* path : {"hca0.requester.packet_buffers", "hca0.link_control.request_packets",
                           "hca0.port_transmit.packets", "hca1.responder_execute.judged_requests",
                           "hca0.qp_scheduler.send_doorbells"}) {
    INFO(path);
    REQUIRE(vcd.signals.contains(path));
    CHECK(vcd.signals.at(path).size() > 20);
    CHECK(vcd.signals.at(path).back().second == 0);
  }
}

TEST_CASE("files change no event of a run", "[run][files]") {
  const Files files = run_with_files(kText);
  FreshKernel kernel;
  Runner runner(parse_scenario(kText, "test.yaml"), {});
  CHECK(runner.run().hash == files.result.hash);
}

// All operations, several queue pairs, both ways, over a wire that loses, doubles and swaps.
TEST_CASE("the files do not depend on how the simulation is run", "[run][files]") {
  const std::string text =
      "connection: {qps: 8, timeout: 6, min_rnr_timer: 1}\nworkload:\n"
      "  - {mix: {write: 3, send: 3, read: 3, write_immediate: 1, send_immediate: 1, compare_swap: "
      "1,"
      " fetch_add: 1}, sizes: [{size: 0 B}, {size: 64 B, weight: 4}, {size: 5000 B}],"
      " messages: 300, depth: 8, qp_order: random, direction: both}\n"
      "faults:\n"
      "  - {action: drop, from: 0, per_million: 10000}\n"
      "  - {action: duplicate, from: 1, per_million: 10000}\n"
      "  - {action: reorder, from: 0, per_million: 10000}\n"
      "run: {seed: 9}\n";
  const auto with = [&](std::string options) {
    return run_with_files(text.substr(0, text.find("run: ")) + "run: {seed: 9, " + options + "}\n");
  };
  const Files usual = run_with_files(text);
  REQUIRE(usual.result.failures.empty());
  CHECK(usual.vcd.size() > 100'000);
  for (const char* options :
       {"quantum: 1 cycles", "quantum: 7 cycles", "every_cycle: true", "shuffle_seed: 5",
        "quantum: 3 cycles, every_cycle: true, shuffle_seed: 6"}) {
    INFO(options);
    const Files other = with(options);
    CHECK(usual.events == other.events);
    const auto differs = std::ranges::mismatch(usual.vcd, other.vcd);
    const auto at = std::size_t(differs.in1 - usual.vcd.begin());
    INFO("at byte " << at << " of " << usual.vcd.size() << " and " << other.vcd.size() << ": "
                    << usual.vcd.substr(at - std::min<std::size_t>(at, 60), 120) << " / "
                    << other.vcd.substr(at - std::min<std::size_t>(at, 60), 120));
    CHECK(bool(usual.vcd == other.vcd));
  }
}
}  // namespace hca::testbench
