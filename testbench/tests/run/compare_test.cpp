// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/compare.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "testbench/report/report.h"
#include "testbench/run/run_recorder.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

nlohmann::json summary_of(const std::string& text) {
  FreshKernel kernel;
  const Scenario scenario = parse_scenario(text, "c.yaml");
  Runner runner(scenario, {});
  return json_of(runner.run(), scenario);
}
// With what it recorded, as --out has it.
nlohmann::json recorded(const std::string& text, const std::vector<std::string>& settings) {
  FreshKernel kernel;
  Scenario scenario = parse_scenario(text, "c.yaml", settings);
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  nlohmann::json summary = json_of(runner.run(), scenario);
  summary["recording"] = recorder.json();
  return summary;
}
const std::string kWorkload =
    "workload: [{operation: write, test: latency, size: 64 B, messages: 30}]\n";
}  // namespace

TEST_CASE("a comparison names the knob and the block of the difference", "[compare]") {
  const auto a = summary_of("wire: {latency: 1 us}\n" + kWorkload),
             b = summary_of("wire: {latency: 2.5 us}\n" + kWorkload);
  const std::string text = compared(a, b);
  CHECK_THAT(text, Contains("Knobs that differ\n  wire.latency"));
  // 1.5 us at 400 MHz are 600 cycles, there and back.
  CHECK_THAT(text, Contains("most of it: wire, +600 of +1200 cycles"));
  CHECK_THAT(text, !Contains("requester"));
  CHECK_THAT(compared(b, a), Contains("most of it: wire, -600 of -1200 cycles"));
  const std::string same = compared(a, a);
  CHECK_THAT(same, Contains("Knobs: all are the same") && Contains("no part changed"));
  CHECK_THAT(same, Contains(" 1.000\n"));
}

TEST_CASE("a comparison names knobs of the lists", "[compare]") {
  const std::string stream = "workload: [{operation: write, size: 64 B, messages: 30, depth: ";
  const std::string text = compared(summary_of(stream + "2}]\n"), summary_of(stream + "16}]\n"));
  CHECK_THAT(
      text,
      Contains(
          "  workload[0].depth                                         2                 16\n"));
  CHECK_THAT(text, !Contains("workload[0].messages") && !Contains("mix"));
}

// Four threads at one register wait for it most of the time, and look at their CQEs when they are
// out.
TEST_CASE("a comparison names the doorbell register that a core is in", "[compare][doorbell]") {
  const std::string stream =
      "workload: [{operation: write, size: 8 B, messages: 2000, qps: 4, threads: 4}]\n";
  const auto a = recorded(stream, {"host.doorbell_lock=500 ns"}),
             b = recorded(stream, {"host.doorbell_lock=500 ns", "host.doorbell_registers=1"});
  CHECK_THAT(compared(a, b), Contains("; most of it: host, doorbell register +"));
}

// A stream has no message alone to follow: what limited it, and what waited for what.
TEST_CASE("a comparison says what limited either run, and which waits changed", "[compare]") {
  const std::string stream = "workload: [{operation: write, size: 16 KiB, messages: 100}]\n";
  const auto a = recorded(stream, {"pcie.read_tags=1"}), b = recorded(stream, {});
  const std::string text = compared(a, b);
  CHECK_THAT(text, Contains("  WRITE bandwidth, 16384 B\n    A: hca0 PCIe read tags: 100 % busy "
                            "(pcie.read_tags)\n    B: hca0 link transmit: "));
  CHECK_THAT(text, Contains("    hca0 PCIe waits for read tags: ") && Contains(" % -> 0 %\n"));
  CHECK_THAT(compared(a, a), Contains("    A and B: hca0 PCIe read tags: 100 % busy"));
  CHECK_THAT(compared(a, a), !Contains(" % -> "));
}

// One message after the other: 1.5 us more of wire, there and back, are in the time of each.
TEST_CASE("a comparison says which steps of a message under load changed", "[compare]") {
  const std::string stream = "workload: [{operation: write, size: 64 B, messages: 20, depth: 1}]\n";
  const auto a = recorded(stream, {"wire.latency=1 us"}),
             b = recorded(stream, {"wire.latency=2.5 us"});
  CHECK_THAT(compared(a, b), Contains("; most of it: wire +1500.0 ns, answer: wire +1500.0 ns\n"));
  const auto mean = [](const nlohmann::json& summary) {
    return summary.at("recording")
        .at("phases")[0]
        .at("times")
        .at("whole")
        .at("mean_ns")
        .get<double>();
  };
  CHECK(mean(b) - mean(a) == 3000);
  CHECK_THAT(compared(a, a), !Contains("most of it"));
}

TEST_CASE("a stream is compared with the one that does the same, wherever it stands", "[compare]") {
  const std::string write = "  - {operation: write, size: 4 KiB, qps: 2, messages: 60}\n",
                    read = "  - {operation: read, size: 64 B, qps: 2, messages: 60}\n";
  const auto names = [](const std::string& entries) {
    std::set<std::string> all;
    for (const Figure& f : figures_of(summary_of("workload:\n" + entries)))
      all.insert(f.of + ", " + f.name);
    return all;
  };
  CHECK(names(write + read) == names(read + write));
  // Two that do the same are told apart by their order.
  CHECK(names(write + write).contains("-> WRITE 4096 B (2), Gb/s"));
}

TEST_CASE("parts of one name are compared in their order", "[compare]") {
  const nlohmann::json a = recorded(
      "workload:\n  - {operation: write, size: 4 KiB, messages: 100, depth: 1}\n"
      "  - {operation: write, size: 4 KiB, messages: 100, depth: 64}\n",
      {});
  const std::string same = compared(a, a);
  std::istringstream lines(same);
  u32 means = 0;
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find("mean of a message: "); at != line.npos) {
      const std::string what = line.substr(at + 19), from = what.substr(0, what.find(" ->"));
      CHECK(what.substr(0, 2 * from.size() + 4) == from + " -> " + from);
      ++means;
    }
  CHECK(means == 2);
  CHECK_THAT(same, Contains("WRITE bandwidth, 4096 B (2)\n"));
}

TEST_CASE("figures of one result alone stand beside an empty place", "[compare]") {
  nlohmann::json a{
      {"sizes", {{{"operation", "READ"}, {"bytes", 8}, {"bandwidth", {{"gbit_per_s", 2.0}}}}}},
      {"streams", nlohmann::json::array()},
      {"breakdowns", nlohmann::json::array()},
      {"knobs", {{"x", "1"}}}};
  nlohmann::json b = a;
  b["sizes"][0]["bandwidth"]["gbit_per_s"] = 3.0;
  CHECK_THAT(compared(a, b), Contains("2.0000       3.0000    1.500"));
  b["sizes"][0]["bytes"] = 16, b["knobs"] = {{"y", "2"}};
  const std::string text = compared(a, b);
  CHECK_THAT(text, Contains("READ 8 B") && Contains("READ 16 B") && !Contains("1.500"));
  CHECK_THAT(
      text,
      Contains("x                                                         1                  -"));
  CHECK_THAT(text, Contains("No message was followed alone in both"));
}

TEST_CASE("what is no result is refused by its path", "[compare]") {
  CHECK_THROWS_WITH(read_summary("nowhere"), Contains("nowhere: cannot be read"));
  CHECK_THROWS_WITH(read_summary(HCA_SOURCE_DIR), Contains("/summary.json: cannot be read"));
  CHECK_THROWS_WITH(read_summary(HCA_SOURCE_DIR "/README.md"), Contains("is no JSON"));
  CHECK_THROWS_WITH(read_summary(HCA_SOURCE_DIR "/CMakePresets.json"), Contains("has no result"));
  for (const char* wrong : {R"("sizes": "none")", R"("knobs": [])", R"("recording": null)"}) {
    char name[] = "/tmp/hca_summary_XXXXXX";
    ::close(mkstemp(name));
    nlohmann::json summary =
        nlohmann::json::parse(R"({"sizes": [], "streams": [], "breakdowns": [], "knobs": {}})");
    std::ofstream(name) << summary.dump();
    CHECK_NOTHROW(read_summary(name));
    summary.update(nlohmann::json::parse("{" + std::string(wrong) + "}"));
    std::ofstream(name) << summary.dump();
    CHECK_THROWS_WITH(read_summary(name), Contains(name) && Contains("has no result"));
    std::remove(name);
  }
}
}  // namespace hca::testbench
