// SPDX-License-Identifier: Apache-2.0
// Figures of a recorded run: shares of the time, waits and their course, against arithmetic.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
namespace {
constexpr u64 kPeriod = 2500;  // ps
// What a column has in all of the run: its values times their width, in ps.
double sum_of(const RecordedRun& run, const std::string& group, const std::string& name) {
  for (const auto& column : run.record.at("series")) {
    if (column.at("group") != group || !column.at("name").get<std::string>().starts_with(name))
      continue;
    double sum = 0;
    for (const double value : column.at("values")) sum += value;
    return sum * run.record.at("width_ps").get<double>();
  }
  return -1;
}
}  // namespace

// Alone or beside an entry with eight threads: the core of the first entry does nothing but post.
TEST_CASE("one busy core limits its entry, however many the host has", "[figures][host]") {
  const std::string one =
      "workload:\n  - {operation: write, size: 64 B, depth: 64, messages: 5000, inline_below: 65 "
      "B}\n";
  const std::string eight =
      "  - {operation: write, size: 64 B, depth: 64, qps: 8, threads: 8, messages: 800}\n";
  const RecordedRun alone = run_recorded(parse_scenario(one, "test.yaml", {}));
  const RecordedRun beside = run_recorded(parse_scenario(one + eight, "test.yaml", {}));
  CHECK(share_of(alone, "host 0's core") > 0.95);
  CHECK(share_of(beside, "host 0's cores") ==
        Approx(share_of(alone, "host 0's core")).epsilon(0.01));
  CHECK(beside.record.at("phases").at(0).at("bottleneck") == "host 0's cores");
}

// Four threads and a register that each message has for 500 ns: of 2000 ns a thread has 400 to
// build its WQE, 2.5 for the completion and 500 with the register. With a register each a message
// takes 902.5 ns. And WQEs of 2 lines that leave in 400 ns, for which the core does 10 ns.
TEST_CASE("a core that waits for a register or to push is not at work", "[figures][host]") {
  const auto threads = [](const std::string& registers) {
    return run_recorded("operation: write, size: 8 B, messages: 4000, qps: 4, threads: 4",
                        {"host.post_send=400 ns", "host.completion=2500 ps",
                         "host.doorbell_lock=500 ns", "host.doorbell_registers=" + registers});
  };
  const RecordedRun one = threads("1"), each = threads("0");
  CHECK(share_of(one, "host 0's busiest doorbell register") == Approx(1).epsilon(0.02));
  CHECK(share_of(one, "host 0's cores") == Approx(902.5 / 2000).epsilon(0.02));
  CHECK(share_of(each, "host 0's busiest doorbell register") == Approx(500 / 902.5).epsilon(0.02));
  const auto pushed = [](const std::string& cores, const std::string& post) {
    return run_recorded(
        "operation: write, size: 64 B, messages: 3000, push: true, "
        "inline_below: 65 B, qps: 4, threads: " +
            cores,
        {"host.post_send=" + post, "host.completion=2500 ps", "host.push_line=200 ns",
         "host.combining_buffers=4"});
  };
  const RecordedRun lines = pushed("1", "7500 ps"), slow = pushed("4", "1597500 ps");
  CHECK(share_of(lines, "host 0's write combining") == Approx(1).epsilon(0.02));
  CHECK(share_of(lines, "host 0's core") == Approx(10. / 400).epsilon(0.05));
  CHECK(share_of(slow, "host 0's write combining") == Approx(400. / 1600).epsilon(0.02));
}

// A frame is 14 + 20 + 8 + 12 + 16 + 4096 + 4 = 4170 bytes, 66 beats of 64.
TEST_CASE("a slow core is busy with the beats of its frames", "[figures]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 4 KiB, messages: 500",
      {"connection.path_mtu=4096", "hca.core.clock=100 MHz", "hca.core.allow_slow_core=true"});
  const double time = double(time_of(run));
  CHECK(share_of(run, "hca0 core datapath, transmit") * time ==
        Approx(500. * 66 * 10'000).epsilon(0.005));
  CHECK(share_of(run, "hca1 core datapath, receive") * time ==
        Approx(500. * 66 * 10'000).epsilon(0.005));
}

// A message each microsecond, 200 cycles each.
TEST_CASE("an engine is busy with its interval for each packet", "[figures][engines]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 8 B, messages: 500, message_rate: 1000000",
                   {"hca.requester.engine_interval=200 cycles"});
  CHECK(share_of(run, "hca0 requester engine 0") == Approx(0.5).epsilon(0.02));
}

// In use are all cycles from a miss to its entry, of at most two at once.
TEST_CASE("misses of a cache are in use until their entries are there", "[figures]") {
  const RecordedRun run = run_recorded("operation: write, size: 8 B, messages: 500, qps: 64",
                                       {"hca1.qp_cache.entries=4", "hca1.qp_cache.misses=2"});
  const double cycles = double(counter(run.result, "hca1.qp_cache.miss_cycles"));
  CHECK(share_of(run, "hca1 QP cache misses") * 2 * double(time_of(run)) ==
        Approx(cycles * kPeriod).epsilon(0.05));
}

// 64 messages of a MiB, from the first post to the last completion.
TEST_CASE("a part of a run is as long as its messages, and has their bytes", "[figures]") {
  const RecordedRun run = run_recorded("operation: write, size: 1 MiB, messages: 64", {});
  CHECK(double(time_of(run)) ==
        Approx(double(run.result.sizes.at(0).bandwidth->picoseconds)).epsilon(1e-6));
  CHECK(sum_of(run, "throughput", "posted by host 0") * 1e-3 ==
        Approx(64. * (1 << 20) * 8).epsilon(0.001));
  double port = -1;
  for (const auto& block : run.record.at("phases").at(0).at("blocks"))
    if (block.at("block") == "hca0 port_transmit") port = block.at("share");
  CHECK(port > 0.9);
}

// A pair of messages of one of four queue pairs each 4000 ns: the second waits 162 bytes at 1 Gb/s,
// 1296 ns, after the first. So a queue pair waits 1296 of 16000 ns.
TEST_CASE("the share of a wait is that of a queue pair", "[figures][stalls]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 64 B, messages: 400, qps: 4, list: 2",
                   {"connection.rate_limit=1 Gb/s", "host.post_send=2 us", "host.completion=0 ps"});
  CHECK(share_of(run, "hca0 rate limit") == Approx(1296. / 16'000).epsilon(0.05));
}

// The same twice: 99 times 518.4 cycles each, and little of the link for the second.
TEST_CASE("each part of a run has its own figures", "[figures][stalls]") {
  const std::string entry = "operation: write, size: 64 B, messages: 100";
  const RecordedRun run = run_recorded(entry + "}, {" + entry, {"connection.rate_limit=1 Gb/s"});
  REQUIRE(run.record.at("phases").size() == 2);
  for (std::size_t part = 0; part < 2; ++part) {
    const u64 cycles = waited(run, "hca0 requester", "rate limits", part);
    CHECK(cycles >= 99 * 518);
    CHECK(cycles <= 99 * 519);
    // 100 frames of 162 bytes, 12.96 ns.
    CHECK(share_of(run, "hca0 link transmit", part) * double(time_of(run, part)) ==
          Approx(100 * 12'960.).epsilon(0.01));
  }
  CHECK(sum_of(run, "stalls of hca0", "requester: rate limits") ==
        Approx(2 * 99 * 518.4 * kPeriod).epsilon(0.01));
}

// Of several reads that wait for the one tag the time counts once.
TEST_CASE("waits that overlap are counted once", "[figures][stalls]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 16 KiB, messages: 100", {"pcie.read_tags=1"});
  const u64 waits = waited(run, "hca0 PCIe", "read tags") * kPeriod;
  CHECK(waits > time_of(run) / 2);
  CHECK(waits <= time_of(run));
}

// 500 frames of 4170 bytes and 24 around them, 335.52 ns each, without a gap.
TEST_CASE("packets wait for a busy link nearly all of the time", "[figures][stalls]") {
  const RecordedRun run = run_recorded("operation: write, size: 4 KiB, messages: 500",
                                       {"connection.path_mtu=4096", "pcie.generation=5"});
  const double time = double(time_of(run));
  CHECK(share_of(run, "hca0 link transmit") * time == Approx(500 * 335'520.).epsilon(0.001));
  CHECK(double(waited(run, "hca0 port", "the link") * kPeriod) > 0.9 * time);
  CHECK(double(waited(run, "hca0 port", "the link") * kPeriod) < time);
}
}  // namespace hca::testbench
