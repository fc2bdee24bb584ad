// SPDX-License-Identifier: Apache-2.0
// Runs in which one thing limits by construction: it is named.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
namespace {
// What is named; a workload and its settings; and what makes the named part larger.
struct Limited {
  std::string limit, entry;
  std::vector<std::string> settings, relief;
};
const std::string kSmallWrites = "operation: write, size: 64 B, messages: 2000";
const std::string kLargeWrites = "operation: write, size: 16 KiB, messages: 100";
const Limited kLimitedRuns[] = {
    // The device.
    {"hca0 qp_scheduler turns",
     kSmallWrites,
     {"hca.qp_scheduler.turns=1", "hca.qp_scheduler.batch=1"},
     {"hca.qp_scheduler.turns=2"}},
    {"hca0 qp_scheduler slots",
     kSmallWrites + ", qps: 16",
     {"hca.qp_scheduler.slots=1", "hca.qp_scheduler.batch=1"},
     {"hca.qp_scheduler.slots=2"}},
    {"hca0 qp_scheduler",
     kSmallWrites,
     {"hca.qp_scheduler.interval=400 cycles", "hca.qp_scheduler.batch=1"},
     {"hca.qp_scheduler.interval=200 cycles"}},
    {"hca0 qp_context, requester",
     kSmallWrites,
     {"hca0.qp_context.interval=100 cycles"},
     {"hca0.qp_context.interval=50 cycles"}},
    {"hca1 qp_context, responder_check",
     kSmallWrites,
     {"hca1.qp_context.interval=100 cycles"},
     {"hca1.qp_context.interval=50 cycles"}},
    {"hca0 protection, requester",
     kSmallWrites,
     {"hca0.protection.interval=100 cycles"},
     {"hca0.protection.interval=50 cycles"}},
    {"hca0 packetizer buffers",
     kLargeWrites,
     {"hca.packetizer.buffers=1"},
     {"hca.packetizer.buffers=2"}},
    {"hca1 responder_execute responses",
     "operation: read, size: 16 KiB, messages: 100",
     {"hca.responder_execute.responses=1"},
     {"hca.responder_execute.responses=2"}},
    {"hca0 packetizer lane buffers",
     kLargeWrites,
     {"hca.packetizer.lane_buffers=1"},
     {"hca.packetizer.lane_buffers=2"}},
    {"hca1 responder_execute lane responses",
     "operation: read, size: 16 KiB, messages: 100",
     {"hca.responder_execute.lane_responses=1"},
     {"hca.responder_execute.lane_responses=2"}},
    {"hca1 receive WQE reads, one of a queue pair at a time",
     "operation: send, size: 64 B, messages: 500",
     {"hca1.responder_execute.batch=1", "pcie1.memory_latency=1 us"},
     {"hca1.responder_execute.batch=4"}},
    {"hca1 SRQ WQE reads, one of a queue pair at a time",
     "operation: send, size: 64 B, messages: 500, qps: 2",
     {"connection.srq=true", "hca1.responder_execute.shared_batches=0"},
     {"hca1.responder_execute.shared_batches=4"}},
    {"hca1 responder_execute, READs",
     "operation: read, size: 64 B, messages: 1000",
     {"hca.responder_execute.read_interval=400 cycles"},
     {"hca.responder_execute.read_interval=200 cycles"}},
    {"hca1 ATOMIC units",
     "operation: compare_swap, messages: 1000, qps: 8",  // a number for each queue pair
     {},
     {"hca.responder_execute.atomics=2"}},
    {"hca1 ATOMIC lock",
     "operation: fetch_add, messages: 1000, qps: 8",
     {"hca.responder_execute.atomics=8"},
     {"workload[0].atomic_addresses=1000"}},
    {"hca1 ATOMICs, one of a queue pair at a time",
     "operation: fetch_add, messages: 500, atomic_addresses: 1000",
     {"hca.responder_execute.atomics=8"},
     {"workload[0].qps=2"}},
    // What queue pairs wait for.
    {"hca0 max_rd_atomic",
     "operation: read, size: 64 B, messages: 500",
     {"connection.max_rd_atomic=1"},
     {"connection.max_rd_atomic=2"}},
    {"hca0 fences",
     "mix: {read: 1, write: 1}, size: 64 B, messages: 400, fence: true",
     {"wire.latency=5 us", "hca.link_control.buffer=256 KiB"},
     {"workload[0].fence=false"}},
    {"host 0's messages in flight",
     kLargeWrites + ", depth: 4",
     {"wire.latency=50 us", "hca.link_control.buffer=2 MiB"},
     {"workload[0].depth=8"}},
    {"hca0 completion buffers",
     "operation: write, size: 8 B, messages: 2000, qps: 4",
     {"hca.completion.buffers=1", "pcie.latency=1 us"},
     {"hca.completion.buffers=2"}},
    {"hca0 rate limit",
     kSmallWrites + ", qps: 4",
     {"connection.rate_limit=1 Gb/s"},
     {"connection.rate_limit=2 Gb/s"}},
    // Three messages of 5.6 us in each 400 us.
    {"hca0 message credits",
     "operation: send, size: 64 KiB, messages: 60, receive_depth: 2",
     {"hca.transport.initial_credits=one", "wire.latency=200 us", "hca.link_control.buffer=6 MiB"},
     {"workload[0].receive_depth=8"}},
    {"hca0 RNR timers",
     "operation: send, size: 64 B, messages: 20, receive_depth: 1",
     {"hca.transport.credits=false"},
     {"connection.min_rnr_timer=1"}},
    // A NAK or an ACK that is lost, and nobody tells: 4.2 ms each time.
    {"hca0 transport timers",
     "operation: write, size: 4 KiB, messages: 300",
     {"wire.bit_errors=5", "connection.timeout=10"},
     {"connection.timeout=6"}},
    // Of packets of 1 KiB, 9000 bits, 1 % is lost, and with it what follows in 10 us, some 115.
    {"hca0 losses",
     "operation: write, size: 64 KiB, messages: 200, depth: 64",
     {"wire.bit_errors=6", "wire.latency=5 us", "connection.timeout=4",
      "hca.link_control.mode=lossy"},
     {"wire.bit_errors=8"}},
    // The link.
    {"hca0 link transmit",
     kLargeWrites,
     {"hca.port.link_rate=50 Gb/s"},
     {"hca.port.link_rate=100 Gb/s"}},
    {"hca1 link transmit",
     "operation: read, size: 16 KiB, messages: 100",
     {"hca.port.link_rate=50 Gb/s"},
     {"hca.port.link_rate=100 Gb/s"}},
    {"hca0 link credits",
     kLargeWrites,
     {"hca.link_control.mode=credits", "hca.link_control.buffer=8 KiB",
      "connection.framing=ib_local", "wire.latency=5 us"},
     {"hca.link_control.buffer=16 KiB"}},
    // PCIe and host.
    {"hca0 PCIe line down",
     "operation: write, size: 64 B, messages: 2000, push: true, inline_below: 65 B",
     {"pcie.generation=1", "pcie.lanes=1"},
     {"pcie.lanes=2"}},
    {"hca0 PCIe read tags", kLargeWrites, {"pcie.read_tags=1"}, {"pcie.read_tags=2"}},
    {"hca0 PCIe non-posted header credits",
     kLargeWrites,
     {"pcie.root_nonposted_headers=1"},
     {"pcie.root_nonposted_headers=2"}},
    {"hca1 PCIe posted header credits",
     kLargeWrites,
     {"pcie1.root_posted_headers=1"},
     {"pcie1.root_posted_headers=2"}},
    {"hca1 PCIe host memory",
     kLargeWrites,
     {"pcie1.memory_rate=10 Gb/s"},
     {"pcie1.memory_rate=20 Gb/s"}},
    {"hca1 PCIe page walkers",
     kLargeWrites,
     {"pcie1.iommu_entries=4", "pcie1.iommu_walk=2 us"},
     {"pcie1.iommu_walkers=2"}},
    {"host 0's interrupts",
     "operation: write, size: 64 B, messages: 100, depth: 1, wait: event",
     {"host.interrupt=20 us"},
     {"host.interrupt=2 us"}},
    {"host 1's core",
     "operation: send, size: 64 B, messages: 4000",
     {"host1.post_recv=1 us", "connection.min_rnr_timer=1"},
     {"host1.post_recv=500 ns"}},
    {"host 0's core", kSmallWrites, {"host0.post_send=1 us"}, {"host0.post_send=500 ns"}},
};
}  // namespace

TEST_CASE("what limits a run is named", "[limits]") {
  const Limited& row = kLimitedRuns[GENERATE(range(std::size_t{0}, std::size(kLimitedRuns)))];
  const RecordedRun run = run_recorded(row.entry, row.settings);
  CAPTURE(row.limit, row.entry, run.line);
  CHECK(run.line.find(": " + row.limit + ": ") != std::string::npos);
  CHECK(run.record.at("phases").at(0).at("bottleneck") == row.limit);
  // And it is the reason: with more of it the same messages take less time.
  std::vector<std::string> relieved = row.settings;
  relieved.insert(relieved.end(), row.relief.begin(), row.relief.end());
  const u64 before = time_of(run), after = time_of(run_recorded(row.entry, relieved));
  CAPTURE(before, after);
  CHECK(after < before - before / 5);
}

// A stage of 200 cycles takes one packet after the other all the same: 64 B at 100 Gb/s, 162 bytes
// on the wire, are 5.2 cycles, and 39 of them are in it. The ends cost some 200 cycles each of the
// 100000 that the run takes.
TEST_CASE("a longer latency of a block costs time and no rate", "[limits]") {
  const std::string entry =
      "operation: write, size: 64 B, messages: 20000, qps: 32, push: true, receive_depth: 1";
  const std::vector<std::string> settings{
      "host.post_send=5 ns",        "host.completion=1 ns",       "hca.qp_scheduler.turns=8",
      "hca.qp_scheduler.slots=256", "hca.packetizer.buffers=256", "pcie.generation=6"};
  static const u64 before = time_of(run_recorded(entry, settings));
  const std::string block =
      GENERATE("doorbell", "qp_scheduler", "wqe_fetch", "qp_context", "protection", "requester",
               "packetizer", "icrc_unit", "port", "responder_check", "responder_execute",
               "responder_reply", "response_check", "completion");
  std::vector<std::string> longer = settings;
  longer.push_back("hca." + block + ".latency=200 cycles");
  const u64 after = time_of(run_recorded(entry, longer));
  CAPTURE(block, before, after);
  CHECK(before < 110'000 * 2500);
  CHECK(double(after) < 1.05 * double(before));
}

// WRITEs are posted: a memory that is slower than the link stops them when the room of the root
// complex is full, 32 KiB of the 6.4 MiB.
TEST_CASE("WRITEs are as fast as the memory that takes them", "[limits]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 64 KiB, messages: 100", {"pcie1.memory_rate=10 Gb/s"});
  const double seconds = double(time_of(run)) * 1e-12;
  CHECK(100 * 65536 * 8 / seconds == Approx(10e9).epsilon(0.02));
}

// 500 messages find the 512 receive WQEs that stand in front: what the receiver posts in 1 us each
// comes too late for all of them.
TEST_CASE("a core that only receives limits nothing while receive WQEs are there", "[limits]") {
  const std::string entry = "operation: send, size: 64 B, messages: 500, receive_depth: 512";
  const RecordedRun slow = run_recorded(entry, {"host1.post_recv=1 us"});
  const RecordedRun fast = run_recorded(entry, {"host1.post_recv=15 ns"});
  CAPTURE(slow.line);
  CHECK(share_of(slow, "host 1's core") > 0.95);
  CHECK(slow.line.find(": host 0's core: ") != std::string::npos);
  CHECK(slow.line.find("as near") == std::string::npos);
  CHECK(double(time_of(slow)) == Approx(double(time_of(fast))).epsilon(0.01));
}

// 4096 bytes are a frame of 4154, with 24 around it 133.7 cycles of the link. The only buffer is
// free then: the next packet is cut, 8 cycles to the packetizer and 4 in it, 1 for a read of 24
// bytes upstream, 40 there, 36 in memory, 8 for the first completion of 276 bytes, 40 back, and
// begins. 271 cycles of 2.5 ns each, where a second buffer would hide all but the link.
TEST_CASE("a packet has its buffer until the link has taken it", "[limits]") {
  const RecordedRun run = run_recorded("operation: write, size: 64 KiB, messages: 60",
                                       {"connection.path_mtu=4096", "hca.packetizer.buffers=1"});
  CHECK(run.result.sizes.at(0).bandwidth->gigabits_per_second(64 << 10) ==
        Approx(4096 * 8 / (271 * 2.5)).epsilon(0.01));
}

// Each lane has one of the two buffers, and both wait as long.
TEST_CASE("what several lanes wait for is named once", "[limits]") {
  const std::string entry = "operation: write, size: 16 KiB, messages: 100, together: true";
  const RecordedRun run = run_recorded(
      entry + ", service_level: 0}, {" + entry + ", service_level: 1",
      {"connection.framing=ib_local", "connection.path_mtu=4096", "hca.link_control.mode=credits",
       "hca.link_control.buffer=64 KiB", "hca.link_control.lanes=2", "pcie.latency=2 us",
       "hca.packetizer.lane_buffers=1"});
  CAPTURE(run.line);
  CHECK(run.line.find(": hca0 packetizer lane buffers: ") != std::string::npos);
  CHECK(run.line.find("as near") == std::string::npos);
}

// 64 tags with 512 bytes each are 32 KiB, as are 32 packets of 1 KiB, and nearly buffer_bytes: more
// of one alone is no gain. The root complexes have credits for four times as much.
TEST_CASE("of two that hold as much both are named", "[limits]") {
  const std::string entry = "operation: write, size: 4 KiB, messages: 1000";
  const auto run = [&](std::vector<std::string> settings) {
    settings.insert(settings.end(),
                    {"pcie.latency=10 us", "pcie.root_posted_headers=512",
                     "pcie.root_posted_data=8192", "pcie.root_nonposted_headers=512"});
    return run_recorded(entry, settings);
  };
  const RecordedRun both = run({});
  CAPTURE(both.line);
  CHECK(both.line.find("hca0 PCIe read tags: ") != std::string::npos);
  CHECK(both.line.find("hca0 packetizer buffers: ") != std::string::npos);
  const std::string tags = "pcie.read_tags=256", buffers = "hca.packetizer.buffers=128",
                    bytes = "hca.packetizer.buffer_bytes=128 KiB";
  const double time = double(time_of(both));
  CHECK(double(time_of(run({tags}))) > 0.95 * time);
  CHECK(double(time_of(run({buffers, bytes}))) > 0.95 * time);
  CHECK(double(time_of(run({tags, buffers, bytes}))) < 0.7 * time);
}

// Half of the link's rate by a rate limit, and a host that needs nearly as long for each message:
// 4096 bytes are 4194 on the wire. At 50 Gb/s that is 671.0 ns; a post and its completion take 610
// ns, 91 % of it.
TEST_CASE("a second limit that is as near is named too", "[limits]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 4 KiB, messages: 500",
      {"connection.path_mtu=4096", "connection.rate_limit=50 Gb/s", "host0.post_send=600 ns"});
  const auto& limits = run.record.at("phases").at(0).at("limits");
  CAPTURE(run.line);
  REQUIRE(limits.size() == 2);
  CHECK(run.line.find("rate limit") != std::string::npos);
  CHECK(run.line.find("host 0's core") != std::string::npos);
  CHECK(run.line.find("; as near: ") != std::string::npos);
}

// Three sizes that the link limits, and READs, whose data the peer's link carries.
TEST_CASE("each part of a run has its limit, like ones share a line", "[limits]") {
  const RecordedRun run = run_recorded(
      "operation: write, from: 64 KiB, to: 256 KiB, messages: 60}, "
      "{operation: read, size: 64 KiB, messages: 60",
      {});
  const std::size_t end = run.line.find('\n') + 1;
  CHECK_THAT(run.line.substr(0, end),
             Catch::Matchers::Matches(
                 R"(Bottleneck, WRITE bandwidth, 65536 B to WRITE bandwidth, 262144 B, 3 parts: )"
                 R"(hca0 link transmit: (9[5-9] to )?(100|9[5-9]) % busy \(port.link_rate\)\n)"));
  CHECK(run.line.find("Bottleneck, READ bandwidth, 65536 B: hca1 link transmit: ") == end);
  CHECK(run.line.find('\n', end) + 1 == run.line.size());
}

// A thread has 140 ns to itself; three share register 0, 100 + 2 * 50 ns each turn, two register 1,
// 150 ns. The run ends with register 0.
TEST_CASE("of registers that are not alike the busiest limits", "[limits][doorbell]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 64 B, messages: 5000, qps: 5, threads: 5, inline_below: 65 B",
      {"host.doorbell_registers=2", "host.doorbell_lock=100 ns", "host.doorbell_contention=50 ns"});
  CHECK_THAT(run.line, Catch::Matchers::StartsWith("Bottleneck") &&
                           Catch::Contains("host 0's busiest doorbell register: "));
  CHECK(run.result.streams.at(0).million_messages_per_second() ==
        Approx(5 / (3 * 0.200)).epsilon(0.03));
}

// A program that waits for one message alone has no depth to change.
TEST_CASE("latency of READs has no limit", "[limits]") {
  CHECK(run_recorded("operation: read, test: latency, size: 64 B, messages: 100", {})
            .line.find("Nothing is busy enough to limit") == 0);
}

// The one with room in flight is no limit to that which has none.
TEST_CASE("of streams together the one that is full is named", "[limits]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 64 B, messages: 700, message_rate: 700000, together: true}, "
      "{operation: write, size: 4 KiB, messages: 600, depth: 1, together: true",
      {});
  CHECK_THAT(run.line, Catch::Matchers::StartsWith("Bottleneck") &&
                           Catch::Contains("host 0's messages in flight: "));
}

// A CQE each 200 ns, and both queue pairs have always some to come.
TEST_CASE("queue pairs complete in turn", "[fair]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 64 B, messages: 2000, qps: 2, threads: 2, depth: 16",
                   {"hca.completion.interval=80 cycles"});
  CHECK(run.result.streams.at(0).million_messages_per_second() == Approx(5).epsilon(0.02));
  CHECK(run.result.streams.at(0).fairness() > 0.98);
}

TEST_CASE("a rate limit: the cycles that a queue pair waits", "[limits][stalls]") {
  // A frame of a WRITE of 64 bytes over IPv4: 14 + 20 + 8 + 12 + 16 + 64 + 4 = 138, with preamble,
  // FCS and gap 162 bytes: at 1 Gb/s 1296 ns, 518.4 cycles of 2.5 ns. All but the first of 100
  // messages wait, from the cycle in which the one before is cut to their own.
  const RecordedRun run =
      run_recorded("operation: write, size: 64 B, messages: 100", {"connection.rate_limit=1 Gb/s"});
  const u64 cycles = waited(run, "hca0 requester", "rate limits");
  CHECK(cycles >= 99 * 518);
  CHECK(cycles <= 99 * 519);
}

// A SEND that finds no receive WQE waits for 0.01 ms (code 1) or longer, 4000 cycles each time.
TEST_CASE("RNR: the cycles of the timers", "[limits][stalls]") {
  const RecordedRun run =
      run_recorded("operation: send, size: 64 B, messages: 20, receive_depth: 1",
                   {"hca.transport.credits=false", "connection.min_rnr_timer=1"});
  const u64 naks = counter(run.result, "hca0.requester.rnr_naks");
  CHECK(naks > 0);
  CHECK(waited(run, "hca0 requester", "RNR timers") == naks * 4000);
}

// 4.096 us * 2^10 = 4.194304 ms are 1677721.6 cycles, which end in the 1677722nd.
TEST_CASE("transport timers: the cycles up to those that expired", "[limits][stalls]") {
  // With this seed no frame of the message alone is lost, which no part of the run counts.
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, messages: 300",
                   {"wire.bit_errors=5", "connection.timeout=10", "run.seed=2"});
  const u64 timeouts = counter(run.result, "hca0.requester.timeouts");
  CHECK(timeouts > 0);
  CHECK(waited(run, "hca0 requester", "transport timers") == timeouts * 1677722);
}

TEST_CASE("a run that waits for nothing has no stall of a queue pair", "[limits][stalls]") {
  const RecordedRun run = run_recorded("operation: write, size: 64 B, messages: 50, depth: 1", {});
  for (const auto& s : run.record.at("phases").at(0).at("stalls"))
    if (s.at("block") != "hca0 PCIe" && s.at("block") != "hca1 PCIe") {
      CAPTURE(s.dump());
      CHECK(s.at("share").get<double>() < 0.02);
    }
}

// A FetchAdd by the device reads its number and writes it: after the first each finds the line
// that the one before wrote. All but mailbox commands and the first are hits.
TEST_CASE("a run counts what the root complex had", "[counters]") {
  const RunResult atomics = run_workload("  - {operation: fetch_add, messages: 200}\n",
                                         {"pcie1.llc_bytes=1 MiB", "pcie0.iommu_entries=64"});
  CHECK(counter(atomics, "pcie1.llc_hits") >= 199);
  CHECK(counter(atomics, "pcie1.llc_reads") > counter(atomics, "pcie1.llc_hits"));
  CHECK(counter(atomics, "pcie0.walks") > 0);
  CHECK(counter(atomics, "pcie0.translations") > counter(atomics, "pcie0.walks") + 199);
}

// 1 bit in 10^6 of frames of 14 + 20 + 8 + 12 + 1024 + 4 bytes and FCS, 8688 bits: every 115th.
TEST_CASE("a run counts the frames that bit errors damaged", "[counters]") {
  const RunResult run = run_workload("  - {operation: write, size: 64 KiB, messages: 100}\n",
                                     {"wire.bit_errors=6", "connection.timeout=8"});
  const double sent = double(counter(run, "hca0.port.tx_packets"));
  CHECK(double(counter(run, "wire.damaged_from_hca0")) == Approx(sent / 115).epsilon(0.3));
  CHECK(counter(run, "hca0.requester.resent") > 0);
}
}  // namespace hca::testbench
