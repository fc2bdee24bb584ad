// SPDX-License-Identifier: Apache-2.0
// Runs whose contexts do not fit into the caches.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "testbench/run/run_recorder.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
u64 sum_of(const RunResult& result, std::string_view end) {
  u64 sum = 0;
  for (const CounterValue& c : result.counters) sum += c.name.ends_with(end) ? c.value : 0;
  return sum;
}
}  // namespace

// A miss reads 256 bytes: 24 of header up, 276 down at 14.5 bytes a ns, 100 ns each way and 90 ns
// at memory are 311 ns, and some cycles of 2.5 ns through links; after a write of another entry,
// 280 bytes up, up to 20 ns more.
TEST_CASE("scenario thrash: misses under way by the time of one", "[scenarios][context_cache]") {
  const RunResult four = run_ready("thrash", {});
  CHECK(four.streams.at(0).million_messages_per_second() < 4 / 0.311);
  CHECK(four.streams.at(0).million_messages_per_second() > 4 / 0.350);
  // Each message finds its context gone once on each side; one more is the breakdown's.
  CHECK(counter(four, "hca0.qp_cache.misses") == 6401);
  CHECK(counter(four, "hca1.qp_cache.misses") == 6401);
  const RunResult two = run_ready("thrash", {"hca.qp_cache.misses=2"});
  CHECK(two.streams.at(0).million_messages_per_second() ==
        Approx(four.streams.at(0).million_messages_per_second() / 2).epsilon(0.02));
}

TEST_CASE("scenario thrash: the misses are named as the bottleneck", "[scenarios][context_cache]") {
  FreshKernel kernel;
  Scenario scenario =
      load_scenario(std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/thrash.yaml", {});
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  CHECK(runner.run().failures.empty());
  CHECK(recorder.bottleneck_lines().find("hca0 QP cache misses") != std::string::npos);
  CHECK(recorder.bottleneck_lines().find("(qp_cache.misses, entries)") != std::string::npos);
  // All four are under way all the time, but for the beginning and the end.
  const nlohmann::json record = recorder.json();
  unsigned seen = 0;
  for (const auto& use : record.at("phases").at(0).at("resources")) {
    if (use.at("kind") != "misses") continue;
    CHECK(use.at("share").get<double>() > 0.98);
    ++seen;
  }
  CHECK(seen == 2);  // of both chips
}

TEST_CASE("scenario thrash: with room for all contexts each is read once",
          "[scenarios][context_cache]") {
  const RunResult all = run_ready("thrash", {"hca.qp_cache.entries=64"});
  CHECK(counter(all, "hca0.qp_cache.misses") == 64);  // the breakdown is of one of the 64
  CHECK(counter(all, "hca0.qp_cache.write_backs") == 0);
  const RunResult none = run_ready("thrash", {"hca.qp_cache.entries=0"});
  CHECK(all.streams.at(0).million_messages_per_second() >
        0.95 * none.streams.at(0).million_messages_per_second());
}

// A miss takes 302 ns and more (below), and each turn of the 64 queue pairs is one at the sender. A
// gate with a lookahead of n has at most n of them in flight.
TEST_CASE("scenario thrash: misses in flight are those of the lookahead",
          "[scenarios][context_cache]") {
  const auto rate = [](u32 lookahead) {
    const RunResult r =
        run_ready("thrash", {"hca.qp_cache.entries=8", "hca.qp_cache.misses=64",
                             fmt::format("hca.context_gate.lookahead={}", lookahead)});
    return r.streams.at(0).million_messages_per_second();
  };
  const double one = rate(1), two = rate(2), all = rate(32);
  CHECK(one < 1 / 0.302);
  CHECK(one > 1 / 0.360);
  CHECK(two < 2 / 0.302);
  CHECK(two > 1.9 * one);
  CHECK(all > 1.2 * two);
}

TEST_CASE("small caches of contexts give one hash in all ways to run", "[context_cache][hash]") {
  std::vector<std::string> small{
      "run.hash=true",          "workload[0].messages=500",   "workload[0].depth=4",
      "hca.qp_cache.entries=8", "hca.qp_cache.ways=2",        "hca.cq_cache.entries=2",
      "hca.cq_cache.ways=1",    "hca.mpt_cache.entries=4",    "hca.mtt_cache.entries=8",
      "hca.mtt_cache.misses=1", "hca.qp_cache.policy=random", "hca.wqe_cache.entries=8",
      "hca.wqe_cache.ways=4"};
  const RunResult plain = run_ready("soak", small);
  CHECK(sum_of(plain, "_cache.misses") > 1000);
  CHECK(sum_of(plain, "qp_cache.write_backs") > 1000);
  CHECK(sum_of(plain, "wqe_cache.misses") > 50);
  CHECK(sum_of(plain, "wqe_cache.repeats") > 0);
  CHECK(sum_of(plain, "_cache.damaged") == 0);
  for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"}) {
    std::vector<std::string> settings = small;
    settings.emplace_back(way);
    CHECK(run_ready("soak", settings).hash == plain.hash);
  }
}

// READs in flight on 64 queue pairs, and WQEs of 8: nearly each response finds its WQE gone. A
// miss reads 128 bytes: 24 of header up, 148 down at 14.5 bytes a ns, 100 ns each way and 90 ns at
// memory are 302 ns, and some cycles of 2.5 ns.
TEST_CASE("READs whose WQEs are gone: misses under way by the time of one", "[context_cache]") {
  const std::string reads =
      "  - {operation: read, size: 64 B, qps: 64, depth: 1, messages: 6400}\n";
  const auto rate = [](const RunResult& r) {
    return r.streams.at(0).million_messages_per_second();
  };
  const RunResult none = run_workload(reads, {});
  const RunResult two = run_workload(reads, {"hca.wqe_cache.entries=8", "hca.wqe_cache.misses=2"});
  CHECK(rate(two) < 2 / 0.302);
  CHECK(rate(two) > 2 / 0.340);
  CHECK(counter(two, "hca0.wqe_cache.misses") > 6300);  // some overtake others
  CHECK(counter(two, "hca0.wqe_cache.damaged") == 0);
  const RunResult all = run_workload(reads, {"hca.wqe_cache.entries=64"});
  CHECK(counter(all, "hca0.wqe_cache.misses") == 0);
  CHECK(counter(all, "hca0.wqe_cache.hits") == 6401);  // one is the breakdown's
  CHECK(rate(all) > 0.95 * rate(none));
}

// 128 WRITEs in flight and WQEs of 8: nearly each acknowledgement finds its WQE gone, and reads it
// once. One miss at a time is that of the READs above: 3.3 M/s at most.
TEST_CASE("WRITEs whose WQEs are gone: each is read once more", "[context_cache]") {
  const auto writes = [](const std::string& acks) {
    return run_workload(
        "  - {operation: write, size: 8 B, depth: 64, messages: 4000, threads: 2, qps: 2}\n",
        {"hca.wqe_cache.entries=8", "hca.wqe_cache.misses=1", "hca.wqe_cache.acks=" + acks});
  };
  const RunResult with = writes("true"), without = writes("false");
  const u64 misses = counter(with, "hca0.wqe_cache.misses");
  CHECK(misses > 3900);
  CHECK(misses + counter(with, "hca0.wqe_cache.hits") + counter(with, "hca0.wqe_cache.joined") ==
        4001);  // one is the breakdown's
  CHECK(counter(with, "hca0.wqe_cache.damaged") == 0);
  CHECK(with.streams.at(0).million_messages_per_second() < 1 / 0.302);
  CHECK(with.streams.at(0).million_messages_per_second() > 1 / 0.340);
  CHECK(counter(without, "hca0.wqe_cache.misses") == 0);
}

// One packet of 32 in flight is lost: the WQEs from it on are sent again.
TEST_CASE("WQEs that are sent again are not read again if they are here", "[context_cache]") {
  const auto lost = [](std::vector<std::string> settings) {
    return run_text(
        "faults: [{action: drop, occurrence: 100, from: 0}]\n"
        "workload:\n"
        "  - {operation: write, size: 64 B, depth: 32, messages: 400}\n",
        settings);
  };
  const RunResult with = lost({"hca.wqe_cache.entries=64"}), without = lost({});
  CHECK(counter(with, "hca0.requester.resent") > 0);
  CHECK(counter(with, "hca0.wqe_cache.repeats") >= counter(with, "hca0.requester.resent") - 8);
  CHECK(counter(with, "hca0.wqe_fetch.fetches") < counter(without, "hca0.wqe_fetch.fetches"));
}

// 64 reads of receive WQEs may be under way; the first batches of all queue pairs are read ahead at
// once, and each waits for the translations of its SGEs.
TEST_CASE("SENDs on more queue pairs than receive WQEs may be read at once", "[context_cache]") {
  const RunResult r = run_workload("  - {operation: send, size: 16 B, qps: 200, messages: 1000}\n",
                                   {"hca.mtt_cache.entries=64"});
  CHECK(counter(r, "hca1.responder_execute.receive_fetches") >= 200);
}

TEST_CASE("ways that do not divide the entries are refused", "[context_cache]") {
  const std::string file = std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/thrash.yaml";
  CHECK_THROWS_WITH(load_scenario(file, {"hca.qp_cache.ways=5"}),
                    Catch::Contains("qp_cache.ways") && Catch::Contains("a divisor of 32"));
}
}  // namespace hca::testbench
