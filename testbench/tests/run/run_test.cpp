// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/run.h"

#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/proto/wire/packet.h"
#include "testbench/report/report.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/tests/run_text.h"
#include "testbench/workload/workload_pingpong.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

u64 total(const BandwidthResult& b) { return b.picoseconds; }
}  // namespace

TEST_CASE("every byte arrives in each framing, with each operation and test", "[run]") {
  const std::string framing =
      GENERATE("ib_local", "ib_global", "rocev1", "rocev2_ip4", "rocev2_ip6");
  INFO(framing);
  const RunResult result = run_text("connection: {framing: " + framing +
                                    "}\n"
                                    "workload:\n"
                                    "  - {operation: write, from: 1 B, to: 8 KiB, messages: 40}\n"
                                    "  - {operation: send, from: 1 B, to: 8 KiB, messages: 40}\n"
                                    "  - {operation: write, test: latency, from: 3 B, to: 3 KiB, "
                                    "messages: 10, inline_below: 100 B, push: true}\n"
                                    "  - {operation: send, test: latency, from: 3 B, to: 3 KiB, "
                                    "messages: 10, inline_below: 100 B}\n");
  CHECK(all(result.failures) == "");
  // 14 sizes of 40 messages twice; 11 sizes of 10 both ways twice, of which all that arrive are
  // checked; one message each for the breakdowns.
  CHECK(result.messages == 2 * 14 * 40 + 2 * 11 * 10 * 2 + 4);
}

TEST_CASE("a percentile with too few samples stays blank", "[run]") {
  const RunResult few = run_text(
      "workload:\n  - {operation: write, test: latency, from: 8 B, to: 8 B, messages: 20}\n");
  REQUIRE(few.sizes.size() == 1);
  REQUIRE(few.sizes[0].latency);
  CHECK(few.sizes[0].latency->picoseconds.count() == 19);
  CHECK_FALSE(few.sizes[0].latency->picoseconds.percentile(50));
}

TEST_CASE("the parts of a message's time add up to the measured whole", "[run]") {
  const RunResult result = run_text(
      "workload:\n"
      "  - {operation: write, from: 2 B, to: 64 KiB, messages: 1}\n"
      "  - {operation: send, from: 2 B, to: 64 KiB, messages: 1}\n");
  CHECK(all(result.failures) == "");
  REQUIRE(result.breakdowns.size() == 4);
  for (const Breakdown& b : result.breakdowns) {
    CHECK(b.sum() == b.whole);
    CHECK(b.parts.size() == 24);
    CHECK(b.whole > 100);
  }
}

// What a knob adds to the whole: each stage is passed once on the way there, port and icrc_unit
// once more by the ACK at each end.
TEST_CASE("a cycle more in a block is a cycle more in the whole", "[run]") {
  const std::string one = "workload:\n  - {operation: send, from: 64 B, to: 64 B, messages: 1}\n";
  const u64 base = run_text(one).breakdowns.at(0).whole;
  const std::pair<const char*, u64> changes[] = {
      {"hca.doorbell.latency: 5 cycles\n", 1},        {"hca.qp_scheduler.latency: 4 cycles\n", 1},
      {"hca.requester.latency: 5 cycles\n", 1},       {"hca.packetizer.latency: 5 cycles\n", 1},
      {"hca.responder_reply.latency: 4 cycles\n", 1}, {"hca.response_check.latency: 5 cycles\n", 1},
      {"hca.completion.latency: 4 cycles\n", 1},      {"hca.port.latency: 11 cycles\n", 4},
  };
  for (const auto& [knob, more] : changes) {
    INFO(knob);
    CHECK(run_text(knob + one).breakdowns.at(0).whole == base + more);
  }
}

TEST_CASE("host and PCIe times are in the latency", "[run]") {
  // 2.5 ns a cycle: 10 ns are 4 cycles.
  const std::string one = "workload:\n  - {operation: write, from: 64 B, to: 64 B, messages: 1}\n";
  const u64 base = run_text(one).breakdowns.at(0).whole;
  CHECK(run_text("host.notice: 50 ns\n" + one).breakdowns.at(0).whole == base + 4);
  // The doorbell, there and back for WQE and payload, the completion.
  CHECK(run_text("pcie.latency: 110 ns\n" + one).breakdowns.at(0).whole == base + 6 * 4);
  CHECK(run_text("pcie.memory_latency: 100 ns\n" + one).breakdowns.at(0).whole == base + 2 * 4);
  CHECK(run_text("wire.latency: 15 ns\n" + one).breakdowns.at(0).whole == base + 2 * 4);
}

TEST_CASE("the report says which DMA reads a post means, and they are in those parts", "[run]") {
  const auto cycles = [](const Breakdown& b, std::string_view part) {
    for (const TimePart& p : b.parts)
      if (p.name == part) return p.cycles;
    return u64{0};
  };
  // Memory that answers 10 ns, so 4 cycles, later: how much later each part is.
  struct Post {
    const char* knobs;
    u64 wqe_fetch, packetizer;
  };
  for (const Post& post :
       {Post{"", 4, 4}, Post{", inline_below: 128 B", 4, 0}, Post{", push: true", 0, 4},
        Post{", inline_below: 128 B, push: true", 0, 0}}) {
    INFO(post.knobs);
    const std::string one = "workload: [{operation: write, from: 64 B, to: 64 B, messages: 1" +
                            std::string(post.knobs) + "}]\n";
    const Breakdown base = run_text(one).breakdowns.at(0);
    const Breakdown later = run_text("pcie.memory_latency: 100 ns\n" + one).breakdowns.at(0);
    CHECK(cycles(later, "wqe_fetch") == cycles(base, "wqe_fetch") + post.wqe_fetch);
    CHECK(cycles(later, "packetizer") == cycles(base, "packetizer") + post.packetizer);
    CHECK(later.whole == base.whole + post.wqe_fetch + post.packetizer);
  }
  const RunResult result = run_text("workload: [{from: 64 B, to: 64 B, messages: 1}]\n");
  CHECK_THAT(text_of(result, Scenario{}),
             Contains("\nThe parts add up to the measured whole. A post without inline data means "
                      "two reads by DMA: its WQE in wqe_fetch"));
}

TEST_CASE("a wire of a second works, and its latency is measured", "[run]") {
  // Two queue pairs are connected by commands whose answers come after the wire's latency.
  const char* latency = GENERATE("100 ms", "1 s");
  const RunResult result = run_text(
      "wire: {latency: " + std::string(latency) + "}\nconnection: {timeout: 24}\n" +
      "hca: {link_control: {mode: lossy}}\n" +
      "workload: [{operation: write, test: latency, from: 64 B, to: 64 B, messages: 11}]\n");
  CHECK(all(result.failures) == "");
  REQUIRE(result.sizes.at(0).latency);
  // 10 samples; half a round trip is the wire and some microseconds at most.
  const u64 wire = std::string(latency) == "1 s" ? 1'000'000'000'000 : 100'000'000'000;
  const u64 half = result.sizes[0].latency->picoseconds.max().value();
  CHECK(half > wire);
  CHECK(half < wire + 5'000'000);
}

TEST_CASE("a long stream runs at the rate of the link", "[run]") {
  const RunResult result =
      run_text("workload:\n  - {operation: write, from: 64 KiB, to: 64 KiB, messages: 400}\n");
  // 1024 of 1024 + 14 + 20 + 8 + 12 + 4 + 24 bytes; the first packet of each message has 16 more.
  const double bytes_on_wire = 65536 + 64 * (14 + 20 + 8 + 12 + 4 + 24) + 16;
  REQUIRE(result.sizes.at(0).bandwidth);
  CHECK(result.sizes[0].bandwidth->gigabits_per_second(65536) ==
        Approx(100 * 65536 / bytes_on_wire).epsilon(0.002));
}

TEST_CASE("the same seed gives the same run, and a tap or probe changes nothing", "[run]") {
  const std::string text =
      "workload:\n  - {operation: send, from: 64 B, to: 16 KiB, messages: 50}\n"
      "faults:\n  - {action: drop, occurrence: 0, per_million: 20000}\n";
  const auto times = [&](u64 seed) {
    std::vector<u64> picoseconds;
    for (const SizeResult& r : run_text("run.seed: " + std::to_string(seed) + "\n" + text).sizes)
      picoseconds.push_back(total(*r.bandwidth));
    return picoseconds;
  };
  CHECK(times(3) == times(3));
  CHECK(times(3) != times(4));
}

TEST_CASE("order of ticks, sleeping and quantum change no event of a run", "[run]") {
  const std::string stalls = GENERATE("0", "20"), srq = GENERATE("false", "true");
  const auto hash = [&](const std::string& run) {
    const RunResult result = run_text(
        "run: {hash: true, stall_per_256: " + stalls + run + "}\nconnection: {qps: 3, srq: " + srq +
        "}\n"
        "wire: {latency: 100 ns}\n"
        "workload:\n"
        "  - {operation: write, from: 64 B, to: 4 KiB, messages: 20, push: true}\n"
        "  - {operation: send, from: 64 B, to: 4 KiB, messages: 20}\n"
        "  - {operation: send, test: latency, from: 64 B, to: 1 KiB, messages: 5}\n"
        "faults:\n  - {action: drop, occurrence: 0, per_million: 10000}\n");
    CHECK(all(result.failures) == "");
    return result.hash.value();
  };
  const u64 plain = hash("");
  CHECK(hash("") == plain);
  CHECK(hash(", quantum: 1 cycle") == plain);
  CHECK(hash(", quantum: 7 cycles") == plain);
  CHECK(hash(", every_cycle: true") == plain);
  for (int seed = 1; seed <= 10; ++seed)
    CHECK(hash(", shuffle_seed: " + std::to_string(seed)) == plain);
  CHECK(hash(", seed: 2") != plain);  // other faults
}

TEST_CASE("chips that know when the simulation pauses do the same up to there", "[run]") {
  const Scenario scenario = parse_scenario(
      "wire: {latency: 50 ns}\n"
      "workload: [{operation: write, from: 3 KiB, to: 3 KiB, messages: 200}]\n",
      "test.yaml");
  struct AtPause {
    u64 digest;
    std::array<Cycle, 2> next;  // cycle in which a block is due
    u64 completed, activations;
  };
  // Pauses in the middle of a window, at the end of one, and when all is over.
  const auto run = [&](void (*pass)(const sc_core::sc_time&)) {
    FreshKernel kernel;
    Testbed testbed(scenario);
    testbed.connect();
    std::array<engine::DigestSink, 2> digests;
    for (unsigned i = 0; i < testbed.nodes(); ++i) testbed.node(i).hca.probes().attach(digests[i]);
    const Traffic traffic = traffic_of(scenario.workload[0], 1, 3072, 1);
    StreamReceiver server(testbed.end(1), traffic);
    StreamSender client(testbed.end(0), traffic);
    pass({2, sc_core::SC_US});
    testbed.node(1).run(&server), testbed.node(0).run(&client);
    std::vector<AtPause> seen;
    const sc_core::sc_time window =
        double(testbed.node(0).hca.quantum()) * testbed.node(0).hca.period();
    for (const sc_core::sc_time& each :
         {sc_core::sc_time(9, sc_core::SC_US), 100 * window, 7.3 * window, window,
          sc_core::sc_time(90, sc_core::SC_US)}) {
      pass(each);
      seen.push_back({digests[0].value() ^ std::rotl(digests[1].value(), 1),
                      {testbed.node(0).hca.domain().next(), testbed.node(1).hca.domain().next()},
                      client.completed(),
                      testbed.node(0).hca.activations()});
    }
    testbed.node(0).run(nullptr), testbed.node(1).run(nullptr);
    return seen;
  };
  const auto windows = run([](const sc_core::sc_time& t) { sc_core::sc_start(t); });
  const auto told = run([](const sc_core::sc_time& t) { run_for(t); });
  const auto quiet = run([](const sc_core::sc_time& t) { run_quiet_for(t); });
  for (std::size_t i = 0; i < windows.size(); ++i)
    for (const AtPause& seen : {told[i], quiet[i]}) {
      INFO("pause " << i);
      CHECK(seen.digest == windows[i].digest);
      CHECK(seen.next == windows[i].next);
      CHECK(seen.completed == windows[i].completed);
    }
  CHECK(windows.back().completed == 200);
  CHECK(windows[1].completed < 200);
  CHECK(told[1].activations < windows[1].activations * 3 / 4);
}

TEST_CASE("lost, doubled, late and damaged frames cost time but no byte", "[run][G12.1]") {
  const RunResult result = run_text(
      "connection: {timeout: 8}\n"  // 1 ms
      "workload:\n"
      "  - {operation: write, from: 512 B, to: 8 KiB, messages: 60}\n"
      "  - {operation: send, from: 512 B, to: 8 KiB, messages: 60}\n"
      "faults:\n"
      "  - {action: drop, from: 0, psn: 40}\n"
      "  - {action: duplicate, from: 0, psn: 80}\n"
      "  - {action: corrupt, from: 0, psn: 120}\n"
      "  - {action: reorder, from: 0, psn: 160}\n"
      "  - {action: delay, from: 0, psn: 200, delay: 5 us}\n"
      "  - {action: mark_ecn, from: 0, psn: 240}\n"
      "  - {action: drop, from: 1, psn: 280}\n"
      "  - {action: corrupt, from: 1, psn: 320}\n"
      "  - {action: drop, occurrence: 0, per_million: 5000}\n");
  CHECK(all(result.failures) == "");
  CHECK(result.messages == 2 * 5 * 60);
  CHECK(result.faults.size() > 8);
}

TEST_CASE("a fault that never happens is told", "[run]") {
  const std::string text =
      "workload: [{operation: write, size: 64 B, messages: 5, test: latency}]\n"
      "faults:\n"
      "  - {action: delay, delay: 1 us, psn: 16}\n"
      "  - {action: drop, qpn: 999}\n"
      "  - {action: duplicate, psn: 17, occurrence: 3}\n";  // once from each end
  const Scenario scenario = parse_scenario(text, "t.yaml");
  const RunResult result = run_text(text);
  CHECK(all(result.failures) == "");
  const std::string report = text_of(result, scenario);
  CHECK_THAT(report, Contains("faults[1] (drop) never happened: 0 frames matched\n") &&
                         Contains("faults[2] (duplicate) never happened: 1 frame matched\n") &&
                         !Contains("faults[0] (delay) never"));
  const nlohmann::json unused = json_of(result, scenario)["unused_faults"];
  CHECK(unused ==
        nlohmann::json::parse(R"([{"index": 1, "matched": 0}, {"index": 2, "matched": 1}])"));
}

TEST_CASE("a dead wire ends with the status of the exhausted retries", "[run]") {
  const RunResult result = run_text(
      "connection: {timeout: 4, retry_count: 2}\n"
      "workload:\n  - {operation: write, from: 64 B, to: 64 B, messages: 5}\n"
      "faults:\n  - {action: drop, from: 0, occurrence: 0, per_million: 1000000}\n");
  CHECK_THAT(all(result.failures), Contains("WRITE bandwidth, 64 B") &&
                                       Contains("message 0: completed with status RETRY_EXC_ERR"));
}

TEST_CASE("a completion that comes while its queue is being armed wakes the host", "[run]") {
  // The host looks once more when it has rung the doorbell, which is on its way twice as long.
  const RunResult result = run_text(
      "connection: {qps: 1, timeout: 6, min_rnr_timer: 1}\n"
      "workload:\n  - {mix: {fetch_add: 1}, size: 64 B, messages: 99, depth: 12, wait: event, "
      "direction: forward}\n");
  CHECK(all(result.failures) == "");
  CHECK(result.messages == 99);
}

TEST_CASE("a run that stands still names what waits", "[run]") {
  // Without a timer a lost packet is waited for without end.
  const RunResult result = run_text(
      "connection: {timeout: 0}\n"
      "workload:\n  - {operation: write, from: 64 B, to: 64 B, messages: 5}\n"
      "faults:\n  - {action: drop, from: 0, occurrence: 0, per_million: 1000000}\n");
  CHECK_THAT(all(result.failures),
             Contains("stands still after 0 messages") &&
                 Contains("chip 0: QP 0x10 in RTS: 5 send WQEs posted") &&
                 Contains("oldest unacknowledged PSN 0x10") &&
                 Contains("waits for the answer to PSN 0x10, without a timer") &&
                 Contains("expected PSN 0x10"));
}

TEST_CASE("a run that stands still names the programs that sleep", "[run]") {
  const RunResult result = run_text(
      "connection: {timeout: 0}\n"
      "workload:\n  - {operation: write, size: 64 B, messages: 5, test: bandwidth, wait: event}\n"
      "faults:\n  - {action: drop, from: 0, occurrence: 0, per_million: 1000000}\n");
  CHECK_THAT(all(result.failures), Contains("chip 0: its program sleeps until an interrupt\n") &&
                                       Contains(": armed, empty\n"));
}

TEST_CASE_METHOD(FreshKernel, "a queue pair that stands still names the block that holds it",
                 "[run]") {
  const Scenario scenario = parse_scenario(
      "connection: {qps: 12}\nworkload:\n  - {operation: write, from: 64 B, to: 64 B}\n",
      "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  const Endpoint& end = testbed.end(0);
  // In SQD nothing is begun; the queue pair is reported though ten others come before it.
  Qp& last = *end.qps[10];
  proto::QpAttributes a{};
  a.state = proto::QpState::Sqd, a.mask = proto::kQpState;
  REQUIRE(end.verbs->modify_qp(last, a) == Error::None);
  const SgeList sge{end.send_mr.addr, 64, end.send_mr.lkey};
  SendWr wr;
  wr.sg_list = {&sge, 1}, wr.opcode = proto::WorkOpcode::RdmaWrite;
  wr.remote_addr = end.peer_recv.addr, wr.rkey = end.peer_recv.rkey;
  REQUIRE(end.verbs->post_send(last, wr) == Error::None);
  sc_core::sc_start(50, sc_core::SC_US);
  REQUIRE(testbed.is_asleep());
  CHECK_THAT(testbed.stuck_report(),
             Contains("QP 0x1a in SQD: 1 send WQEs posted, 0 started") &&
                 Contains("host: in SQD nothing is begun, until ModifyQp takes it to RTS") &&
                 Contains("chip 0: 4 queue pairs more"));
}

TEST_CASE_METHOD(FreshKernel, "a byte that changes in memory or on the way fails the run",
                 "[run][integrity]") {
  const std::string operation = GENERATE("write", "send");
  const Scenario scenario = parse_scenario(
      "workload:\n  - {operation: " + operation + ", from: 256 B, to: 256 B, messages: 3}\n",
      "test.yaml");
  Testbed testbed(scenario);
  testbed.connect();
  const Traffic traffic = traffic_of(scenario.workload[0], 1, 256, 1);
  StreamReceiver server(testbed.end(1), traffic);
  StreamSender client(testbed.end(0), traffic);
  // The sender's buffer changes after the message was posted and before the HCA reads it.
  const u64 at = testbed.end(0).send_mr.addr + 100;
  sc_core::sc_start(2, sc_core::SC_US);
  testbed.node(1).run(&server);
  testbed.node(0).run(&client);
  const Hca& hca = testbed.node(0).hca;
  sc_core::sc_start((double(hca.quantum()) + 10) * hca.period());  // posted, not yet fetched
  u8 byte;
  testbed.node(0).memory.read(at, &byte, 1);
  const u8 changed = byte ^ 0x10;
  testbed.node(0).memory.write(at, &changed, 1);
  sc_core::sc_start(20, sc_core::SC_US);
  CHECK(server.failed());
  CHECK_THAT(all(server.checker.failures()), Contains("message 0 of 256 bytes: byte 100 is"));
  testbed.node(0).run(nullptr);
  testbed.node(1).run(nullptr);
}

TEST_CASE("report and summary hold the figures of the run", "[run]") {
  const Scenario scenario = parse_scenario(
      "workload:\n"
      "  - {operation: write, from: 64 B, to: 64 B, messages: 50}\n"
      "  - {operation: write, test: latency, from: 64 B, to: 64 B, messages: 1001}\n",
      "test.yaml");
  FreshKernel kernel;
  Runner runner(scenario, {});
  const RunResult result = runner.run();
  REQUIRE(result.sizes.size() == 1);
  const std::string text = text_of(result, scenario);
  CHECK_THAT(text, Contains("Gb/s") && Contains("p99.9 us") && Contains("measured whole") &&
                       Contains("responder_execute"));
  const nlohmann::json data = json_of(result, scenario);
  CHECK(data["succeeded"] == true);
  CHECK(data["sizes"][0]["bandwidth"]["messages"] == 50);
  CHECK(data["sizes"][0]["latency"]["p99_us"].is_number());
  CHECK(data["sizes"][0]["latency"]["p99.9_us"].is_null());
  CHECK(data["knobs"]["hca0.requester.latency"] == "4 cycles");
  CHECK(data["breakdowns"][0]["sum"] == data["breakdowns"][0]["whole"]);
}
}  // namespace hca::testbench
