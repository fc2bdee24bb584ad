// SPDX-License-Identifier: Apache-2.0
// Runs whose core is slower than its link.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
namespace {
const std::string kSlow =
    "connection: {path_mtu: 4096}\n"
    "hca: {core: {clock: 100 MHz, allow_slow_core: true}}\n"
    "workload:\n  - {operation: write, size: 64 KiB, messages: 200, depth: 8, qps: 2}\n";
}  // namespace

TEST_CASE("a core that is slower than its link is refused", "[scenario][width]") {
  CHECK(error_of("\nhca.core.clock: 100 MHz\n") ==
        "s.yaml:2: hca.core.clock: 64 B in each cycle of 100 MHz are 51.2 Gb/s, less than the 100 "
        "Gb/s of a link of hca0; allowed: a larger hca.icrc_unit.beat_bytes or hca.core.clock, or "
        "hca.core.allow_slow_core: true");
  CHECK(error_of("hca.port.link_rate: 200 Gb/s\nhca1.icrc_unit.beat_bytes: 32 B\n") ==
        "s.yaml:2: hca1.icrc_unit.beat_bytes: 32 B in each cycle of 400 MHz are 102.4 Gb/s, less "
        "than the 200 Gb/s of a link of hca1; allowed: a larger hca.icrc_unit.beat_bytes or "
        "hca.core.clock, or hca.core.allow_slow_core: true");
  CHECK(error_of("hca.core: {clock: 100 MHz, allow_slow_core: true}\n") == "(none)");
  CHECK(error_of("hca: {core: {clock: 100 MHz}, icrc_unit: {beat_bytes: 128 B}}\n") == "(none)");
  CHECK(error_of("hca: {port: {link_rate: 800 Gb/s}, icrc_unit: {beat_bytes: 256 B}}\n") ==
        "(none)");
  CHECK(error_of("hca: {port: {link_rate: 800 Gb/s}, icrc_unit: {beat_bytes: 224 B}}\n") !=
        "(none)");
}

// 64 KiB are 16 packets. The first has a RETH: 4170 bytes with the ICRC, 66 beats of 64 bytes; the
// others 4154 bytes, 65 beats: 1041 cycles of 10 ns for 65536 bytes are 50.36 Gb/s.
TEST_CASE("a slow core: its beats limit the rate, and it is the bottleneck", "[width]") {
  FreshKernel kernel;
  Scenario scenario = parse_scenario(kSlow, "slow.yaml");
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  const RunResult result = runner.run();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.streams.at(0).gigabits_per_second() == Approx(50.36).epsilon(0.005));
  CHECK_THAT(recorder.bottleneck_lines(),
             Catch::Contains(" core datapath, ") && Catch::Contains(" % busy"));
  const nlohmann::json record = recorder.json();
  bool seen = false;
  for (const auto& use : record.at("phases").at(0).at("resources")) {
    if (use.at("resource") != "hca0 core datapath, transmit") continue;
    CHECK(use.at("share").get<double>() > 0.98);
    seen = true;
  }
  CHECK(seen);
}

// 64 bytes are a frame of 138, 3 beats of 64: 15 ns at 200 MHz, where the 162 bytes on the link are
// 12.96 ns. The core carries 102.4 Gb/s of full beats, and 66.7 million of these a second.
TEST_CASE("beats that are not full make a core slower than its link", "[width]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 64 B, messages: 20000, qps: 32, push: true, inline_below: 65 B, "
      "threads: 4",
      {"hca.core.clock=200 MHz", "host.post_send=5 ns", "host.completion=1 ns",
       "pcie.generation=6"});
  CHECK(run.result.streams.at(0).million_messages_per_second() == Approx(1000. / 15).epsilon(0.01));
  CHECK(run.record.at("phases").at(0).at("bottleneck") == "hca0 core datapath, transmit");
  const RecordedRun fast = run_recorded("operation: write, size: 64 B, messages: 100", {});
  CHECK(share_of(fast, "hca0 core datapath, transmit") == -1);
}

// A frame of 1 KiB over IPv4 has 14 + 20 + 8 + 12 + 1024 + 4 + 4 bytes, with preamble and gap 1106,
// the first of 64 with a RETH 16 more: 64 KiB in 70800 bytes of the link, whatever the clock.
TEST_CASE("a clock without a period of whole picoseconds changes no rate", "[run][clock]") {
  const char* clock = GENERATE("400 MHz", "322.265625 MHz", "402.83 MHz", "333 MHz");
  const RunResult run = run_workload("  - {operation: write, size: 64 KiB, messages: 400}\n",
                                     {std::string("hca.core.clock=") + clock});
  const double rate = run.sizes.at(0).bandwidth->gigabits_per_second(65536);
  CHECK(rate == Approx(100 * 65536. / 70800).epsilon(1e-3));
  // Its cycles are those of the period.
  const u64 period = std::string(clock) == "400 MHz"          ? 2500
                     : std::string(clock) == "322.265625 MHz" ? 3103
                     : std::string(clock) == "402.83 MHz"     ? 2482
                                                              : 3003;
  CHECK(run.sizes.at(0).bandwidth->picoseconds % period == 0);
}
}  // namespace hca::testbench
