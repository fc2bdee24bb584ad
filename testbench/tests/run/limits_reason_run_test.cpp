// SPDX-License-Identifier: Apache-2.0
// What a limit is said to come from: losses and retries, and what a core works at.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
// All packets with one PSN are lost: the messages before it keep the link busy, the last one
// is sent again until its retries are used up.
TEST_CASE("a part that fails for losses is explained by its retries", "[limits]") {
  const auto line = [](const std::string& text) {
    const RecordedRun run = run_recorded(parse_scenario(text, "test.yaml"));
    CHECK_FALSE(run.result.failures.empty());
    return run.line;
  };
  CHECK_THAT(line("connection: {timeout: 8, retry_count: 3}\n"
                  "faults: [{from: 0, psn: 12000, occurrence: 0, per_million: 1000000}]\n"
                  "workload: [{operation: write, size: 64 KiB, messages: 200}]\n"),
             Catch::Matchers::Contains("hca0 retries: 100 % used up (connection.retry_count, "));
  CHECK_THAT(
      line("connection: {rnr_retry: 1, min_rnr_timer: 1}\nhca: {transport: {credits: false}}\n"
           "host1: {post_recv: 500 us}\n"
           "workload: [{operation: send, size: 64 B, messages: 20, receive_depth: 1}]\n"),
      Catch::Matchers::Contains("hca0 retries: 100 % used up (connection.rnr_retry, "));
}

// 1 us of each message, and what is more than half of it.
TEST_CASE("a core is named with what it works at", "[limits][host]") {
  const auto line = [](const std::string& more, const std::vector<std::string>& settings) {
    return run_recorded("operation: write, size: 64 B, messages: 2000" + more, settings).line;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(line("", {"host0.post_send=1 us"}),
             Contains("host 0's core: ") && Contains("% busy (host.post_send)\n"));
  CHECK_THAT(line("", {"host0.completion=1 us", "host0.post_send=600 ns"}),
             Contains("% busy (host.completion, host.post_send)\n"));
  CHECK_THAT(line(", list: 4", {"host0.doorbell=4 us"}), Contains("% busy (host.doorbell)\n"));
  CHECK_THAT(line("", {"host0.doorbell_lock=1 us"}), Contains("(host.doorbell_lock)"));
}

// Nothing is lost on the wire, but in the receive buffer before a PCIe line of 6.6 Gb/s.
TEST_CASE("losses for want of room are of the receive buffer", "[limits]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, messages: 400",
                   {"hca.link_control.mode=lossy", "hca.link_control.buffer=8 KiB", "pcie1.lanes=1",
                    "connection.timeout=6"});
  CHECK_THAT(run.line, Catch::Matchers::Contains("hca0 losses: ") &&
                           Catch::Contains("(link_control.buffer, link_control.mode)"));
}
// 1 bit of 10^5 is wrong: of frames of 4096 bytes, 33300 bits, 3 of 10 are lost on the wire, and
// all took their time on the link.
TEST_CASE("frames that are lost on the wire have kept the link busy", "[limits]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, messages: 2000",
                   {"connection.service=uc", "connection.path_mtu=4096", "wire.bit_errors=5"});
  CAPTURE(run.line);
  CHECK(run.result.lost > 400);
  CHECK(run.line.find(": hca0 link transmit: ") != std::string::npos);
  CHECK(share_of(run, "hca0 link transmit") > 0.97);
}

// A packet of the same queue pair goes on when the one in front is judged: 2 cycles to look up its
// key and 100 to be judged, of 2.5 ns each; the look-up of its queue pair is hidden.
TEST_CASE("requests that wait for their context are named, not what piles up", "[limits]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 64 B, messages: 2000",
      {"hca1.responder_check.context_forwarding=stall", "hca1.responder_check.latency=100 cycles"});
  CHECK_THAT(run.line,
             Catch::Contains(": hca1 responder_check, one request of a queue pair at a time: ") &&
                 Catch::Contains("(responder_check.context_forwarding)") &&
                 !Catch::Contains("as near"));
  CHECK(waited(run, "hca1 responder_check", "contexts that an earlier request is changing") >
        190'000);
  CHECK(double(time_of(run)) == Approx(2000 * 102 * 2500).epsilon(0.005));
}

// Some queue pairs are told to come again, and the others go on: the core works all the time.
TEST_CASE("a core that is slow behind a shared receive queue is named", "[limits][host]") {
  const auto check = [](const std::string& more, const std::string& knob, const char* time) {
    const RecordedRun run = run_recorded(
        "operation: send, size: 64 B, messages: 3000" + more,
        {"connection.srq=true", "connection.min_rnr_timer=1", "host1." + knob + "=" + time});
    CHECK_THAT(run.line, Catch::Matchers::StartsWith("Bottleneck") &&
                             Catch::Contains(": host 1's core: 100 % busy (host." + knob + ")"));
  };
  check(", qps: 4", "post_recv", "1 us");
  check(", qps: 16, receive_depth: 8", "completion", "500 ns");
}

// 85 % of what a core of 100 ns a message has, evenly; 110 % of it.
TEST_CASE("an open loop whose plan is kept is limited by its plan", "[limits]") {
  const auto line = [](int rate) {
    return run_recorded("operation: write, size: 64 B, messages: 5000, message_rate: " +
                            std::to_string(rate),
                        {"host0.post_send=90 ns", "host0.completion=10 ns"})
        .line;
  };
  CHECK_THAT(line(8'500'000), Catch::Matchers::Matches(
                                  ".*: host 0's offered load: 100 % of the offered rate achieved "
                                  "\\(workload\\[\\]\\.message_rate\\); as near: host 0's core: "
                                  "8[56] % busy \\(host.post_send\\)\n"));
  CHECK_THAT(line(5'000'000),
             Catch::Contains(": host 0's offered load: 100 % ") && !Catch::Contains("as near"));
  CHECK_THAT(line(11'000'000),
             Catch::Contains(": host 0's core: 100 % busy") && !Catch::Contains("offered load"));
}

// Each thread has a register for itself: it is the lock that takes its core's time.
TEST_CASE("a register that no other thread has is not named beside its core",
          "[limits][doorbell]") {
  for (const char* registers : {"0", "2"}) {
    const RecordedRun run = run_recorded(
        "operation: write, size: 8 B, messages: 1000, qps: 2, threads: 2",
        {"host.doorbell_lock=1 us", std::string("host.doorbell_registers=") + registers});
    CHECK_THAT(run.line, Catch::Matchers::StartsWith("Bottleneck") && Catch::Contains("core") &&
                             Catch::Contains("host.doorbell_lock") && !Catch::Contains("register"));
    CHECK(share_of(run, "host 0's busiest doorbell register") > 0.5);
  }
}

// One push is held, and the next ones are read meanwhile.
TEST_CASE("pushed WQEs without room are a stall with its cause", "[limits][stalls]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 8 B, messages: 2000, qps: 16, push: true, inline_below: 65 B",
      {"hca.qp_scheduler.pushes=1", "hca.qp_scheduler.interval=40 cycles", "host.post_send=50 ns"});
  CHECK(counter(run.result, "hca0.qp_scheduler.refused_pushes") > 100);
  const u64 cycles = waited(run, "hca0 qp_scheduler", "room for pushed WQEs (pushes)");
  CHECK(cycles > 1000);
  CHECK(cycles * 2500 < time_of(run));
}
}  // namespace hca::testbench
