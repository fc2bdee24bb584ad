// SPDX-License-Identifier: Apache-2.0
// What ports, ends and workloads make of each other: refused once, at the setting that says it.
#include <catch2/catch.hpp>

#include "testbench/tests/run_text.h"

namespace hca::testbench {
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

TEST_CASE("the second port or HCA is judged as the first", "[scenario]") {
  // 64 B of 400 MHz are 204.8 Gb/s.
  const std::string slow =
      ".link_rate: 64 B in each cycle of 400 MHz are 204.8 Gb/s, less than the 800 Gb/s of a link";
  for (const char* link : {"hca.port1", "hca.port2", "hca1.port1", "hca1.port2"})
    CHECK_THAT(error_of("hca.core.ports: 2\n" + std::string(link) + ".link_rate: 800 Gb/s\n"),
               Contains("s.yaml:2: " + std::string(link) + slow));
  CHECK(error_of("hca.core: {ports: 2, allow_slow_core: true}\nhca.port2.link_rate: 800 Gb/s\n") ==
        "(none)");
  for (const char* hca : {"hca0", "hca1", "hca"}) {
    const std::string name(hca);
    CHECK_THAT(
        error_of(name + ".link_control.buffer: 512 B\n"),
        Contains("s.yaml:1: " + name + ".link_control.buffer: 512 B, with the shared buffer"));
    CHECK_THAT(
        error_of(name + ".qp_cache: {entries: 8, ways: 3}\n"),
        Equals("s.yaml:1: qp_cache.ways: \"3\" does not divide the entries; allowed: 0, or a "
               "divisor of 8"));
  }
  const std::string breaks = ": {down_for: 2 us, down_times: 2, down_every: 2 us}\n";
  const std::string problem =
      "s.yaml:2: wire.down_every: \"2000000 ps\" leaves no time between two breaks; allowed: more "
      "than wire.down_for, 2000000 ps";
  for (const char* wire : {"wire1", "wire2", "wire"})
    CHECK_THAT(error_of("hca.core.ports: 2\n" + (wire + breaks)), Equals(problem));
  CHECK(error_of("wire: {down_for: 2 us, down_times: 2, down_every: 2001 ns}\n") == "(none)");
  CHECK(error_of("wire: {down_for: 2 us, down_times: 1, down_every: 1 us}\n") == "(none)");
}

TEST_CASE("every cache of contexts has whole sets", "[scenario]") {
  for (const char* cache : {"qp_cache", "cq_cache", "mpt_cache", "mtt_cache", "wqe_cache"}) {
    const std::string name(cache);
    CHECK_THAT(error_of("hca." + name + ": {entries: 8, ways: 3}\n"),
               Contains(name + ".ways: \"3\" does not divide the entries"));
    CHECK(error_of("hca." + name + ": {entries: 8, ways: 4}\n") == "(none)");
  }
}

TEST_CASE("both ends of a link have the flow control of its framing", "[scenario]") {
  const std::string pause =
                        ".link_control: {mode: pause, buffer: 64 KiB, xoff: 32 KiB, xon: 1 KiB}\n",
                    credits = ".link_control: {mode: credits, buffer: 64 KiB}\n",
                    native = "connection.framing: ib_local\n";
  CHECK(error_of("hca" + pause) == "(none)");
  CHECK(error_of("hca" + credits + native) == "(none)");
  CHECK_THAT(
      error_of("hca0" + pause),
      Contains("s.yaml:1: hca0.link_control.mode: pause is another one than that of the other "
               "end, pfc; allowed: the same"));
  CHECK(error_of("hca0.link_control.mode: pfc\n") == "(none)");  // as auto chooses

  CHECK_THAT(error_of("hca" + credits),
             Contains("s.yaml:1: hca.link_control.mode: credits does not go with"));
  CHECK_THAT(error_of("hca" + pause + native),
             Contains("s.yaml:1: hca.link_control.mode: pause does not go with"));
}

TEST_CASE("both ends of a link have its rate and its lanes", "[scenario]") {
  CHECK(error_of("hca.port.link_rate: 10 Gb/s\n") == "(none)");
  CHECK_THAT(error_of("hca1.port.link_rate: 10 Gb/s\n"),
             Contains("s.yaml:1: hca1.port.link_rate: 100 Gb/s of hca0 and 10 Gb/s of hca1 are the "
                      "rates of one link; allowed: the same at both ends"));
  CHECK_THAT(error_of("hca.core.ports: 2\nhca0.port2.link_rate: 40 Gb/s\n"),
             Contains("s.yaml:2: hca0.port2.link_rate: 40 Gb/s of hca0 and 100 Gb/s of hca1"));
  const std::string credits =
      "connection.framing: ib_local\nhca.link_control: {mode: credits, buffer: 64 KiB}\n";
  CHECK(error_of(credits + "hca.link_control.lanes: 2\n") == "(none)");
  CHECK_THAT(error_of("connection.framing: ib_local\nhca1.link_control.lanes: 2\n"),
             Contains("s.yaml:2: hca1.link_control.lanes: 1 of hca0 and 2 of hca1"));
  CHECK_THAT(error_of(credits + "hca1.link_control.lanes: 2\n"),
             Contains("s.yaml:3: hca1.link_control.lanes: 1 of hca0 and 2 of hca1 are the lanes of "
                      "one link; allowed: as many at both ends"));
}

// 64 queue pairs with 16 READs each are 1024, four times the places for outcomes: no READ waits for
// one, or the READs of both ends could wait for each other's responses.
TEST_CASE("READs of many queue pairs both ways need no place for each", "[scenario]") {
  const std::string text =
      "connection: {qps: 64}\n"
      "workload: [{operation: read, size: 4 KiB, messages: 640, depth: 64, direction: both}]\n";
  for (const char* framing : {"ib_local", "rocev2_ip4"})
    CHECK(all(run_text(text, {std::string("connection.framing=") + framing}).failures) == "");
}

// 12.5 bytes come a ns: 12690 of three frames, 131210 of the 10496.8 ns in which XOFF and the last
// data cross the wire (link_control_test), and two frames: 1 + 152360.
TEST_CASE("a cable that is too long for the receive buffer is refused", "[scenario]") {
  const std::string far = "wire: {latency: 5 us}\n";
  CHECK_THAT(error_of(far),
             Contains("s.yaml:1: wire.latency: hca0 has 130944 B of receive buffer for each lane "
                      "(link_control.buffer), too little for pfc") &&
                 Contains("are 152361 B; allowed: a hca.link_control.buffer of at least that, mode "
                          "lossy, or mode "
                          "endless"));
  CHECK(error_of("wire: {latency: 3 us}\n") == "(none)");
  CHECK(error_of(far + "hca.link_control.buffer: 160 KiB\n") == "(none)");
  for (const char* mode : {"lossy", "endless"})
    CHECK(error_of(far + "hca.link_control.mode: " + mode + "\n") == "(none)");
  CHECK(error_of(far + "connection.framing: ib_local\n") == "(none)");  // credits lose nothing
}

// Neither hides the other.
TEST_CASE("a value out of its range and a mistake of two others are told together", "[scenario]") {
  const std::string error =
      error_of("hca:\n  doorbell: {interval: 0 cycles}\n  qp_cache: {entries: 8, ways: 3}\n");
  CHECK_THAT(error, Contains("s.yaml:2: hca.doorbell.interval: ") &&
                        Contains("s.yaml:3: qp_cache.ways: \"3\" does not divide the entries"));
  CHECK_THAT(error_of("hca:\n  qp_cache: {entries: -8,\n ways: 3}\n"),
             Contains("s.yaml:2: hca.qp_cache.entries: ") && !Contains("divide"));
}

TEST_CASE("datagrams have no rate limit", "[scenario]") {
  CHECK_THAT(
      error_of("connection: {service: ud, rate_limit: 1 Gb/s}\n"),
      Contains("s.yaml:1: connection.rate_limit: is set with ud, whose datagrams have a path "
               "each; allowed: 0 b/s"));
  for (const char* service : {"rc", "uc"})
    CHECK(error_of("connection: {service: " + std::string(service) + ", rate_limit: 1 Gb/s}\n") ==
          "(none)");
}

TEST_CASE("a service that a chip does not have is refused", "[scenario]") {
  const std::string xrc = "connection: {service: xrc}\n";
  CHECK_THAT(error_of(xrc),
             Contains("s.yaml:1: connection.service: xrc is a service that hca0 does not have; "
                      "allowed: with hca.transport.xrc: true"));
  CHECK_THAT(error_of(xrc + "hca.transport.xrc: true\nhca1.transport.xrc: false\n"),
             Contains("xrc is a service that hca1 does not have"));
  CHECK(error_of(xrc + "hca.transport.xrc: true\n") == "(none)");
  CHECK_THAT(error_of("connection: {xrc_srqs: 2}\n"),
             Contains("s.yaml:1: connection.xrc_srqs: is set without service xrc; allowed: 1"));
  CHECK_THAT(error_of("connection: {service: xrc, srq: true}\nhca.transport.xrc: true\n"),
             Contains("s.yaml:1: connection.srq: is set with service xrc"));
}

TEST_CASE("RD is an option of both chips, and has no SRQs", "[scenario][G13.5]") {
  const std::string rd = "connection: {service: rd}\n";
  CHECK_THAT(error_of(rd), Contains("rd is a service that hca0 does not have; allowed: with "
                                    "hca.transport.rd: true"));
  const std::string has = "hca:\n  transport: {rd: true}\n";
  CHECK(error_of(rd + has) == "(none)");
  CHECK_THAT(error_of("connection: {service: rd, srq: true}\n" + has),
             Contains("connection.srq: is set with service rd, which has none"));
  CHECK_THAT(error_of(rd + has + "  qp_cache: {entries: 64}\n"),
             Contains("RD needs all contexts on chip"));
}

TEST_CASE("workloads on the same queue pairs have one service level", "[scenario][workload]") {
  const auto levels = [](const std::string& more) {
    return error_of("workload:\n  - {size: 8 B, service_level: 1" + more +
                    "}\n  - {size: 8 B, service_level: 2" + more + "}\n");
  };
  CHECK_THAT(levels(""), Equals("s.yaml:3: workload[1].service_level: 2 differs from that of "
                                "workload[0], which has the same queue pairs; allowed: 1"));
  CHECK(levels(", together: true") == "(none)");
}

TEST_CASE("a range of sizes that is empty by a byte is refused", "[scenario][workload]") {
  CHECK_THAT(error_of("workload: [{from: 65 B, to: 64 B}]\n"),
             Contains("workload[0].to: 64 B is less than from; allowed: 65 B or more"));
  CHECK(error_of("workload: [{from: 64 B, to: 64 B}]\n") == "(none)");
}

TEST_CASE("more receive WQEs than a shared receive queue has are told with their key", "[run]") {
  const auto text = [](int qps) {
    return "connection.srq: true\nworkload: [{operation: send, size: 64 B, qps: " +
           std::to_string(qps) + ", receive_depth: 256}]\n";
  };
  CHECK(
      error_of(text(129)) ==
      "s.yaml:2: workload[0].receive_depth: of 256 makes too many WQEs of a shared receive queue; "
      "allowed: 129 queue pairs times it up to 32768");
  CHECK(error_of(text(128)) == "(none)");
}

// Numbers of objects are below a knob. Queue pairs begin with 16, regions and queues with 1: a lane
// has two CQs and three regions, and each thread, and each workload of those that run together, has
// a lane.
TEST_CASE("objects that the device does not have are told at the workload that asks for them",
          "[scenario][workload]") {
  const std::string threads =
      "workload:\n  - {operation: send, size: 8 B}\n  - {operation: send, size: 8 B, qps: 4, "
      "threads: 4}\n";
  const auto refused = [&](const std::string& knob, int enough, const std::string& words) {
    const auto with = [&](int value) {
      return error_of("hca0.core." + knob + ": " + std::to_string(value) + "\n" + threads);
    };
    CAPTURE(knob, with(enough));
    CHECK(with(enough) == "(none)");
    CHECK_THAT(with(enough - 1),
               Contains("s.yaml:4: workload[1]: needs " + words + " of hca0 with ") &&
                   Contains("; allowed: numbers below hca0.core." + knob + ", " +
                            std::to_string(enough - 1)));
  };
  refused("max_qps", 16 + 4, "queue pairs");
  refused("max_cqs", 1 + 2 * 4, "completion queues");
  refused("max_regions", 1 + 3 * 4, "regions");
  CHECK_THAT(
      error_of("connection.srq: true\nhca1.core.max_srqs: 4\n" + threads),
      Contains("s.yaml:5: workload[1]: needs shared receive queues of hca1 with the numbers 1 "
               "to 4, with those before it; allowed: numbers below hca1.core.max_srqs, 4"));
  const std::string events = "workload: [{size: 8 B}, {size: 8 B,\n  wait: event}]\n";
  for (const char* knob : {"max_eqs", "max_vectors"}) {
    const std::string core = std::string("hca.core.") + knob;
    CHECK_THAT(error_of(core + ": 1\n" + events),
               Contains("s.yaml:2: workload[1]: needs ") && Contains(std::string(knob) + ", 1"));
    CHECK(error_of(core + ": 2\n" + events) == "(none)");
    CHECK(error_of(core + ": 1\nworkload: [{size: 8 B}]\n") == "(none)");
  }
  CHECK_THAT(
      error_of("hca.core.max_cqs: 2\n"),
      Contains("s.yaml:1: hca.core.max_cqs: is too little for the default workload[0]: needs "
               "completion queues"));
}
TEST_CASE("moderation is for programs that wait for events, has a period and enough entries",
          "[scenario][G21.2]") {
  const std::string events = "host.wait: event\n";
  const auto moderated = [](const std::string& keys) { return "connection: {" + keys + "}\n"; };
  CHECK(error_of(events + moderated("moderation_count: 4, moderation_period: 10 us")) == "(none)");
  CHECK(error_of(events + moderated("moderation_period: 10 us")) == "(none)");
  CHECK(error_of(moderated("moderation_count: 1, moderation_period: 10 us") +
                 "workload: [{operation: send, size: 8 B, wait: event}]\n") == "(none)");
  CHECK_THAT(error_of(moderated("moderation_count: 4, moderation_period: 10 us")),
             Contains("s.yaml:1: connection.moderation_period: is set where all programs poll; "
                      "allowed: 0, or host.wait or workload[].wait event"));
  CHECK_THAT(error_of(events + moderated("moderation_count: 4")),
             Contains("s.yaml:2: connection.moderation_count: is above 1 without a period"));
  CHECK(error_of(events + moderated("moderation_count: 1")) == "(none)");
  CHECK_THAT(error_of(events + moderated("moderation_period: 1500 ns")),
             Contains("connection.moderation_period: \"1500 ns\" is no multiple of 1 us"));
  CHECK_THAT(error_of(events + moderated("moderation_count: 65536")), Contains("0 .. 65535"));
  const std::string few = "workload: [{operation: send, size: 8 B, qps: 2, depth: 4}]\n";
  CHECK(error_of(events + moderated("moderation_count: 8, moderation_period: 10 us") + few) ==
        "(none)");
  CHECK_THAT(
      error_of(events + moderated("moderation_count: 9, moderation_period: 10 us") + few),
      Contains("s.yaml:3: workload[0].depth: makes a completion queue of 8 entries; allowed: "
               "at least the 9 of connection.moderation_count"));
}

TEST_CASE("requests need a service that loses none", "[scenario]") {
  const std::string requests = "workload: [{operation: send, size: 8 B, response: 8 B}]\n";
  CHECK(error_of(requests) == "(none)");
  for (const char* service : {"uc", "ud"})
    CHECK_THAT(error_of(requests + "connection.service: " + service + "\n"),
               Contains("s.yaml:1: workload[0].response: is set for a service that may lose "
                        "messages; allowed: rc, xrc or rd as connection.service"));
}
}  // namespace hca::testbench
