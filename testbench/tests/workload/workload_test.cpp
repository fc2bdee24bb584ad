// SPDX-License-Identifier: Apache-2.0
// Workloads of all operations, and that a wrong byte or value fails them.
#include <catch2/catch.hpp>

#include "testbench/run/run.h"
#include "testbench/tests/run_text.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

// Where the number is that the ATOMICs of queue pair 0 change, in bytes: CmpSwaps have one of their
// own.
u64 number_of(Operation operation) {
  return operation == Operation::CompareSwap ? kAtomicNumberBytes : 0;
}

const char* const kFramings[] = {"ib_local", "rocev1", "rocev2_ip6"};
}  // namespace

TEST_CASE("every operation arrives whole in both tests", "[workload]") {
  const std::string operation =
      GENERATE("read", "write_immediate", "send_immediate", "compare_swap", "fetch_add");
  const std::string framing = kFramings[GENERATE(0, 1, 2)];
  INFO(operation << " " << framing);
  const bool atomic = operation == "compare_swap" || operation == "fetch_add";
  const std::string sizes = atomic ? "" : ", from: 1 B, to: 8 KiB";
  const RunResult result = run_text(
      "connection: {framing: " + framing + "}\nworkload:\n  - {operation: " + operation + sizes +
      ", messages: 40}\n  - {operation: " + operation + sizes + ", test: latency, messages: 10}\n");
  CHECK(all(result.failures) == "");
  // 14 sizes or one; a ping-pong is checked at both ends; a message each for the breakdowns.
  const bool pingpong = operation == "write_immediate" || operation == "send_immediate";
  const u64 count = atomic ? 1 : 14;
  CHECK(result.messages == count * 40 + count * 10 * (pingpong ? 2 : 1) + (atomic ? 1 : 2));
  for (const Breakdown& b : result.breakdowns) {
    CHECK(b.sum() == b.whole);
    CHECK(b.parts.size() == (pingpong ? 24u : 25u));
  }
}

TEST_CASE("unreliable connections carry SEND and WRITE whole", "[workload][G14.1]") {
  const std::string operation = GENERATE("write", "send", "write_immediate", "send_immediate");
  INFO(operation);
  const RunResult result =
      run_text("connection: {service: uc, path_mtu: 256}\nworkload:\n  - {operation: " + operation +
               ", from: 1 B, to: 8 KiB, messages: 40, depth: 16}\n  - {operation: " + operation +
               ", from: 1 B, to: 8 KiB, test: latency, messages: 10}\n");
  CHECK(all(result.failures) == "");
  CHECK(result.messages >= 14 * 40 + 14 * 10 * 2);
}

// Initiators of both ends, whose requests name one or three SRQs, over wires that lose.
TEST_CASE("XRC carries every operation whole, both ways", "[workload][G24.1][G24.4]") {
  const std::string operation = GENERATE("write", "send", "read", "write_immediate",
                                         "send_immediate", "compare_swap", "fetch_add");
  const std::string srqs = GENERATE("1", "3");
  INFO(operation << ", SRQs " << srqs);
  const bool atomic = operation == "compare_swap" || operation == "fetch_add";
  const std::string sizes = atomic ? "" : ", from: 1 B, to: 8 KiB";
  const RunResult result = run_text(
      "hca.transport.xrc: true\nconnection: {service: xrc, path_mtu: 256, qps: 4, timeout: 6, "
      "xrc_srqs: " +
      srqs +
      "}\n"
      "workload:\n  - {operation: " +
      operation + sizes +
      ", messages: 40, depth: 4, direction: both}\n  - {operation: " + operation + sizes +
      ", test: latency, messages: 10}\nfaults:\n  - {action: drop, from: 0, per_million: 20000}\n"
      "  - {action: drop, from: 1, per_million: 20000}\n");
  CHECK(all(result.failures) == "");
  const bool pingpong = operation == "send" || operation == "write" ||
                        operation == "write_immediate" || operation == "send_immediate";
  const u64 count = atomic ? 1 : 14;
  CHECK(result.messages >= count * (2 * 40 + 10 * (pingpong ? 2 : 1)));
}

TEST_CASE("queue pairs of RD share an EE context", "[workload][G13.1]") {
  const std::string operation = GENERATE("write", "send", "read", "fetch_add");
  INFO(operation);
  const std::string size = operation == "fetch_add" ? "" : ", from: 1 B, to: 8 KiB";
  const RunResult result = run_text(
      "connection: {service: rd, qps: 4, path_mtu: 256}\nhca:\n  transport: {rd: true}\n"
      "workload:\n  - {operation: " +
      operation + size +
      ", messages: 40, depth: 4}\nfaults:\n  - {action: drop, from: 0, per_million: 10000}\n");
  CHECK(all(result.failures) == "");
  CHECK(result.messages == (size.empty() ? 1 : 14) * 40);
  CHECK(result.lost == 0);
}

TEST_CASE("datagrams arrive whole, and what the wire loses is counted", "[workload][SVC-9]") {
  const std::string operation = GENERATE("send", "send_immediate");
  INFO(operation);
  const RunResult good =
      run_text("connection: {service: ud, path_mtu: 256}\nworkload:\n  - {operation: " + operation +
               ", from: 1 B, to: 256 B, messages: 40, depth: 16}\n  - {operation: " + operation +
               ", from: 1 B, to: 256 B, test: latency, messages: 10}\n");
  CHECK(all(good.failures) == "");
  CHECK(good.messages == 9 * 40 + 9 * 10 * 2);
  CHECK(good.lost == 0);
  // One frame a message: of the 3 that are lost, one has a wrong ICRC.
  const RunResult lossy = run_text(
      "connection: {service: ud, path_mtu: 256}\nworkload:\n  - {operation: " + operation +
      ", size: 200 B, messages: 100, depth: 16}\nfaults:\n  - {action: drop, from: 0, "
      "occurrence: 7}\n  - {action: drop, from: 0, occurrence: 100}\n  - {action: corrupt, "
      "from: 0, occurrence: 40}\n  - {action: reorder, from: 0, occurrence: 60}\n");
  CHECK(all(lossy.failures) == "");
  CHECK(lossy.messages == 97);
  CHECK(lossy.lost == 3);
}

TEST_CASE("an unreliable connection loses whole messages, counts them and goes on",
          "[workload][SVC-9]") {
  const std::string operation = GENERATE("send", "write", "send_immediate", "write_immediate");
  const std::string srq = GENERATE("false", "true");
  INFO(operation << ", srq " << srq);
  // Messages of 200 B have one frame, those of 2 KiB eight; all go to the same queue pair. Of the
  // first 100 frames three are lost; frame 60 comes after frame 61, and UC takes both. Of the
  // others frame 10 of the first 16 is lost, a Middle of the second message.
  const RunResult result =
      run_text("connection: {service: uc, path_mtu: 256, srq: " + srq +
               "}\nworkload:\n  - {operation: " + operation +
               ", size: 200 B, messages: 100, depth: 4}\n  - {operation: " + operation +
               ", size: 2 KiB, messages: 50, depth: 4}\nfaults:\n  - {action: drop, from: 0, "
               "occurrence: 7}\n"
               "  - {action: drop, from: 0, occurrence: 100}\n  - {action: corrupt, from: 0, "
               "occurrence: 40}\n"
               "  - {action: reorder, from: 0, occurrence: 60}\n  - {action: drop, from: 0, "
               "occurrence: 110}\n");
  CHECK(all(result.failures) == "");
  REQUIRE(result.sizes.size() == 2);
  CHECK(result.sizes[0].bandwidth->lost_on_the_way == 3);
  CHECK(result.sizes[1].bandwidth->lost_on_the_way == 1);
  CHECK(result.lost == 4);
  CHECK(result.duplicates == 0);
  CHECK(result.messages == 97 + 49);
}

TEST_CASE(
    "a message of an unreliable service that comes twice is counted, the next sizes are whole",
    "[workload][SVC-9]") {
  const std::string service = GENERATE("uc", "ud");
  const std::string srq = GENERATE("false", "true");
  INFO(service << ", srq " << srq);
  // Four sizes of 50 frames each. Frame 10 comes twice, frame 20 is lost, frame 50 is the last of
  // its stream and follows nothing.
  const RunResult result = run_text("connection: {service: " + service + ", srq: " + srq +
                                    "}\nworkload:\n  - {operation: send, from: 64 B, to: 512 B, "
                                    "messages: 50, depth: 4}\nfaults:\n"
                                    "  - {action: duplicate, from: 0, occurrence: 10}\n  - "
                                    "{action: drop, from: 0, occurrence: 20}\n"
                                    "  - {action: reorder, from: 0, occurrence: 50}\n");
  CHECK(all(result.failures) == "");
  REQUIRE(result.sizes.size() == 4);
  CHECK(result.sizes[0].bandwidth->lost_on_the_way == 1);
  CHECK(result.sizes[0].bandwidth->duplicates == 1);
  CHECK(result.lost == 1);
  CHECK(result.duplicates == 1);
  CHECK(result.messages == 199);
}

// A byte of one has the value of another's of its slot once in 256 times.
TEST_CASE("messages of one byte, of which many are lost, are told apart by immediate data",
          "[workload]") {
  const RunResult result = run_text(
      "connection: {service: uc, qps: 16}\n"
      "workload:\n"
      "  - {mix: {write: 1, write_immediate: 1, send: 3}, size: 1 B, messages: 5000, depth: 2}\n"
      "faults: [{action: drop, from: 0, per_million: 200000}]\n");
  CHECK(all(result.failures) == "");
  CHECK(result.lost > 500);
}

TEST_CASE("a mix with weighted sizes on several queue pairs, both ways, is checked whole",
          "[workload]") {
  const RunResult result = run_text(
      "workload:\n"
      "  - {mix: {write: 30, send: 20, read: 30, write_immediate: 10, send_immediate: 10,\n"
      "     fetch_add: 5, compare_swap: 5},\n"
      "     sizes: [{size: 64 B, weight: 3}, {size: 3000 B}], qps: 5, messages: 1001,\n"
      "     direction: both, depth: 16, signal_every: 4}\n"
      "  - {operation: send, size: 100 B, messages: 100}\n");  // on what the mix has left
  CHECK(all(result.failures) == "");
  CHECK(result.messages == 2 * 1001 + 100 + 1);
  REQUIRE(result.streams.size() == 2);
  for (const StreamResult& s : result.streams) {
    CHECK(s.messages == 1001);
    // A quarter of the messages is large; the mean is 798 B, with a deviation of 40 B.
    CHECK(double(s.bytes) / 1001 == Approx(798).margin(160));
  }
}

TEST_CASE("weights choose operations and sizes", "[workload]") {
  Traffic t;
  t.mix = {{Operation::Write, 70}, {Operation::Read, 30}};
  t.sizes = {{64, 1}, {4096, 3}};
  u64 reads = 0, large = 0;
  for (u64 k = 0; k < 10'000; ++k) {
    reads += t.message(0, k).operation == Operation::Read;
    large += t.message(0, k).bytes == 4096;
  }
  // Standard deviations: 46 and 43.
  CHECK(double(reads) == Approx(3000).margin(200));
  CHECK(double(large) == Approx(7500).margin(200));
  t.seed = 2;
  u64 same = 0;
  for (u64 k = 0; k < 1000; ++k) same += t.message(0, k).operation == Operation::Read;
  CHECK(double(same) == Approx(300).margin(60));
}

TEST_CASE("workloads of a group run at the same time", "[workload]") {
  const std::string one = "size: 64 KiB, messages: 200, depth: 8";
  const RunResult alone = run_text("workload: [{operation: write, " + one + "}]\n");
  const RunResult both =
      run_text("workload:\n  - {operation: write, " + one +
               ", together: true}\n  - {operation: send, " + one + ", together: true}\n");
  CHECK(all(both.failures) == "");
  REQUIRE(both.streams.size() == 2);
  // They share the link.
  for (const StreamResult& s : both.streams)
    CHECK(s.gigabits_per_second() < 0.6 * alone.sizes[0].bandwidth->gigabits_per_second(65536));
}

TEST_CASE("a post costs what host.post_send says, a poll what host.poll says", "[workload]") {
  const auto each = [](const std::string& knobs) {
    const RunResult result =
        run_text(knobs + "workload: [{operation: write, size: 8 B, depth: 1, messages: 100}]\n");
    return double(result.sizes.at(0).bandwidth->picoseconds) / 100;
  };
  const double base = each("");
  // The post is on the way of every message; the last poll's cost is not in the time.
  CHECK(each("host.poll: 1 us\n") - base == Approx(1e6).epsilon(0.02));
  CHECK(each("host.notice: 1040 ns\n") - base == Approx(1e6).epsilon(0.02));
}

TEST_CASE_METHOD(FreshKernel, "a wrong byte of a READ or a wrong value of an ATOMIC fails the run",
                 "[workload][integrity]") {
  const Operation operation =
      GENERATE(Operation::Read, Operation::FetchAdd, Operation::CompareSwap);
  const Scenario scenario =
      parse_scenario("workload: [{operation: read, size: 256 B, messages: 8}]\n", "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  Traffic traffic = traffic_of(scenario.workload[0], 1, 256, 1);
  traffic.operation = operation, traffic.depth = 1;
  StreamSender client(testbed.end(0), traffic);
  testbed.node(0).run(&client);
  const Hca& hca = testbed.node(0).hca;
  sc_core::sc_start((double(hca.quantum()) + 10) * hca.period());  // posted, not yet executed
  // One bit of what the server holds changes.
  const Layout layout(traffic);
  const u64 offset =
      operation == Operation::Read ? 100 : layout.numbers() + number_of(operation) + 1;
  const u64 at = testbed.end(1).fetch_mr.addr + offset;
  u8 byte;
  testbed.node(1).memory.read(at, &byte, 1);
  byte ^= 0x10;
  testbed.node(1).memory.write(at, &byte, 1);
  sc_core::sc_start(50, sc_core::SC_US);
  if (!client.failed()) client.check_end();
  CHECK(client.failed());
  const std::string failures = all(client.checker.failures());
  if (operation == Operation::Read)
    CHECK_THAT(failures, Contains("client, READ: message 0 of 256 bytes: byte 100 is"));
  else if (operation == Operation::FetchAdd)
    CHECK_THAT(failures, Contains("ATOMICs that counted up number 0 made") ||
                             Contains("below its start") || Contains("beyond the end"));
  else
    CHECK_THAT(failures, Contains("CMP_SWAP: message 0 returned"));
  testbed.node(0).run(nullptr);
}

TEST_CASE_METHOD(FreshKernel, "an ATOMIC whose effect is lost fails the run",
                 "[workload][integrity]") {
  const Operation operation = GENERATE(Operation::FetchAdd, Operation::CompareSwap);
  const Scenario scenario =
      parse_scenario("workload: [{operation: fetch_add, messages: 20}]\n", "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  Traffic traffic = traffic_of(scenario.workload[0], 1, 8, 1);
  traffic.operation = operation;
  StreamSender client(testbed.end(0), traffic);
  testbed.node(0).run(&client);
  sc_core::sc_start(100, sc_core::SC_US);
  REQUIRE(client.finished());
  client.check_end();
  REQUIRE_FALSE(client.failed());
  // The last write did not happen.
  const Layout layout(traffic);
  const u64 at = testbed.end(1).fetch_mr.addr + layout.numbers() + number_of(operation);
  std::array<u8, 8> bytes;
  testbed.node(1).memory.read(at, bytes.data(), 8);
  proto::store_le8(bytes.data(), proto::load_le8(bytes.data()) - 1);
  testbed.node(1).memory.write(at, bytes);
  client.check_end();
  CHECK_THAT(all(client.checker.failures()),
             Contains("20 ATOMICs that counted up number") && Contains(" made "));
  testbed.node(0).run(nullptr);
}

// A message of the same queue pair that does not belong to the stream.
TEST_CASE_METHOD(FreshKernel, "a completion that nothing explains fails the run",
                 "[workload][integrity]") {
  const Scenario scenario =
      parse_scenario("workload: [{operation: write, size: 64 B, messages: 20}]\n", "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  const Traffic traffic = traffic_of(scenario.workload[0], 1, 64, 1);
  StreamSender client(testbed.end(0), traffic);
  testbed.node(0).run(&client);
  sc_core::sc_start(100, sc_core::SC_US);
  REQUIRE(client.finished());
  const SgeList sge{testbed.end(0).send_mr.addr, 64, testbed.end(0).send_mr.lkey};
  SendWr extra =
      work_request(testbed.end(0), {*testbed.end(0).peer, traffic}, traffic, 0, 19, {&sge, 1});
  extra.wr_id = 77;
  REQUIRE(testbed.end(0).verbs->post_send(*testbed.end(0).qp, extra) == Error::None);
  const bool runs = GENERATE(true, false);
  if (!runs) testbed.node(0).run(nullptr);
  sc_core::sc_start(100, sc_core::SC_US);
  client.check_end();
  CHECK_THAT(all(client.checker.failures()),
             Contains(runs ? "message 77 completes, expected is message 19"
                           : "a completion too many: work request 77"));
  testbed.node(0).run(nullptr);
}

TEST_CASE("messages of no bytes go with the others of a stream", "[workload]") {
  const RunResult result = run_text(
      "workload:\n  - {mix: {write: 1, write_immediate: 1, send: 1, read: 1},"
      " sizes: [{size: 0 B}, {size: 64 B}], messages: 400, qps: 3}\n");
  CHECK(all(result.failures) == "");
  REQUIRE(result.streams.size() == 1);
  CHECK(result.streams[0].messages == 400);
  CHECK(result.streams[0].bytes == result.bytes_checked);  // those of no bytes add nothing
  CHECK(result.streams[0].bytes % 64 == 0);
}

TEST_CASE("READs and ATOMICs survive a lossy wire", "[workload]") {
  const std::string operation = GENERATE("read", "fetch_add", "compare_swap");
  const RunResult result =
      run_text("connection: {timeout: 8}\nworkload:\n  - {operation: " + operation +
               ", size: 8 B, messages: 1000, qps: 3}\nfaults:\n"
               "  - {action: drop, from: 0, per_million: 10000}\n"
               "  - {action: drop, from: 1, per_million: 10000}\n"
               "  - {action: duplicate, from: 0, per_million: 10000}\n");
  CHECK(all(result.failures) == "");
  CHECK(result.messages == 1000);
  CHECK(result.faults.size() > 3);
}

TEST_CASE("order of ticks and quantum change no event of READs, ATOMICs and open loops",
          "[workload]") {
  const auto hash = [&](const std::string& run) {
    const RunResult result = run_text(
        "run: {hash: true" + run +
        "}\nwire: {latency: 100 ns}\nworkload:\n"
        "  - {mix: {write: 40, read: 40, send: 20}, size: 2 KiB, qps: 3, messages: 90,"
        " direction: both}\n"
        "  - {operation: send, size: 512 B, rate: 30 Gb/s, arrivals: exponential, messages: 90}\n"
        "  - {operation: fetch_add, qps: 2, qp_order: random, messages: 60}\n");
    CHECK(all(result.failures) == "");
    return result.hash.value();
  };
  const u64 plain = hash("");
  CHECK(hash(", quantum: 1 cycle") == plain);
  CHECK(hash(", quantum: 7 cycles") == plain);
  CHECK(hash(", every_cycle: true") == plain);
  for (int seed = 1; seed <= 3; ++seed)
    CHECK(hash(", shuffle_seed: " + std::to_string(seed)) == plain);
  CHECK(hash(", seed: 2") != plain);
}
}  // namespace hca::testbench
