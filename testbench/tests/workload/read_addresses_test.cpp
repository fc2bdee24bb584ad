// SPDX-License-Identifier: Apache-2.0
// READs of addresses that all queue pairs share, and hosts whose memory reads a line once in a time.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/scenario/traffic_of.h"
#include "testbench/testbed/testbed.h"
#include "testbench/tests/recorded_run.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;
// 400 READs of 8 queue pairs, 64 in flight; the server's memory reads a line once in 1 us.
const std::string kReads = "operation: read, size: 8 B, qps: 8, depth: 8, messages: 400";
u64 time_of_reads(const std::string& keys, const std::string& knobs = "") {
  const RunResult r = run_text("pcie1.same_line_interval: 1 us\n" + knobs + "workload:\n  - {" +
                               kReads + ", " + keys + "}\n");
  for (const std::string& failure : r.failures) FAIL_CHECK(failure);
  CHECK(r.streams.at(0).messages == 400);
  return r.streams.at(0).picoseconds;
}
constexpr u64 kMicrosecond = 1'000'000;
}  // namespace

// 399 intervals, and a round trip that takes less than 5 us.
TEST_CASE("READs of all threads name the same address", "[workload][read_addresses][same_line]") {
  for (const char* threads : {"threads: 1", "threads: 4", "threads: 4, share_qps: true"}) {
    CAPTURE(threads);
    const u64 time = time_of_reads(std::string("read_addresses: 1, ") + threads);
    CHECK(time > 399 * kMicrosecond);
    CHECK(time < 404 * kMicrosecond);
  }
}

// Each message in flight has its own line: a queue pair that reads its 8 lines in turn, 50 messages,
// comes to a line the seventh time 6 intervals after the first.
TEST_CASE("READs of addresses of their own hardly wait", "[workload][read_addresses][same_line]") {
  const u64 time = time_of_reads("threads: 4");
  CHECK(time > 6 * kMicrosecond);
  CHECK(time < 40 * kMicrosecond);
}

// Half of 400 each, sigma 10. In order of the reads one line's wait holds up the other's completion,
// so each may be idle now and then.
TEST_CASE("two addresses have nearly twice the rate", "[workload][read_addresses][same_line]") {
  const u64 time = time_of_reads("read_addresses: 2", "pcie.completion_order: by_memory\n");
  CHECK(time > 199 * kMicrosecond);
  CHECK(time < 260 * kMicrosecond);
}

TEST_CASE("READs draw their address by the seed, each thread others",
          "[workload][read_addresses]") {
  Traffic t;
  t.operation = Operation::Read;
  t.bytes = 100, t.qps = 2, t.depth = 8, t.seed = 7, t.read_addresses = 5;
  Traffic next = t;
  next.seed = 24;  // as that of another thread
  const ServedPlaces served(t), other(next);
  CHECK(served.places().count() == 5);
  std::array<u64, 5> found{};
  u64 same = 0;
  for (u32 qp = 0; qp < 2; ++qp)
    for (u64 k = 0; k < 1000; ++k) {
      ++found.at(served.of(qp, k));
      CHECK(served.content(qp, k).qp == 0);
      CHECK(served.content(qp, k).place == served.of(qp, k));
      same += served.of(qp, k) == other.of(qp, k);
    }
  for (const u64 count : found) CHECK((count > 400 - 5 * 18 && count < 400 + 5 * 18));
  CHECK((same > 400 - 5 * 18 && same < 400 + 5 * 18));  // one in five of 2000
  CHECK(served.places().offset(1) == 128);              // buffers lie apart
  t.working_set = 5 * 128, t.regions = 5;
  const ServedPlaces regions(t);
  std::set<u64> places;
  for (u64 k = 0; k < 100; ++k) places.insert(regions.places().region(regions.of(0, k)));
  CHECK(places.size() == 5);
}

// What READs return is checked where it was read: all kinds of entries with shared addresses.
TEST_CASE("shared addresses go with every kind of workload", "[workload][read_addresses]") {
  const std::string where = GENERATE(as<std::string>(), "", ", working_set: 8 MiB, regions: 128",
                                     ", address: random, working_set: 16 MiB, regions: 32");
  const auto run = [&](const std::string& connection, const std::string& keys) {
    const RunResult r = run_text(connection + "workload:\n  - {" + keys + where + "}\n");
    INFO(connection << keys << where);
    CHECK(r.failures == std::vector<std::string>{});
    CHECK(r.messages > 0);
  };
  const std::string sizes = "sizes: [{size: 0 B}, {size: 9 B}, {size: 5000 B}]";
  run("", "mix: {write: 3, read: 3, send: 1, fetch_add: 1}, " + sizes +
              ", qps: 4, threads: 2, depth: 16, messages: 600, direction: both,"
              " read_addresses: 3, atomic_addresses: 2");
  run("", "mix: {write: 1, read: 1}, " + sizes +
              ", qps: 4, depth: 4, messages: 600,"
              " read_addresses: 100");
  run("", "operation: read, test: latency, size: 3000 B, messages: 100, read_addresses: 2");
  run("hca.transport.extended: true\n",
      "operation: extended_get, size: 3000 B, depth: 16, messages: 300, read_addresses: 2");
}

TEST_CASE_METHOD(FreshKernel, "a wrong byte at a shared address fails the run",
                 "[workload][read_addresses][integrity]") {
  const Scenario scenario = parse_scenario(
      "workload: [{operation: read, size: 256 B, messages: 8, read_addresses: 2}]\n", "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  const Traffic traffic = traffic_of(scenario.workload[0], 1, 256, 1);
  StreamSender client(testbed.end(0), traffic);
  const Buffers server(testbed.end(1), traffic);
  u8 byte;
  testbed.node(1).memory.read(server.served(0, 3).addr + 100, &byte, 1);
  byte ^= 0x10;
  testbed.node(1).memory.write(server.served(0, 3).addr + 100, &byte, 1);
  testbed.node(0).run(&client);
  sc_core::sc_start(100, sc_core::SC_US);
  CHECK(client.failed());
  CHECK_THAT(all(client.checker.failures()), Contains("of 256 bytes: byte 100 is"));
  testbed.node(0).run(nullptr);
}

// One address of all threads, wherever it lies: READs of its line follow each other after 200 ns.
TEST_CASE("all threads READ the same address of a working set",
          "[workload][read_addresses][address][same_line]") {
  for (const char* where : {"", ", working_set: 1 MiB, address: random",
                            ", working_set: 1 MiB, address: strided, stride: 256 B"}) {
    INFO(where);
    const RunResult r = run_text(
        std::string(
            "pcie: {same_line_interval: 200 ns}\nworkload:\n  - {operation: read, size: 8 B,"
            " depth: 16, qps: 8, threads: 4, messages: 2000, read_addresses: 1") +
        where + "}\n");
    CHECK(r.streams.at(0).million_messages_per_second() == Approx(1 / 0.2).epsilon(0.02));
  }
}

TEST_CASE("shared addresses give one hash in all ways to run", "[workload][read_addresses][hash]") {
  const auto hash = [](const std::vector<std::string>& settings = {}) {
    return run_text("run.hash: true\npcie.same_line_interval: 43300 ps\nworkload:\n  - {" + kReads +
                        ", threads: 4, read_addresses: 3}\n",
                    settings)
        .hash.value();
  };
  const auto plain = hash();
  for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"})
    CHECK(hash({way}) == plain);
  CHECK(hash({"run.seed=2"}) != plain);
  CHECK(hash({"pcie.same_line_interval=0 ps"}) != plain);
}

TEST_CASE("reads of one cache line limit, and are named", "[limits][read_addresses][same_line]") {
  const std::string entry = kReads + ", read_addresses: 1";
  const RecordedRun run = run_recorded(entry, {"pcie1.same_line_interval=200 ns"});
  CAPTURE(run.line);
  CHECK(run.record.at("phases").at(0).at("bottleneck") == "hca1 PCIe reads of one cache line");
  const RecordedRun faster = run_recorded(entry, {"pcie1.same_line_interval=100 ns"});
  CHECK(time_of(faster) < time_of(run) - time_of(run) / 3);
  // Three lines of 200 ns each are not what limits 64 READs in flight.
  const RecordedRun many = run_recorded(kReads, {"pcie1.same_line_interval=200 ns"});
  CHECK(many.record.at("phases").at(0).at("bottleneck") != "hca1 PCIe reads of one cache line");
}
}  // namespace hca::testbench
