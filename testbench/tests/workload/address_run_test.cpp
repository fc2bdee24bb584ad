// SPDX-License-Identifier: Apache-2.0
// Runs whose buffers lie in a working set: what the caches of keys and translations see.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "testbench/scenario/traffic_of.h"
#include "testbench/testbed/testbed.h"
#include "testbench/tests/run_text.h"
#include "testbench/workload/workload.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

// An MTT entry is a line of 8 pages of 4 KiB.
constexpr u64 kLine = 32 << 10;
Texts with_mtt(u32 entries) {
  return {"hca.protection.page=4 KiB", fmt::format("hca.mtt_cache.entries={}", entries)};
}
Texts with_mpt(u32 entries) { return {fmt::format("hca.mpt_cache.entries={}", entries)}; }
u64 looked_up(const RunResult& r, const std::string& cache) {
  return counter(r, cache + ".hits") + counter(r, cache + ".misses") +
         counter(r, cache + ".joined");
}
}  // namespace

// One buffer a line, 32 of them: each message needs one line at each end. One message more is that
// of the time breakdown, in the first buffer.
TEST_CASE("a working set that fits the MTT cache misses once for each line",
          "[workload][address][context_cache]") {
  const u64 lines = 32, messages = 640;
  const RunResult r = run_workload(
      fmt::format("  - {{operation: write, size: 64 B, depth: 16, messages: {}, address: strided,"
                  " working_set: {} B, stride: {} B}}\n",
                  messages, lines * kLine, kLine),
      with_mtt(32));
  for (const char* cache : {"hca0.mtt_cache", "hca1.mtt_cache"}) {
    INFO(cache);
    CHECK(counter(r, std::string(cache) + ".misses") == lines);
    CHECK(looked_up(r, cache) == messages + 1);
  }
}

// Least recently used, of 31 entries for 32 lines that come in turn: the one that comes next is
// always the one that was evicted. The breakdown's is the first line again.
TEST_CASE("a walk through one line more than the MTT cache holds misses each time",
          "[workload][address][context_cache]") {
  const RunResult r = run_workload(
      fmt::format("  - {{operation: write, size: 64 B, depth: 16, messages: 640, address: strided,"
                  " working_set: {} B, stride: {} B}}\n",
                  32 * kLine, kLine),
      with_mtt(31));
  CHECK(counter(r, "hca0.mtt_cache.misses") == 641);
  CHECK(counter(r, "hca1.mtt_cache.misses") == 641);
}

// 256 pages that follow each other: 32 lines.
TEST_CASE("sequential pages share the lines of the MTT", "[workload][address][context_cache]") {
  const RunResult r =
      run_workload(fmt::format("  - {{operation: write, size: 4 KiB, depth: 16, messages: 1024,"
                               " working_set: {} B}}\n",
                               32 * kLine),
                   with_mtt(32));
  CHECK(counter(r, "hca0.mtt_cache.misses") == 32);
  CHECK(counter(r, "hca1.mtt_cache.misses") == 32);
}

// P lines, N of them cached, and each message's line is drawn uniformly and independent of those
// before: with a full cache each look-up finds its line with N / P, so that the hits of M messages
// are binomial with a sigma of sqrt(M N/P (1 - N/P)). While the cache fills, at most N look-ups miss
// that would hit otherwise. Two of 8 misses in flight rarely are of one line: these are no misses.
TEST_CASE("random messages miss as the part of the working set that is not cached",
          "[workload][address][context_cache]") {
  const u64 lines = 1024, messages = 8000;
  const u32 entries = GENERATE(64u, 256u, 512u);
  const RunResult r = run_workload(
      fmt::format("  - {{operation: write, size: 64 B, depth: 64, messages: {}, address: random,"
                  " working_set: {} B, regions: 4}}\n",
                  messages, lines * kLine),
      with_mtt(entries));
  const double hit = double(entries) / double(lines);
  const double sigma = std::sqrt(double(messages) * hit * (1 - hit));
  const double misses = double(messages) * (1 - hit);
  // Of these the fill of c entries so far costs (N - c) / P for each of P / (P - c) look-ups.
  double fill = 0;
  for (u32 c = 0; c < entries; ++c) fill += double(entries - c) / double(lines - c);
  // In flight: 8 misses at most, so 8 / P of the look-ups join one.
  const double joined = double(messages) * 8 / double(lines);
  for (const char* cache : {"hca0.mtt_cache", "hca1.mtt_cache"}) {
    INFO(cache << " of " << entries);
    CHECK(double(counter(r, std::string(cache) + ".misses")) > misses - 4 * sigma - joined);
    CHECK(double(counter(r, std::string(cache) + ".misses")) < misses + fill + 4 * sigma);
  }
}

// 64 regions of one buffer each, in turn; the breakdown's is the first one again.
TEST_CASE("more regions than the MPT cache holds, in turn, miss with each message",
          "[workload][address][context_cache]") {
  const std::string operation = GENERATE(as<std::string>(), "write", "read");
  const auto run = [&](u32 regions) {
    return run_workload(fmt::format("  - {{operation: {}, size: 4 KiB, depth: 16, messages: 640,"
                                    " working_set: 256 KiB, regions: {}}}\n",
                                    operation, regions),
                        with_mpt(8));
  };
  const RunResult many = run(64), few = run(8);
  for (const char* cache : {"hca0.mpt_cache", "hca1.mpt_cache"}) {
    INFO(operation << " " << cache);
    CHECK(counter(many, std::string(cache) + ".misses") == 641);
    CHECK(counter(few, std::string(cache) + ".misses") == 8);
  }
}

// 32 receive buffers ahead, in 64 regions of one buffer each: each buffer is used in turn.
TEST_CASE("receive buffers walk through their working set", "[workload][address][context_cache]") {
  const RunResult r = run_workload(
      "  - {operation: send, size: 4 KiB, depth: 16, receive_depth: 32, messages: 640,"
      " working_set: 256 KiB, regions: 64}\n",
      with_mpt(8));
  CHECK(counter(r, "hca0.mpt_cache.misses") == 641);
  CHECK(counter(r, "hca1.mpt_cache.misses") >= 641);  // some WQEs read ahead are left
  CHECK(counter(r, "hca1.mpt_cache.misses") <= 641 + 32);
}

// 64 numbers that lie in 64 regions: FetchAdds draw one of them, 8 of which are cached.
TEST_CASE("the numbers of ATOMICs lie in the regions of the working set",
          "[workload][address][context_cache]") {
  const RunResult r = run_workload(
      "  - {operation: fetch_add, depth: 16, messages: 2000, atomic_addresses: 64,"
      " working_set: 4 KiB, regions: 64}\n",
      with_mpt(8));
  const double sigma = std::sqrt(2000. / 8 * 7 / 8);
  CHECK(double(counter(r, "hca1.mpt_cache.misses")) < 2000. * 7 / 8 + 8 + 4 * sigma);
  // Two of the 16 in flight may be of one number.
  CHECK(double(counter(r, "hca1.mpt_cache.misses")) > 2000. * 7 / 8 - 4 * sigma - 2000. * 8 / 64);
}

// Every byte is checked where it belongs: a buffer that another message uses would fail the run.
TEST_CASE("every kind of workload runs in a working set", "[workload][address]") {
  const std::string where = GENERATE(as<std::string>(), "working_set: 8 MiB, regions: 128",
                                     "address: random, working_set: 16 MiB, regions: 32",
                                     "address: strided, stride: 5056 B, working_set: 24 MiB");
  const auto run = [&](const std::string& connection, const std::string& keys) {
    const RunResult r = run_text(connection + "workload:\n  - {" + keys + ", " + where + "}\n");
    INFO(connection << keys << ", " << where);
    CHECK(r.failures == Texts{});
    CHECK(r.messages > 0);
  };
  const std::string sizes = "sizes: [{size: 0 B}, {size: 9 B}, {size: 5000 B}]";
  run("",
      "mix: {write: 3, send: 3, read: 3, write_immediate: 1, send_immediate: 1, compare_swap: 1,"
      " fetch_add: 1}, " +
          sizes +
          ", qps: 4, depth: 16, messages: 600, direction: both,"
          " atomic_addresses: 100");
  run("", "mix: {write: 1, send: 1, read: 1}, " + sizes +
              ", sges: 3, threads: 2, qps: 4, depth: 16,"
              " messages: 600");
  run("",
      "operation: write, size: 3000 B, threads: 2, share_qps: true, qps: 2, depth: 8,"
      " messages: 300");
  run("", "operation: fetch_add, threads: 2, qps: 2, depth: 8, messages: 300");
  run("", "operation: send_immediate, size: 200 B, response: 4000 B, depth: 16, messages: 300");
  run("", "operation: write_immediate, size: 200 B, response: 4000 B, depth: 16, messages: 300");
  run("", "operation: send_invalidate, size: 200 B, depth: 16, messages: 300");
  run("", "operation: write, test: latency, size: 3000 B, messages: 200");
  run("", "operation: send, test: latency, size: 3000 B, messages: 200");
  run("", "operation: read, test: latency, size: 3000 B, messages: 200");
  run("connection: {srq: true}\n", "operation: send, test: latency, size: 8 B, messages: 200");
  run("connection: {srq: true}\n",
      "operation: send, " + sizes + ", qps: 4, depth: 16, messages: 600");
  run("hca.transport.xrc: true\nconnection: {service: xrc, xrc_srqs: 3}\n",
      "mix: {write: 1, send: 1, read: 1}, " + sizes + ", qps: 4, depth: 16, messages: 600");
  run("hca.transport.rd: true\nconnection: {service: rd}\n",
      "mix: {write: 1, send: 1, read: 1}, " + sizes + ", qps: 4, depth: 16, messages: 300");
  run("hca.transport: {atomic_write: true, flush: true, extended: true}\n",
      "mix: {write: 1, flush: 1, atomic_write: 1, extended_put: 1, extended_get: 1}, size: 3000 B,"
      " depth: 16, messages: 300");
  const std::string faults =
      "faults:\n  - {action: drop, from: 0, per_million: 10000}\n"
      "  - {action: duplicate, from: 0, per_million: 10000}\n";
  run(faults + "connection: {service: uc}\n",
      "mix: {write: 1, send: 1, write_immediate: 1}, sizes: [{size: 8 B}, {size: 5000 B}], qps: 2,"
      " depth: 16, messages: 600");
  run(faults + "connection: {service: ud}\n",
      "operation: send, size: 900 B, qps: 2, depth: 16, messages: 600");
  run(faults + "connection: {timeout: 8}\n",
      "mix: {write: 1, send: 1, read: 1}, " + sizes + ", qps: 2, depth: 16, messages: 600");
}

TEST_CASE("a WRITE beside its random place fails the run", "[workload][address][integrity]") {
  FreshKernel kernel;
  const Scenario scenario = parse_scenario(
      "workload: [{operation: write, size: 64 B, depth: 4, messages: 8, address: random,"
      " working_set: 64 KiB, regions: 4}]\n",
      "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  const Traffic traffic = traffic_of(scenario.workload[0], 1, 64, 1);
  Checker checker("server", traffic, Way::ToServer);
  WriteWatch watch(testbed.end(1), traffic, checker);
  const Buffers server(testbed.end(1), traffic);
  tlm_::HostMemory& memory = testbed.node(1).memory;
  std::array<u8, 64> bytes{};
  checker.fill(memory, server.target(0, 0).addr, 0, 0);
  CHECK_FALSE(checker.failed());
  CHECK(watch.arrived() == 1);
  memory.write(server.target(0, 1).addr + 64, bytes);
  CHECK(checker.failed());
  CHECK_THAT(all(checker.failures()), Contains("message 1 belongs at"));
}

TEST_CASE("addresses follow the seed, and give one hash in all ways to run",
          "[workload][address][hash]") {
  const auto hash = [](const std::string& keys, const Texts& settings = {}) {
    return run_text(
               "run.hash: true\nhca: {mpt_cache: {entries: 4}, mtt_cache: {entries: 8},"
               " protection: {page: 4 KiB}}\nworkload:\n"
               "  - {mix: {write: 1, send: 1, read: 1}, size: 200 B, qps: 2, depth: 8,"
               " messages: 400" +
                   keys + "}\n",
               settings)
        .hash.value();
  };
  const std::string random = ", address: random, working_set: 1 MiB, regions: 8";
  const auto plain = hash(random);
  for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"})
    CHECK(hash(random, {way}) == plain);
  CHECK(hash(random) == plain);
  CHECK(hash(random, {"run.seed=2"}) != plain);
  CHECK(hash(", address: strided, working_set: 1 MiB, regions: 8, stride: 512 B") != plain);
  CHECK(hash(", address: sequential, regions: 1, working_set: 0 B") == hash(""));
}
}  // namespace hca::testbench
