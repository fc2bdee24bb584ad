// SPDX-License-Identifier: Apache-2.0
// The keys of a workload that change how its messages are posted and waited for.
#include <catch2/catch.hpp>

#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
double p50(const RunResult& result, std::size_t row = 0) {
  return double(result.sizes.at(row).latency->picoseconds.percentile(50).value());
}
}  // namespace

TEST_CASE("SENDs with Invalidate take a key of the server away", "[workload][G10.1]") {
  const RunResult result = run_workload(
      "  - {operation: send_invalidate, sizes: [{size: 0 B}, {size: 3000 B}], messages: 60, qps: "
      "3}\n"
      "  - {mix: {send: 1, send_invalidate: 1, write: 1}, size: 64 B, messages: 60, direction: "
      "both}\n");
  CHECK(result.messages == 60 + 2 * 60);
  CHECK(counter(result, "hca1.completion.cqes") > 60);
}

TEST_CASE("optional operations are sent where both chips have them", "[workload][EXT-11]") {
  const std::string text =
      "  - {operation: atomic_write, messages: 30, qps: 2, direction: both}\n"
      "  - {operation: flush, size: 4000 B, messages: 20}\n"
      "  - {mix: {write: 2, flush: 1, atomic_write: 1}, sizes: [{size: 9 B}], messages: 40}\n"
      "  - {operation: flush, test: latency, size: 64 B, messages: 40}\n"
      "  - {operation: atomic_write, test: latency, messages: 40}\n";
  const std::vector<std::string> has{"hca.transport.flush=true", "hca.transport.atomic_write=true"};
  const RunResult result = run_workload(text, has);
  CHECK(result.messages == 2 * 30 + 20 + 40 + 40 + 2 * 40 + 3);  // and those of the breakdown
  CHECK(counter(result, "hca1.responder_execute.flushes") > 30);
  CHECK(p50(result, 2) > 0);
  CHECK_THROWS_WITH(run_workload(text, {has[0], "hca0.transport.atomic_write=true"}),
                    Catch::Contains("atomic_write is an operation that hca1 does not have"));
}

TEST_CASE("GET and PUT Memory carry the bytes of a READ and a WRITE", "[workload][EXT-7][EXT-10]") {
  const std::string text =
      "  - {operation: extended_get, size: 3000 B, messages: 30, qps: 2, direction: both}\n"
      "  - {operation: extended_put, sizes: [{size: 0 B}, {size: 3000 B}], messages: 31}\n"
      "  - {mix: {extended_put: 2, extended_get: 1, send: 1}, size: 5000 B, messages: 40}\n"
      "  - {operation: extended_get, test: latency, size: 64 B, messages: 20}\n"
      "  - {operation: extended_put, test: latency, size: 64 B, messages: 20}\n";
  const std::string has = "hca.transport.extended=true";
  const RunResult result = run_workload(text, {has});
  // Three travel alone: their path is shown.
  CHECK(result.messages == 2 * 30 + 31 + 40 + 20 + 2 * 20 + 3);
  CHECK(counter(result, "hca1.responder_execute.reads") > 30 + 20);
  CHECK(counter(result, "hca1.responder_execute.writes") > 31);
  CHECK_THROWS_WITH(run_workload(text),
                    Catch::Contains("extended_get is an operation that hca0 does not have"));
}

TEST_CASE("each message is checked, also without a byte", "[workload]") {
  const RunResult result = run_workload(
      "  - {operation: write, sizes: [{size: 0 B}], messages: 30}\n"
      "  - {operation: write_immediate, sizes: [{size: 0 B}], messages: 31}\n"
      "  - {operation: send, sizes: [{size: 0 B}], messages: 32}\n"
      "  - {operation: read, sizes: [{size: 0 B}], messages: 33}\n"
      "  - {mix: {write: 2, write_immediate: 1, fetch_add: 1}, sizes: [{size: 0 B}, {size: 9 B}],"
      " messages: 34, direction: both}\n");
  CHECK(result.messages == 30 + 31 + 32 + 33 + 2 * 34);
  CHECK(result.bytes_checked < 2 * 34 * 9);
}

TEST_CASE("scatter/gather entries take their reads, and carry the same bytes", "[workload]") {
  const std::string text =
      "  - {operation: send, size: 1000 B, messages: 50, sges: 1}\n"
      "  - {operation: read, size: 1000 B, messages: 50, sges: 1}\n";
  const RunResult one = run_workload(text);
  const RunResult eight = run_workload(text, {"workload[0].sges=8", "workload[1].sges=8"});
  CHECK(one.messages == eight.messages);
  CHECK(one.bytes_checked == eight.bytes_checked);
  // 51 SENDs, the breakdown's too, are gathered from 8 places instead of one: 7 reads more for
  // each. READs are scattered by writes.
  const auto gathers = [](const RunResult& r) { return counter(r, "hca0.packetizer.gathers"); };
  CHECK(gathers(eight) - gathers(one) == 51 * 7);
}

TEST_CASE("ATOMICs of several threads count up the same numbers", "[workload][ATOM-2]") {
  const std::string device = GENERATE("device", "host");
  const auto rate = [&](const std::string& operation, const std::string& addresses) {
    const RunResult r = run_workload(
        "  - {" + operation + ", threads: 4, qps: 8, size: 8 B, messages: 3000, depth: 8, " +
            "atomic_addresses: " + addresses + "}\n",
        {"hca.responder_execute.atomics=8", "hca.responder_execute.atomic_by=" + device});
    const StreamResult& s = r.streams.at(0);
    CHECK(s.messages == 3000);
    CHECK(counter(r, "hca1.dma.atomics") == (device == "host" ? r.messages : 0));
    return double(s.messages) / double(s.picoseconds);
  };
  for (const char* operation : {"operation: fetch_add", "operation: compare_swap",
                                "mix: {fetch_add: 1, compare_swap: 2}"}) {
    const double one = rate(operation, "1"), many = rate(operation, "4096");
    // Eight at once, if no two are on one address.
    if (device == "device")
      CHECK(many / one > 6);
    else
      CHECK(many / one == Approx(1).epsilon(0.01));
  }
}

// What waits for an answer is kept with its own buffers, however many there are.
TEST_CASE("more than 16 READs of a queue pair are in flight, each with its own buffers",
          "[workload][T9-15]") {
  const std::string text =
      "  - {operation: read, size: 600 B, messages: 400, depth: 64, sges: 3}\n";
  const auto run = [&](const std::string& in_flight) {
    return run_workload(text, {"wire.latency=5 us", "hca.link_control.buffer=256 KiB",
                               "connection.max_rd_atomic=" + in_flight});
  };
  const RunResult few = run("16"), many = run("64");
  CHECK(many.messages >= 400);
  CHECK(many.bytes_checked == many.messages * 600);
  // A round trip takes more than 10 us, in which 64 READs of 600 bytes use a third of the link.
  const auto rate = [](const RunResult& r) {
    return r.sizes.at(0).bandwidth->million_messages_per_second();
  };
  CHECK(rate(many) > 2 * rate(few));
}

TEST_CASE("with fence READs follow each other one by one", "[workload][G30.1]") {
  const std::string text = "  - {operation: read, size: 64 B, messages: 100, fence: false}\n";
  const RunResult free = run_workload(text),
                  fenced = run_workload(text, {"workload[0].fence=true"});
  const RunResult alone =
      run_workload("  - {operation: read, test: latency, size: 64 B, messages: 100}\n");
  const auto each = [](const RunResult& r) {
    return double(r.sizes[0].bandwidth->picoseconds) / double(r.sizes[0].bandwidth->messages);
  };
  CHECK(each(fenced) > 4 * each(free));
  // A round trip, without what the program of the latency test takes from one to the next.
  CHECK(each(fenced) < p50(alone));
  CHECK(each(fenced) > p50(alone) / 3);
}

TEST_CASE("waiting for events costs an interrupt each way", "[workload][CQ-22]") {
  const std::string text =
      "  - {operation: send, test: latency, size: 64 B, messages: 50, solicited: true}\n";
  const RunResult poll = run_workload(text, {"host.wait=poll"});
  const RunResult two = run_workload(text, {"host.wait=event", "host.interrupt=2 us"});
  const RunResult five = run_workload(text, {"host.wait=event", "host.interrupt=5 us"});
  const RunResult by_entry = run_workload(text, {"workload[0].wait=event", "host.interrupt=2 us"});
  // Half a round trip has one interrupt in it; polling sees a completion after host.notice, 40 ns.
  CHECK(p50(five) - p50(two) == 3'000'000);
  CHECK(p50(two) - p50(poll) > 2'000'000 - 40'000);
  CHECK(p50(two) - p50(poll) < 2'000'000 + 500'000);
  CHECK(p50(by_entry) == p50(two));
  CHECK(counter(poll, "hca0.event.messages") == 0);
  CHECK(counter(two, "hca1.event.messages") >= 50);
  CHECK(counter(two, "hca1.event.messages") <= counter(two, "hca1.completion.cqes"));
}

TEST_CASE("a WRITE's last byte is looked for in memory, also where completions are events",
          "[workload]") {
  const RunResult result = run_workload(
      "  - {operation: write, test: latency, size: 64 B, messages: 20}\n"
      "  - {mix: {write: 1, send: 1, read: 1, fetch_add: 1}, size: 64 B, messages: 200, qps: 4,"
      " direction: both, together: true}\n"
      "  - {operation: write_immediate, size: 100 B, messages: 100, message_rate: 1000000,"
      " together: true}\n",
      {"host.wait=event"});
  CHECK(result.messages >= 2 * 20 + 400 + 100);
}

TEST_CASE("a queue that was armed for solicited events wakes the next workload too", "[workload]") {
  const RunResult result = run_workload(
      "  - {mix: {send: 1, write: 3}, size: 64 B, messages: 20, depth: 1, wait: event,"
      " solicited: true}\n"
      "  - {operation: send, size: 64 B, messages: 20, wait: event}\n",
      {"run.seed=3"});
  CHECK(result.messages >= 2 * 20);
}

// A core that builds a WQE in 15 ns, rings in 60 ns and takes one completion for 16 messages in 10:
// for n messages a doorbell 15 + 60 / n + 10 / 16 ns each, where nothing else limits.
TEST_CASE("messages of a list share one doorbell", "[workload]") {
  const auto each = [](u32 list) {
    const RunResult result = run_workload(
        "  - {operation: write, size: 64 B, depth: 256, signal_every: 16, messages: 20000}\n",
        {"host.post_send=15 ns", "host.doorbell=60 ns", "host.completion=10 ns",
         "workload[0].list=" + std::to_string(list)});
    // Beside those of the CQ and of commands.
    CHECK(counter(result, "hca0.doorbell.doorbells") < 20000 / list + 200);
    const auto& stream = result.sizes.at(0).bandwidth.value();
    return double(stream.picoseconds) / double(stream.messages) / 1000;
  };
  for (const u32 list : {1u, 2u, 4u})
    CHECK(each(list) == Approx(15 + 60.0 / list + 10.0 / 16).epsilon(0.01));
}

TEST_CASE("messages without a byte in an open loop end", "[workload]") {
  const RunResult result = run_workload(
      "  - {operation: write, sizes: [{size: 0 B}, {size: 1 KiB}], messages: 500, rate: 200 Gb/s,"
      " queue: 2}\n",
      {});
  CHECK(result.messages == 500);
}

TEST_CASE("sizes reach 2 GiB, and no further", "[scenario]") {
  const auto load = [](const std::string& size) {
    return parse_scenario("workload: [{operation: write, size: " + size + "}]\n", "t.yaml");
  };
  CHECK(load("2 GiB").workload[0].to == u64{1} << 31);
  CHECK_THROWS_AS(load("2147483649 B"), ScenarioError);
  CHECK(traffic_of(load("2 GiB").workload[0], 1, 1u << 31, 0).depth == 1);
}

TEST_CASE("a given depth is never cut", "[scenario]") {
  const auto depth = [](const std::string& keys, u32 bytes) {
    const Scenario s = parse_scenario(
        "workload: [{operation: write, size: " + std::to_string(bytes) + " B" + keys + "}]\n", "t");
    return traffic_of(s.workload[0], s.qps_of(s.workload[0]), bytes, 0);
  };
  CHECK(depth("", 64).depth == 128);
  CHECK(depth("", 1 << 20).depth == 16);  // 16 MiB
  CHECK(depth(", depth: 128", 1 << 20).depth == 128);
  CHECK(depth(", list: 64", 1 << 20).depth == 64);
  CHECK(depth(", signal_every: 64", 1 << 20).depth == 128);
  const Traffic given = depth(", depth: 16, list: 16, signal_every: 16", 64);
  CHECK(given.depth == 16);
  CHECK(given.list == 16);
  CHECK(given.signal_every == 16);
}
}  // namespace hca::testbench
