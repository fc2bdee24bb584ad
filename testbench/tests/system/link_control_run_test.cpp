// SPDX-License-Identifier: Apache-2.0
// Runs with rate limits, and with receive buffers that are too small without flow control.
#include "testbench/testbed/testbed.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
// The server's core carries 51.2 of 100 Gb/s. 64 KiB are 16 packets of 65 or 66 beats of 64 bytes
// in RoCE, 1041 cycles of 10 ns, and 16 of 65 in native framing, 1040: 50.36 and 50.41 Gb/s.
const std::string kWork = "  - {operation: write, size: 64 KiB, messages: 200, depth: 8, qps: 2}\n";
std::vector<std::string> slow(std::vector<std::string> more) {
  more.insert(more.end(), {"connection.path_mtu=4096", "hca1.core.clock=100 MHz",
                           "hca1.core.allow_slow_core=true"});
  return more;
}
double goodput(const RunResult& result) { return result.streams.at(0).gigabits_per_second(); }
}  // namespace

// 4096 bytes are 4194 on the wire: at 10 Gb/s 3355.2 ns, 9.766 Gb/s of payload for each queue pair.
TEST_CASE("a rate limit of each queue pair", "[pace]") {
  const RunResult two =
      run_workload("  - {operation: write, size: 4 KiB, messages: 400, depth: 16, qps: 2}\n",
                   {"connection.path_mtu=4096", "connection.rate_limit=10 Gb/s"});
  CHECK(goodput(two) == Approx(2 * 9.766).epsilon(0.01));
}

TEST_CASE("without flow control a slow receiver drops", "[link_control]") {
  const RunResult none =
      run_workload(kWork, slow({"hca.link_control.mode=lossy", "hca.link_control.buffer=32 KiB"}));
  CHECK(counter(none, "hca1.link_control.no_room") > 0);
  CHECK(counter(none, "hca0.requester.resent") > 0);
  CHECK(counter(none, "hca1.link_control.most_bytes") <= 32768);
}

TEST_CASE("what a full receive buffer drops of UC is lost, and explained by it", "[link_control]") {
  const RunResult none =
      run_workload("  - {operation: write, size: 4 KiB, messages: 400, depth: 32}\n",
                   slow({"hca.link_control.mode=lossy", "hca.link_control.buffer=32 KiB",
                         "connection.service=uc"}));
  CHECK(counter(none, "hca1.link_control.no_room") > 0);
  CHECK(none.lost > 0);
  CHECK(none.failures.empty());
}

// Above xoff there still come, in bytes of 100 Gb/s, 12.5 a ns:
//  - three packets that port_transmit has or has begun: 3 * 4170
//  - while PAUSE waits for a packet of the server, an ACK of 86 bytes, takes its way and is
//  read:
//    two cycles of 10 ns, 7 ns, ICRC unit and port 150 ns, wire 5 ns, 60 bytes 5 ns, port 25 ns
//  - what is on its way then: ICRC unit and port 37.5 ns, wire 5 ns, port 100 ns
// 355 ns are 4434 bytes, 16.9 KB in all. The three packets come within 1007 ns, in which the core
// takes two at most, of 650 ns each: one more than at xoff is there at least.
TEST_CASE("PAUSE: nothing is lost with room for what is on its way", "[link_control]") {
  const RunResult pause =
      run_workload(kWork, slow({"hca.link_control.mode=pause", "hca.link_control.buffer=33500 B",
                                "hca.link_control.xoff=16384 B", "hca.link_control.xon=8 KiB"}));
  CHECK(counter(pause, "hca1.link_control.no_room") == 0);
  CHECK(counter(pause, "hca0.requester.resent") == 0);
  CHECK(counter(pause, "hca1.link_control.told") > 0);
  CHECK(counter(pause, "hca0.link_control.heard") == counter(pause, "hca1.link_control.told"));
  CHECK(counter(pause, "hca1.link_control.most_bytes") >= 16384 + 4154);
  CHECK(goodput(pause) == Approx(50.36).epsilon(0.01));
  const RunResult short_of =
      run_workload(kWork, slow({"hca.link_control.mode=pause", "hca.link_control.buffer=20 KiB",
                                "hca.link_control.xoff=16 KiB", "hca.link_control.xon=8 KiB"}));
  CHECK(counter(short_of, "hca1.link_control.no_room") > 0);
}

TEST_CASE("PFC: the priority of the stream is stopped, nothing is lost", "[link_control]") {
  const RunResult pfc = run_workload(
      "  - {operation: write, size: 64 KiB, messages: 200, depth: 8, qps: 2, service_level: 3}\n",
      slow({"hca.link_control.mode=pfc", "hca.link_control.buffer=33500 B",
            "hca.link_control.xoff=16384 B", "hca.link_control.xon=8 KiB"}));
  CHECK(counter(pfc, "hca1.link_control.no_room") == 0);
  CHECK(counter(pfc, "hca0.requester.resent") == 0);
  CHECK(counter(pfc, "hca0.link_control.heard") > 0);
  CHECK(goodput(pfc) == Approx(50.36).epsilon(0.01));
}

TEST_CASE("credits: the buffer is never exceeded, and the core stays busy", "[link_control]") {
  const RunResult credits =
      run_workload(kWork, slow({"hca.link_control.mode=credits", "hca.link_control.buffer=32 KiB",
                                "connection.framing=ib_local"}));
  CHECK(counter(credits, "hca1.link_control.no_room") == 0);
  CHECK(counter(credits, "hca0.requester.resent") == 0);
  CHECK(counter(credits, "hca1.link_control.most_bytes") <= 32768);
  CHECK(goodput(credits) == Approx(50.41).epsilon(0.01));
}

// Each packet lost would cost 65 blocks of 512 for ever: after 8 nothing could be sent any more.
TEST_CASE("credits of packets that the wire loses come back", "[link_control]") {
  const RunResult lossy = run_text(
      "connection: {path_mtu: 4096, framing: ib_local}\n"
      "hca: {link_control: {mode: credits, buffer: 32 KiB}}\n"
      "workload:\n  - {operation: write, size: 64 KiB, messages: 200, depth: 8}\n"
      "faults:\n  - {action: drop, per_million: 10000}\n");
  CHECK(lossy.failures.empty());
  CHECK(lossy.faults.size() > 8);
  CHECK(counter(lossy, "hca0.requester.resent") > 8);
}

// 64 bytes beside a stream that fills the link: of SL 1, in the high table, they wait for a packet
// buffer and the packets that port_transmit has, with one lane for all packet buffers.
TEST_CASE("the high table lets small messages pass", "[link_control]") {
  const auto small = [](const std::string& lanes) {
    const RunResult run = run_workload(
        "  - {operation: write, size: 64 B, message_rate: 200000, messages: 200, together: true, "
        "service_level: 1}\n"
        "  - {operation: write, size: 64 KiB, depth: 8, messages: 200, together: true}\n",
        {"connection.path_mtu=4096", "connection.framing=ib_local", "hca.link_control.mode=credits",
         "hca.link_control.buffer=64 KiB", "hca.link_control.high_1=1",
         "hca.link_control.high_limit=255", "hca.packetizer.buffer_bytes=1 MiB",
         "hca.link_control.lanes=" + lanes});
    return run.streams.at(0).latency.percentile(50).value();
  };
  CHECK(double(small("2")) < 0.5 * double(small("1")));
}

namespace {
// With one place for requests that wait for ATOMICs, requests of both ends wait for responses that
// come after requests.
RunResult run_of_crowded_ends(const std::string& framing, std::vector<std::string> more) {
  more.insert(more.end(),
              {"connection.framing=" + framing, "run.hash=true", "hca.responder_execute.parking=1",
               "hca.responder_execute.outcomes=4", "hca.link_control.buffer=32 KiB"});
  return run_text(
      "workload:\n  - {mix: {read: 3, write: 3, fetch_add: 1, send: 2}, sizes: [{size: 8 B}, "
      "{size: 16 KiB}], "
      "messages: 1500, depth: 64, qps: 16, direction: both}\n",
      more);
}
}  // namespace

TEST_CASE("ends that wait for each other give up requests, and all messages arrive",
          "[link_control][hash]") {
  for (const char* framing : {"rocev2_ip4", "ib_local"}) {
    const RunResult plain = run_of_crowded_ends(framing, {"connection.timeout=6"});
    CHECK(plain.failures.empty());
    for (const char* hca : {"hca0", "hca1"}) {
      CHECK(counter(plain, hca + std::string(".port.rx_given_up")) > 0);
      CHECK(counter(plain, hca + std::string(".link_control.no_room")) == 0);
    }
    for (const char* way : {"run.shuffle_seed=3", "run.quantum=7 cycles", "run.payload=timed"})
      CHECK(run_of_crowded_ends(framing, {"connection.timeout=6", way}).hash == plain.hash);
  }
}

TEST_CASE("without a stall_limit they stand still, and link_control is named", "[link_control]") {
  const RunResult dead = run_of_crowded_ends(
      "rocev2_ip4", {"connection.timeout=0", "hca.link_control.stall_limit=0 ps"});
  CHECK_THAT(all(dead.failures),
             Catch::Matchers::Contains("link_control: packets to be sent wait for the end of a "
                                       "pause since cycle"));
}

// 80 packets of 4096 B wait 334 ns each for the link, 26.7 us; 32 KiB are 8 of them, 2.7 us. A
// small message alone takes about 0.75 us, and half of a packet's time beside the others.
TEST_CASE("packet buffers are counted in bytes: a small message does not wait for 80 large packets",
          "[packetizer]") {
  const auto run = [](const std::string& bytes) {
    return run_workload(
        "  - {operation: write, size: 64 KiB, messages: 400, depth: 16, qps: 4, together: true}\n"
        "  - {operation: write, size: 8 B, messages: 300, message_rate: 200000, inline_below: 16 "
        "B, "
        "together: true}\n",
        {"connection.path_mtu=4096", "hca.packetizer.buffers=80",
         "hca.packetizer.buffer_bytes=" + bytes});
  };
  const RunResult few = run("32 KiB"), many = run("512 KiB");
  CHECK(few.streams.at(1).latency.percentile(50).value() < 5.0e6);    // ps
  CHECK(many.streams.at(1).latency.percentile(50).value() > 26.0e6);  // ps
  CHECK(goodput(few) == Approx(goodput(many)).epsilon(0.001));
}

TEST_CASE("flow control gives one hash in all ways to run", "[link_control][hash]") {
  for (const bool credits : {false, true}) {
    const auto settings = [&](const std::string& way) {
      return slow({"run.hash=true", way, "hca.link_control.buffer=33500 B",
                   credits ? "hca.link_control.mode=credits" : "hca.link_control.mode=pfc",
                   credits ? "connection.framing=ib_local" : "connection.framing=rocev1",
                   "hca.link_control.xoff=16384 B", "hca.link_control.xon=8 KiB",
                   "connection.rate_limit=40 Gb/s"});
    };
    const std::string work =
        "  - {mix: {write: 2, read: 1, send: 1}, size: 20 KiB, messages: 200, depth: 8, qps: 4, "
        "direction: both}\n";
    const RunResult plain = run_workload(work, settings("run.seed=1"));
    for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"})
      CHECK(run_workload(work, settings(way)).hash == plain.hash);
  }
}

// Two streams of different service levels by a table of lanes or priorities, a shared buffer that
// drops, and messages that leave in units.
TEST_CASE("lanes by table, shared buffers and units give one hash in all ways to run",
          "[link_control][hash]") {
  const std::string work =
      "  - {mix: {write: 2, read: 1, send: 1}, size: 20 KiB, messages: 150, depth: 8, qps: 3, "
      "direction: both, service_level: 5, together: true}\n"
      "  - {operation: write, size: 9 KiB, messages: 150, depth: 4, qps: 2, direction: both, "
      "service_level: 2, together: true}\n";
  struct Row {
    std::vector<std::string> settings;
    const char* without;  // gives another run
  };
  const Row rows[] = {
      {{"connection.framing=ib_local", "hca.link_control.mode=credits", "hca.link_control.lanes=3",
        "hca.link_control.sl2vl=table", "hca.link_control.sl_5=2", "hca.link_control.sl_2=1",
        "hca.link_control.buffer=12 KiB"},
       "hca.link_control.sl2vl=modulo"},
      {{"hca.link_control.mode=pfc", "connection.framing=rocev1", "hca.link_control.buffer=9 KiB",
        "hca.link_control.shared=24 KiB", "hca.link_control.alpha=8", "hca.link_control.xoff=8 KiB",
        "hca.link_control.xon=4 KiB"},
       "hca.link_control.shared=0 B"},
      {{"hca.packetizer.unit=4 KiB", "hca.packetizer.unit_rate=60 Gb/s"},
       "hca.packetizer.unit=0 B"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.without);
    const auto hash = [&](const char* way) {
      std::vector<std::string> settings = slow({"run.hash=true"});
      settings.insert(settings.end(), row.settings.begin(), row.settings.end());
      settings.emplace_back(way);
      return run_workload(work, settings).hash.value();
    };
    const u64 plain = hash("run.seed=1");
    CHECK(hash(row.without) != plain);
    for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"})
      CHECK(hash(way) == plain);
  }
}

TEST_CASE("retries outlast a cable that breaks for a while, not one that stays broken",
          "[run][G12.1]") {
  const std::string text =
      "connection: {timeout: 4, retry_count: 3}\n"  // 65.5 us, four times
      "workload:\n  - {operation: write, size: 4 KiB, messages: 4000, direction: forward}\n";
  const RunResult whole = run_text(text);
  const RunResult broken = run_text(text + "wire: {down_from: 300 us, down_for: 60 us}\n");
  CHECK(all(broken.failures).empty());
  CHECK(broken.messages == whole.messages);
  CHECK(broken.frames > whole.frames);
  CHECK(counter(broken, "hca0.event.lost") == 2);  // nobody asked for them: Down and Active
  CHECK(counter(broken, "hca1.event.lost") == 2);
  CHECK(counter(whole, "hca1.event.lost") == 0);
  // Each break draws retries, the time between them is enough for all: none is given up.
  const RunResult often = run_text(
      text + "wire: {down_from: 300 us, down_for: 60 us, down_times: 4, down_every: 100 us}\n");
  CHECK(all(often.failures).empty());
  CHECK(often.messages == whole.messages);
  CHECK(counter(often, "hca1.event.lost") == 8);
  const RunResult dead = run_text(text + "wire: {down_from: 300 us, down_for: 1 s}\n");
  CHECK_THAT(all(dead.failures), Catch::Matchers::Contains("completed with status RETRY_EXC_ERR"));
}

// Each at its own clock: 100 us and 10 us, twice, 30 us apart.
TEST_CASE("both ends of a cable that breaks hear of it each time, to the cycle",
          "[run][T15-PORT_ACTIVE]") {
  FreshKernel kernel;
  Testbed bed(
      parse_scenario("hca1: {core: {clock: 250 MHz}}\n"
                     "wire: {down_from: 100 us, down_for: 10 us, down_times: 2, "
                     "down_every: 30 us}\n"
                     "workload:\n  - {operation: write, size: 8 B, messages: 1}\n",
                     "s.yaml", {}));
  bed.connect();
  std::vector<std::vector<Cycle>> cycles(bed.nodes());
  std::vector<CompChannel*> channels(bed.nodes());
  for (unsigned i = 0; i < bed.nodes(); ++i) {
    Node& node = bed.node(i);
    channels[i] = node.verbs.open_async_events();
    node.memory.watch(channels[i]->address, channels[i]->entries() * proto::kEqeBytes,
                      [&, i](u64, u64) { cycles[i].push_back(bed.node(i).hca.domain().now()); });
  }
  run_for({200, sc_core::SC_US});
  for (unsigned i = 0; i < bed.nodes(); ++i) {
    CAPTURE(i);
    const u64 cycles_of_us = i ? 250 : 400;
    std::vector<Cycle> wanted;
    for (const u64 us : {100, 110, 130, 140}) wanted.push_back(us * cycles_of_us);
    REQUIRE(cycles[i].size() == wanted.size());
    const Cycle latency = cycles[i][0] - wanted[0];
    CHECK(latency < cycles_of_us);
    for (Cycle& cycle : wanted) cycle += latency;
    CHECK(cycles[i] == wanted);
    std::vector<proto::EventType> events;
    while (const auto event = bed.node(i).verbs.get_async_event(*channels[i]))
      events.push_back(event->type);
    using enum proto::EventType;
    CHECK(events == std::vector{PortErr, PortActive, PortErr, PortActive});
  }
}

TEST_CASE("breaks of a cable that leave no time in between are refused", "[scenario]") {
  const std::string text = "workload:\n  - {operation: write, size: 8 B, messages: 1}\n";
  const std::string twice = "wire: {down_for: 10 us, down_times: 2, down_every: ";
  CHECK(error_of(text + twice + "11 us}\n") == "(none)");
  CHECK_THAT(
      error_of(text + twice + "10 us}\n"),
      Catch::Matchers::Contains("wire.down_every: \"10000000 ps\" leaves no time between "
                                "two breaks; allowed: more than wire.down_for, 10000000 ps"));
  CHECK(error_of(text + "wire: {down_for: 10 us}\n") == "(none)");
}
}  // namespace hca::testbench
