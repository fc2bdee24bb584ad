// SPDX-License-Identifier: Apache-2.0
// Published latencies of real adapters against one set of knobs.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>

#include "testbench/fresh_kernel.h"
#include "testbench/run.h"

namespace hca::testbench {
namespace {
using Latencies = std::map<u32, double>;  // bytes -> us
const std::string kFolder = HCA_SOURCE_DIR "/testbench/scenarios/";

// Columns of a csv file by the names in its first line; "#" begins a comment.
std::map<std::string, Latencies> read_csv(const std::string& file) {
  std::ifstream in(file);
  std::map<std::string, Latencies> columns;
  std::vector<std::string> names;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (names.empty())
      names = cells;
    else
      for (std::size_t i = 1; i < cells.size(); ++i)
        columns[names[i]][u32(std::stoul(cells[0]))] = std::stod(cells[i]);
  }
  return columns;
}

Latencies simulate(PathMtu mtu) {
  FreshKernel kernel;
  Scenario scenario = load_scenario(kFolder + "cx4_send_latency.yaml");
  scenario.connection.path_mtu = mtu;
  Runner runner(scenario, {});
  const RunResult result = runner.run();
  REQUIRE(result.failures.empty());
  Latencies latencies;
  for (const SizeResult& size : result.sizes)
    latencies[size.bytes] = double(*size.latency->picoseconds.percentile(50)) * 1e-6;
  return latencies;
}
}  // namespace

TEST_CASE("SEND latency of ConnectX-4 hardly depends on the MTU", "[run][calibration]") {
  const auto published = read_csv(kFolder + "cx4_send_latency_mtu.csv");
  REQUIRE(published.at("mtu_1024").size() == 4);
  Latencies small = simulate(PathMtu::B1024), large = simulate(PathMtu::B4096);
  for (const auto& [bytes, us] : published.at("mtu_1024")) {
    INFO(bytes << " B, MTU 1024");
    CHECK(small.at(bytes) == Approx(us).epsilon(0.15));
  }
  for (const auto& [bytes, us] : published.at("mtu_4096")) {
    INFO(bytes << " B, MTU 4096");
    CHECK(large.at(bytes) == Approx(us).epsilon(0.15));
  }
  for (const u32 bytes : {4096u, 32768u}) CHECK(std::abs(small[bytes] - large[bytes]) <= 0.1);
}
}  // namespace hca::testbench
