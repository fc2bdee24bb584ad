// SPDX-License-Identifier: Apache-2.0
// What a workload entry may not say, each with line, key, problem and what is allowed.
#include "testbench/scenario/workload_rules.h"

#include <catch2/catch.hpp>

#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

std::string entry(const std::string& keys) {
  return "run.seed: 1\nworkload:\n  - {" + keys + "}\n";
}
}  // namespace

TEST_CASE("entries that contradict themselves are refused, and their good neighbours are not",
          "[scenario][workload]") {
  struct Case {
    const char *bad, *error, *good;
  };
  const Case cases[] = {
      {"mix: {write: 0}", "s.yaml:3: workload[0].mix: has no weight above 0; allowed: one weight",
       "mix: {write: 1}"},
      {"threads: 2, test: latency, size: 8 B",
       "s.yaml:3: workload[0].threads: is above 1 for a latency test; allowed: threads: 1",
       "threads: 1, test: latency, size: 8 B"},
      {"threads: 2, qps: 3", "workload[0].threads: does not divide the queue pairs",
       "threads: 3, qps: 3"},
      {"share_qps: true, qps: 3",
       "s.yaml:3: workload[0].share_qps: is set for one thread; allowed: threads: 2 or more beside "
       "it",
       "share_qps: true, qps: 3, threads: 2"},
      {"share_qps: true, threads: 2, operation: send, response: 8 B",
       "workload[0].share_qps: is set with response; allowed: one of them",
       "threads: 2, qps: 2, operation: send, response: 8 B"},
      {"operation: send, response: 8 B, test: latency",
       "workload[0].response: is set for a latency test; allowed: test: bandwidth, with depth: 1",
       "operation: send, response: 8 B, depth: 1"},
      {"mix: {send: 1}, response: 8 B", "workload[0].response: is set with a mix",
       "operation: write_immediate, response: 8 B"},
      {"operation: write, response: 8 B",
       "workload[0].response: is set for an operation that does not tell the server; allowed: "
       "send, "
       "send_immediate or write_immediate",
       "operation: send_immediate, response: 8 B"},
      {"operation: send_invalidate, response: 8 B", "does not tell the server",
       "operation: send, response: 1 B"},
      {"operation: send, response: 8 B, direction: both",
       "workload[0].response: is set in both directions; allowed: direction: forward",
       "operation: send, response: 8 B, direction: forward"},
      {"operation: send, response: 8 B, serve_time: 1 us, serve_times: [{time: 1 us}]",
       "workload[0].serve_times: conflicts with serve_time or serve; allowed: one of them",
       "operation: send, response: 8 B, serve_times: [{time: 1 us}]"},
      {"operation: send, response: 8 B, serve: exponential, serve_times: [{time: 1 us}]",
       "workload[0].serve_times: conflicts with serve_time or serve",
       "operation: send, response: 8 B, serve: exponential, serve_time: 1 us"},
      {"operation: send, response: 8 B, serve_times: [{time: 1 us, weight: 0}]",
       "workload[0].serve_times: has no weight above 0",
       "operation: send, response: 8 B, serve_times: [{time: 1 us, weight: 0}, {time: 2 us}]"},
      {"operation: send, response: 8 B, serve_times: []",
       "workload[0].serve_times: is empty; allowed: [{time: 1 us, weight: 3}]",
       "operation: send, response: 8 B, serve_times: [{time: 0 us}]"},
      {"serve_time: 1 us", "workload[0].serve_time: is for answers; allowed: response beside it",
       "serve_time: 0 us"},
      {"serve: fixed", "workload[0].serve: is for answers; allowed: response and serve_time",
       "operation: send, response: 8 B, serve: fixed, serve_time: 1 us"},
      {"serve_times: [{time: 1 us}]", "workload[0].serve_times: is for answers",
       "operation: send, response: 8 B, serve_times: [{time: 1 us}]"},
      {"threads: 2, qps: 2, wait: event",
       "workload[0].threads: is above 1 with programs that sleep",
       "threads: 2, qps: 2, wait: poll"},
      {"threads: 2, qps: 2, message_rate: 1000", "workload[0].threads: is above 1 in an open loop",
       "threads: 1, qps: 2, message_rate: 1000"},
      {"batches: true, message_rate: 1000", "workload[0].batches: is set in an open loop",
       "batches: true"},
      {"batches: true, signal_every: 2", "workload[0].signal_every: is above 1 with batches",
       "batches: true, signal_every: 1"},
      {"operation: read, mix: {write: 1}",
       "s.yaml:3: workload[0].mix: conflicts with operation; allowed: one of them",
       "mix: {read: 1}"},
      {"operation: fetch_add, size: 16 B",
       "s.yaml:3: workload[0].operation: is an ATOMIC or ATOMIC WRITE, which has 8 B; allowed: no "
       "size, or 8 B",
       "operation: fetch_add, size: 8 B"},
      {"operation: compare_swap, from: 8 B, to: 16 B", "which has 8 B",
       "operation: compare_swap, from: 8 B, to: 8 B"},
      {"operation: write, atomic_addresses: 4",
       "workload[0].atomic_addresses: is for ATOMICs; allowed: an ATOMIC, or a mix with one",
       "mix: {write: 1, fetch_add: 1}, atomic_addresses: 4"},
      {"operation: write, read_addresses: 4",
       "workload[0].read_addresses: is for READs and GETs; allowed: a READ or GET, or a mix with "
       "one",
       "mix: {write: 1, read: 1}, read_addresses: 4"},
      {"operation: read, size: 1 MiB, read_addresses: 1025",
       "workload[0].read_addresses: makes more than 1 GiB of the peer's memory; allowed: "
       "read_addresses times the largest size up to that",
       "operation: read, size: 1 MiB, read_addresses: 1024"},
      {"size: 64 B, to: 128 B", "workload[0].size: conflicts with from or to", "size: 64 B"},
      {"sizes: [{size: 64 B}], from: 2 B", "workload[0].sizes: conflicts with size, from or to",
       "sizes: [{size: 64 B}]"},
      {"sizes: [{size: 64 B, weight: 0}]", "workload[0].sizes: has no weight above 0",
       "sizes: [{size: 64 B, weight: 0}, {size: 8 B}]"},
      {"rate: 1 Gb/s, message_rate: 5", "workload[0].message_rate: conflicts with rate",
       "message_rate: 5"},
      {"rate: 1 Gb/s, sizes: [{size: 0 B}]", "workload[0].rate: plans bits, and no message has any",
       "rate: 1 Gb/s, sizes: [{size: 0 B}, {size: 8 B}]"},
      {"push: true, list: 2", "workload[0].push: is set with a list: one doorbell brings one WQE",
       "push: true, list: 1"},
      {"test: latency, size: 8 B, list: 2", "workload[0].list: is above 1 for a latency test",
       "test: latency, size: 8 B, list: 1"},
      {"arrivals: even", "workload[0].arrivals: is for an open loop; allowed: rate or message_rate",
       "arrivals: even, rate: 1 Gb/s"},
      {"queue: 5", "workload[0].queue: is for an open loop", "queue: 5, message_rate: 9"},
      {"rate: 1 Gb/s, signal_every: 2", "workload[0].signal_every: is above 1 in an open loop",
       "rate: 1 Gb/s, signal_every: 1"},
      {"test: latency, qps: 2", "workload[0].test: is latency with several queue pairs",
       "test: latency, qps: 1"},
      {"test: latency, mix: {read: 1}", "workload[0].test: is latency with a mix", "test: latency"},
      {"test: latency, sizes: [{size: 8 B}]", "workload[0].test: is latency with weighted sizes",
       "test: latency, size: 8 B"},
      {"test: latency, rate: 1 Gb/s", "workload[0].test: is latency in an open loop",
       "test: bandwidth, rate: 1 Gb/s"},
      {"test: latency, direction: both", "workload[0].test: is latency in both directions",
       "test: latency, direction: forward"},
      {"test: latency, size: 8 B, together: true", "workload[0].together: is set for a latency",
       "size: 8 B, together: true"},
      {"together: true", "workload[0].together: is set with several sizes", "together: false"},
      {"depth: 16, signal_every: 64",
       "workload[0].signal_every: is above depth: a full queue would have no completion; allowed: "
       "depth or less",
       "depth: 16, signal_every: 16"},
      {"test: latency, size: 8 B, depth: 2", "workload[0].depth: is above 1 for a latency test",
       "test: latency, size: 8 B, depth: 1"},
      {"test: latency, size: 8 B, signal_every: 2",
       "workload[0].signal_every: is above 1 for a latency test",
       "test: latency, size: 8 B, signal_every: 1"},
      {"size: 1 MiB, depth: 1025", "workload[0].depth: makes more than 1 GiB in flight",
       "size: 1 MiB, depth: 1024"},
      {"qps: 1024, depth: 1025", "workload[0].depth: makes more than 1048576 messages",
       "qps: 1024, depth: 1024, size: 64 B"},
      {"qps: 1024, receive_depth: 2049", "workload[0].receive_depth: makes more than 2097152",
       "qps: 1024, receive_depth: 2048"},
      {"from: 64 B, to: 2 B", "workload[0].to: 2 B is less than from; allowed: 64 B or more",
       "from: 2 B, to: 64 B"},
      {"operation: reed", "workload[0].operation: \"reed\" is not one of the names; allowed: write",
       "operation: read"},
      {"qps: 1048577", "workload[0].qps: \"1048577\" is out of range; allowed: 0 .. 1048576",
       "qps: 3"},
      {"mix: {raed: 1}", "did you mean \"workload[0].mix.read\"?", "mix: {read: 1}"},
      {"mix: 3", "workload[0].mix: is no map of weights; allowed: {write: 70, read: 30}",
       "mix: {write: 70, read: 30}"},
      {"sizes: []", "workload[0].sizes: is empty; allowed: [{size: 64 B, weight: 3}]",
       "sizes: [{size: 8 B}]"},
      {"mix: {}", "workload[0].mix: is empty; allowed: {write: 70, read: 30}", "mix: {read: 1}"},
      {"sizes: 64 B", "workload[0].sizes: is no list; allowed: [{size: 64 B, weight: 3}]",
       "sizes: [{size: 64 B, weight: 3}]"},
      {"sizes: [64 B]", "workload[0].sizes[0]: is no map of keys; allowed: size, weight",
       "sizes: [{weight: 3}]"},
      {"sizes: [{size: 64}]", "workload[0].sizes[0].size: \"64\" has no unit",
       "sizes: [{size: 64 B}]"},
      {"rate: 5", "workload[0].rate: \"5\" has no unit", "rate: 5 Mb/s"},
  };
  for (const Case& c : cases) {
    INFO(c.bad);
    CHECK_THAT(error_of(entry(c.bad)), Contains(c.error) && Contains("s.yaml:3: workload[0]."));
    CHECK(error_of(entry(c.good)) == "(none)");
  }
}

TEST_CASE("a working set that does not fit its entry is refused", "[scenario][workload][address]") {
  struct Case {
    std::string bad, error, good;
  };
  const Case cases[] = {
      {"address: random",
       "workload[0].address: is random or strided without a working set; allowed: working_set "
       "beside it",
       "address: sequential"},
      {"address: strided, working_set: 64 MiB, size: 64 B",
       "workload[0].address: is strided without a stride; allowed: stride beside it",
       "address: strided, working_set: 64 MiB, size: 64 B, stride: 64 B"},
      {"address: random, working_set: 64 MiB, size: 64 B, stride: 64 B",
       "workload[0].stride: is for address: strided; allowed: address: strided beside it",
       "address: random, working_set: 64 MiB, size: 64 B"},
      {"address: strided, working_set: 64 MiB, size: 4097 B, stride: 4096 B",
       "workload[0].stride: 4096 B is less than a buffer of 4160 B; allowed: 4160 B or more",
       "address: strided, working_set: 64 MiB, size: 4097 B, stride: 4160 B"},
      {"regions: 2",
       "workload[0].regions: is above 1 without a working set; allowed: 1, or working_set beside "
       "it",
       "regions: 1"},
      {"size: 64 B, depth: 2, working_set: 1216 B, regions: 3",
       "workload[0].regions: does not divide the working set into parts of whole 64 B; allowed: a "
       "divisor of working_set / 64 B",
       "size: 64 B, depth: 2, working_set: 1152 B, regions: 3"},
      // 16 buffers of 4 KiB.
      {"size: 4 KiB, depth: 16, working_set: 65472 B",
       "workload[0].working_set: 65472 B with regions: 1 does not have a place of 4096 B for each "
       "of the 16 messages in flight (qps times depth); allowed: 65536 B or more",
       "size: 4 KiB, depth: 16, working_set: 64 KiB"},
      {"size: 4 KiB, depth: 16, working_set: 64 KiB, address: random",
       "does not have two places of 4096 B for each of the 16 messages in flight (qps times depth);"
       " allowed: 131072 B or more",
       "size: 4 KiB, depth: 16, working_set: 128 KiB, address: random"},
      // 6 in each of 3 regions, for 16.
      {"size: 4 KiB, depth: 16, working_set: 73536 B, regions: 3", "allowed: 73728 B or more",
       "size: 4 KiB, depth: 16, working_set: 73728 B, regions: 3"},
      // 15 strides and a buffer.
      {"size: 4 KiB, depth: 16, working_set: 126912 B, address: strided, stride: 8 KiB",
       "allowed: 126976 B or more",
       "size: 4 KiB, depth: 16, working_set: 126976 B, address: strided, stride: 8 KiB"},
      {"operation: send, size: 64 B, depth: 4, receive_depth: 100, working_set: 6336 B",
       "a place of 64 B for each of the 100 receive WQEs (qps times receive_depth); allowed: 6400 "
       "B",
       "operation: send, size: 64 B, depth: 4, receive_depth: 100, working_set: 6400 B"},
      {"operation: fetch_add, depth: 4, atomic_addresses: 100, working_set: 6336 B",
       "a place of 64 B for each of the 100 numbers of ATOMICs (atomic_addresses); allowed: 6400 B",
       "operation: fetch_add, depth: 4, atomic_addresses: 100, working_set: 6400 B"},
      {"operation: read, size: 64 B, depth: 4, read_addresses: 100, working_set: 6336 B",
       "a place of 64 B for each of the 100 addresses of READs (read_addresses); allowed: 6400 B",
       "operation: read, size: 64 B, depth: 4, read_addresses: 100, working_set: 6400 B"},
      {"operation: send_immediate, size: 64 B, response: 1 KiB, depth: 4, receive_depth: 8,"
       " working_set: 4 KiB",
       "a place of 1024 B for each of the 8 receive WQEs (qps times receive_depth); allowed: 8192 "
       "B",
       "operation: send_immediate, size: 64 B, response: 1 KiB, depth: 4, receive_depth: 8,"
       " working_set: 8 KiB"},
      {"working_set: 100 B", "workload[0].working_set: \"100 B\" is no multiple of 64 B",
       "size: 64 B, depth: 1, working_set: 128 B"},
      {"working_set: 128 GiB", "0 B .. 64 GiB", "size: 64 B, depth: 1, working_set: 64 GiB"},
      {"regions: 0", "1 .. 65536", "regions: 1"},
      {"address: backwards", "allowed: sequential | random | strided", "address: sequential"},
  };
  for (const Case& c : cases) {
    INFO(c.bad);
    CHECK_THAT(error_of(entry(c.bad)), Contains(c.error) && Contains("s.yaml:3: workload[0]."));
    CHECK(error_of(entry(c.good)) == "(none)");
  }
}

// Three regions and two working sets of 100: keys 1 to 203.
TEST_CASE("regions of a working set are counted", "[scenario][workload][address]") {
  const std::string text =
      "workload:\n  - {size: 64 B, depth: 4, working_set: 6400 B, regions: 100}\n";
  CHECK_THAT(error_of("hca.core.max_regions: 203\n" + text),
             Contains("s.yaml:3: workload[0]: needs regions of hca0 with the numbers 1 to 203"));
  CHECK(error_of("hca.core.max_regions: 204\n" + text) == "(none)");
}

// 2^17 + 1 lines of 8 pages have MTT entries of their own: 4 GiB + 32 KiB of 4 KiB pages.
TEST_CASE("a region beyond the numbers of its translations is refused where they are cached",
          "[scenario][workload][address]") {
  const std::string text =
      "hca: {mtt_cache: {entries: 64}, protection: {page: 4 KiB}}\nworkload:\n  - {size: 64 B, "
      "working_set: ";
  CHECK_THAT(error_of(text + "64 GiB, regions: 3}\n"), Contains("regions: does not divide"));
  CHECK_THAT(error_of(text + "64 GiB, regions: 8}\n"),
             Contains("s.yaml:3: workload[0].working_set: makes regions of 8589934592 B: pages "
                      "after the first 4295000064 B of a region share entries of hca0.mtt_cache; "
                      "allowed: 34360000512 B or less, regions: 16 or more, or larger pages in "
                      "hca0.protection.page"));
  CHECK(error_of(text + "64 GiB, regions: 16}\n") == "(none)");
  CHECK(error_of(text + "64 GiB, regions: 8}\n", {"hca.protection.page=8 KiB"}) == "(none)");
  CHECK(error_of(text + "64 GiB, regions: 8}\n", {"hca.mtt_cache.entries=0"}) == "(none)");
}

TEST_CASE("connection knobs of READ, retries and queue pairs have their ranges",
          "[scenario][workload]") {
  CHECK_THAT(error_of("connection: {max_rd_atomic: 129}\n"),
             Contains("s.yaml:1: connection.max_rd_atomic: \"129\"") && Contains("1 .. 128"));
  CHECK_THAT(error_of("connection: {qps: 0}\n"), Contains("1 .. 1048576"));
  const Scenario s = parse_scenario(
      "connection: {qps: 4, max_rd_atomic: 2}\nworkload: [{size: 8 B}, {size: 8 B, qps: 2}]\n",
      "s.yaml");
  CHECK(s.qps_of(s.workload[0]) == 4);
  CHECK(s.qps_of(s.workload[1]) == 2);
  CHECK(s.connection.max_rd_atomic == 2);
}

TEST_CASE("sizes come from size, from a list or from the operation", "[scenario][workload]") {
  const Scenario s = parse_scenario(
      "workload:\n  - {size: 4 KiB}\n  - {sizes: [{size: 8 B}, {size: 1 KiB}, {size: 64 B}]}\n"
      "  - {operation: fetch_add}\n  - {operation: read}\n",
      "s.yaml");
  CHECK((s.workload[0].from == 4096 && s.workload[0].to == 4096));
  CHECK((s.workload[1].from == 1024 && s.workload[1].to == 1024));
  CHECK((s.workload[2].from == 8 && s.workload[2].to == 8));
  CHECK((s.workload[3].from == 2 && s.workload[3].to == 1 << 20));
}

TEST_CASE("a setting beside the file wins, and is named in errors", "[scenario]") {
  const std::string text = "wire.latency: 1 us\nworkload: [{size: 8 B, messages: 5}]\n";
  const Scenario s = parse_scenario(
      text, "s.yaml",
      {"wire.latency=2 us", "workload[0].messages=7", "workload[0].depth=3", "run.seed=9"});
  CHECK(s.cables[0].wire.latency == 2'000'000);
  CHECK(s.workload[0].messages == 7);
  CHECK(s.workload[0].depth == 3);
  CHECK(s.run.seed == 9);
  CHECK_THAT(error_of(text, {"wire.latency=5"}),
             Contains("--set: wire.latency: \"5\" has no unit"));
  CHECK_THAT(error_of(text, {"wire.latensy=5 ns"}),
             Contains("--set: wire.latensy: is no known key"));
  CHECK_THAT(error_of(text, {"seed"}),
             Contains("--set: \"seed\" is no setting; allowed: key=value"));
  CHECK_THAT(error_of(text, {"workload[1].depth=3"}),
             Contains("--set: workload[1].depth: is no entry of workload; allowed: 0 to 0"));
  CHECK_THAT(error_of(text, {"workload[0].test=latency", "workload[0].qps=2"}),
             Contains("--set: workload[0].test: is latency with several queue pairs"));
  CHECK_THAT(error_of("", {"faults[0].psn=3"}), Contains("none, it has no entries"));
}

TEST_CASE("mistakes of all kinds are named at once", "[scenario][workload]") {
  const std::string text =
      "hca.core.clock: 1\n"
      "wire2.latency: 1 us\n"
      "workload:\n"
      "  - {operation: writ, size: 3 B, from: 2 B}\n"
      "  - {rate: 1 Gb/s, message_rate: 3, size: 4 B, from: 3 B}\n"
      "faults:\n"
      "  - {per_million: 3, occurrence: 2}\n";
  const std::string error = error_of(text, {"nothing", "host.poll=1"});
  for (const char* part :
       {"s.yaml:1: hca.core.clock: \"1\" has no unit", "s.yaml:2: wire2.latency: is of port 2",
        "s.yaml:4: workload[0].operation: \"writ\"",
        "s.yaml:5: workload[1].size: conflicts with from or to",
        "s.yaml:5: workload[1].message_rate: conflicts with rate",
        "s.yaml:7: faults[0].occurrence: conflicts with per_million",
        "--set: \"nothing\" is no setting", "--set: host.poll: \"1\" has no unit"})
    CHECK_THAT(error, Contains(part));
  // An entry with a wrong value is not judged as a whole.
  CHECK(error.find("workload[0].size") == error.npos);
}

// T4: UC has neither READ nor ATOMIC.
TEST_CASE("operations that the connection's service does not have are refused",
          "[scenario][workload]") {
  const std::vector<std::string> uc{"connection.service=uc"};
  CHECK_THAT(error_of(entry("operation: read"), uc),
             Contains("workload[0].operation: does not exist in connection.service"));
  CHECK_THAT(error_of(entry("mix: {write: 1, fetch_add: 1}"), uc),
             Contains("workload[0].mix: has an operation that connection.service does not have"));
  for (const char* good : {"operation: write", "operation: send", "mix: {write: 1, send: 1}"})
    CHECK(error_of(entry(good), uc) == "(none)");
  for (const WorkloadConfig& w : parse_scenario("run.seed: 1\n", "s.yaml", uc).workload)
    CHECK((w.operation == Operation::Write || w.operation == Operation::Send));
  const std::vector<std::string> ud{"connection.service=ud", "connection.path_mtu=512"};
  CHECK_THAT(error_of(entry("operation: write"), ud),
             Contains("workload[0].operation: does not exist in connection.service"));
  CHECK_THAT(error_of(entry("operation: send, size: 513 B"), ud),
             Contains("workload[0].size: makes datagrams of more than connection.path_mtu"));
  CHECK(error_of(entry("operation: send, size: 512 B"), ud) == "(none)");
  // 256 B of a WQE that can be pushed, less its header of 32 B and the address handle of 48 B.
  CHECK(error_of(entry("operation: send, size: 512 B, inline_below: 177 B"), ud) == "(none)");
  CHECK_THAT(error_of(entry("operation: send, size: 512 B, inline_below: 178 B"), ud),
             Contains("workload[0].inline_below: leaves no room for the address handle") &&
                 Contains("allowed: 0 to 177 B with ud"));
  CHECK(error_of(entry("operation: send, inline_below: 178 B"), uc) == "(none)");
  for (const WorkloadConfig& w : parse_scenario("run.seed: 1\n", "s.yaml", ud).workload)
    CHECK((w.operation == Operation::Send && w.to <= 512));
}
}  // namespace hca::testbench
