// SPDX-License-Identifier: Apache-2.0
// Each ready scenario shows what its first sentence says: a number for each.
#include <catch2/catch.hpp>

#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
constexpr u64 kMicrosecond = 1'000'000, kNanosecond = 1'000;

const SizeResult& row(const RunResult& result, Operation operation) {
  for (const SizeResult& r : result.sizes)
    if (r.operation == operation) return r;
  throw std::runtime_error("no such row");
}
double p50(const RunResult& result, Operation operation) {
  return double(row(result, operation).latency->picoseconds.percentile(50).value());
}
double each(const RunResult& result, Operation operation) {  // ps a message of its stream
  for (const SizeResult& r : result.sizes)
    if (r.operation == operation && r.bandwidth)
      return double(r.bandwidth->picoseconds) / double(r.bandwidth->messages);
  throw std::runtime_error("no such stream");
}
double gigabits(const RunResult& result, Operation operation) {
  const SizeResult& r = row(result, operation);
  return r.bandwidth->gigabits_per_second(r.bytes);
}
// Of a stream of full packets of 1024 B over RoCEv2 at 100 Gb/s: 14 + 20 + 8 + 12 + 4 bytes of
// headers and ICRC, 24 of FCS, preamble and gap; 16 of RETH in the first of a message.
double link_gigabits(double message) {
  return 100 * message / (message + message / 1024 * 82 + 16);
}
}  // namespace

TEST_CASE("scenario read_round_trip: a READ crosses the wire once more", "[scenarios]") {
  const RunResult far = run_ready("read_round_trip");
  const RunResult near = run_ready("read_round_trip", {"wire.latency=1 us"});
  // The wire is 9 us shorter: once in a WRITE's latency, twice in a READ's.
  CHECK(p50(far, Operation::Write) - p50(near, Operation::Write) == 9.0 * kMicrosecond);
  CHECK(p50(far, Operation::Read) - p50(near, Operation::Read) == 18.0 * kMicrosecond);
  CHECK(p50(far, Operation::Read) - p50(far, Operation::Write) ==
        Approx(10.0 * kMicrosecond).epsilon(0.1));
}

TEST_CASE("scenario event_or_poll: an interrupt each way, seldom where the queue is full",
          "[scenarios]") {
  const RunResult result = run_ready("event_or_poll");
  const double poll = p50(result, Operation::Send), event = p50(result, Operation::SendImmediate);
  CHECK(event - poll == Approx(2.0 * kMicrosecond).epsilon(0.1));
  CHECK(each(result, Operation::SendImmediate) ==
        Approx(each(result, Operation::Send)).epsilon(0.01));
  // 2000 + 2000 + 400 + 2 * 2 completions of the client, of which it waited for less than a fourth.
  CHECK(counter(result, "hca0.completion.events") < counter(result, "hca0.completion.cqes") / 4);
}

TEST_CASE("scenario read_depth: one READ in flight has size / round trip", "[scenarios]") {
  const RunResult one = run_ready("read_depth", {"workload[0].messages=100"});
  const RunResult near = run_ready("read_depth", {"workload[0].messages=100", "wire.latency=1 us"});
  // The round trip is two crossings of the wire and what the chips take, about 1 us.
  const double read = each(one, Operation::Read);
  CHECK(read > 20.0 * kMicrosecond);
  CHECK(read < 22.0 * kMicrosecond);
  CHECK(read - each(near, Operation::Read) == Approx(18.0 * kMicrosecond).epsilon(0.02));
  const RunResult four =
      run_ready("read_depth", {"workload[0].messages=400", "connection.max_rd_atomic=4"});
  CHECK(read / each(four, Operation::Read) == Approx(4).epsilon(0.05));
  // 64 messages of 4 KiB in a round trip of 21 us are the link's rate.
  CHECK(gigabits(one, Operation::Write) > 10 * gigabits(one, Operation::Read));
}

TEST_CASE("scenario loss: a lost packet costs a round trip and the buffers", "[scenarios]") {
  const RunResult lossy = run_ready("loss");
  const RunResult clean = run_ready(
      "loss", {"faults[0].psn=16777215", "faults[1].psn=16777215", "faults[2].psn=16777215"});
  CHECK(lossy.faults.size() == 3);
  CHECK(clean.faults.empty());
  // A packet takes 1106 B / 100 Gb/s = 88.5 ns. Between the loss and its repetition lie two
  // crossings of the wire, at most the 32 packets of packetizer.buffers and less than 1.5 us in
  // both chips.
  const double lost = (each(lossy, Operation::Write) - each(clean, Operation::Write)) * 400 / 3;
  CHECK(lost > 20.0 * kMicrosecond);
  CHECK(lost < 20.0 * kMicrosecond + 32 * 88.5 * kNanosecond + 1.5 * kMicrosecond);
  const double resent = double(counter(lossy, "hca0.requester.resent")) / 3;
  CHECK(resent > 20'000 / 88.5);
  CHECK(resent < 24'400 / 88.5);
}

TEST_CASE("scenario open_loop: flat below capacity, a full queue above", "[scenarios]") {
  const RunResult result = run_ready("open_loop");
  REQUIRE(result.streams.size() == 3);
  const auto latency = [&](int i, double percent) {
    return double(result.streams[i].latency.percentile(percent).value());
  };
  for (int i : {0, 1}) {
    CHECK(result.streams[i].dropped == 0);
    CHECK(latency(i, 50) < 3.0 * kMicrosecond);
    // The mean of 20000 distances is within 2 % (three standard deviations).
    CHECK(result.streams[i].gigabits_per_second() == Approx(i ? 80 : 50).epsilon(0.02));
  }
  const StreamResult& over = result.streams[2];
  CHECK(over.gigabits_per_second() == Approx(link_gigabits(4096)).epsilon(0.005));
  CHECK(over.queued_most == 200);
  // Little's law: 200 in the queue and 16 in flight leave at the rate of the link.
  const double message = 4096 * 8 / link_gigabits(4096) * kNanosecond;
  CHECK(latency(2, 50) == Approx(216 * message).epsilon(0.02));
  // All that is planned while 20000 - 216 leave, less what is taken; four standard deviations.
  const double planned = 19'784 * message / (4096 * 8 / 120.0 * kNanosecond);
  CHECK(double(over.dropped) == Approx(planned - 20'000).margin(650));
}

TEST_CASE("scenario many_qps: 64 queue pairs share evenly at full rate", "[scenarios]") {
  const RunResult result = run_ready("many_qps");
  REQUIRE(result.streams.size() == 3);
  for (const StreamResult& s : result.streams) {
    INFO(s.what);
    CHECK(s.qp_picoseconds.size() == 64);
    CHECK(s.fairness() > 0.95);
    CHECK(s.gigabits_per_second() == Approx(link_gigabits(4096)).epsilon(0.01));
  }
}

TEST_CASE("scenario two_ports: twice the rate of one, and loss on one wire is its own",
          "[scenarios][ports]") {
  const RunResult result = run_ready("two_ports");
  REQUIRE(result.streams.size() == 2);
  const double one = gigabits(result, Operation::Write);
  CHECK(one == Approx(link_gigabits(65536)).epsilon(0.01));
  for (const StreamResult& s : result.streams)
    CHECK(s.gigabits_per_second() == Approx(one).epsilon(0.01));
  // 64 packets of each message, all of entry 0 and 1 through port 1.
  CHECK(counter(result, "hca0.port1.tx_packets") == 600 * 64);
  CHECK(counter(result, "hca0.port2.tx_packets") == 300 * 64);

  // 16 lanes of 8 GT/s with 128b/130b, less 8.1 % of overhead, carry 115.8 Gb/s; of a payload of
  // 256 bytes 20 more are the completion's header: 107.4 Gb/s for both.
  const RunResult narrow = run_ready("two_ports", {"pcie.generation=3"});
  double sum = 0;
  for (const StreamResult& s : narrow.streams) sum += s.gigabits_per_second();
  CHECK(sum == Approx(107.4).epsilon(0.02));
  CHECK(narrow.streams[0].gigabits_per_second() ==
        Approx(narrow.streams[1].gigabits_per_second()).epsilon(0.01));

  const RunResult lossy = run_ready("two_ports", {"faults[0].per_million=5000"});
  REQUIRE(!lossy.faults.empty());
  for (const WireFault& fault : lossy.faults) CHECK(fault.sender.port == 0);
  CHECK(lossy.streams[0].gigabits_per_second() < 0.9 * one);
  CHECK(lossy.streams[1].gigabits_per_second() == Approx(one).epsilon(0.01));
}

TEST_CASE("scenario slow_receiver: the receiver sets the rate by RNR NAKs", "[scenarios]") {
  const RunResult result = run_ready("slow_receiver", {"workload[0].messages=400"});
  // 2 us for each receive WQE and 10 ns for its completion.
  CHECK(each(result, Operation::Send) > 2.01 * kMicrosecond * 396 / 400);
  CHECK(each(result, Operation::Send) < 2 * 2.01 * kMicrosecond);
  CHECK(counter(result, "hca1.responder_reply.rnr_naks") > 10);
  const RunResult longer =
      run_ready("slow_receiver", {"workload[0].messages=400", "connection.min_rnr_timer=16"});
  CHECK(each(longer, Operation::Send) > 10 * each(result, Operation::Send));
}

TEST_CASE("scenario two_directions: both together are nearly twice one", "[scenarios]") {
  const RunResult result = run_ready("two_directions", {"workload[1].messages=300"});
  REQUIRE(result.streams.size() == 2);
  CHECK(result.streams[1].backward);
  const double one = gigabits(result, Operation::Write);
  const double both =
      result.streams[0].gigabits_per_second() + result.streams[1].gigabits_per_second();
  CHECK(one == Approx(link_gigabits(65536)).epsilon(0.005));
  CHECK(both > 1.95 * one);
  CHECK(both < 2 * one);
}

TEST_CASE("scenario pcie_bound: the host interface is the bottleneck", "[scenarios]") {
  const RunResult result = run_ready("pcie_bound");
  // Reads of the payload on the line downstream: 256 of 256 + 20 bytes; WQEs take a little more.
  const double bound = 8 * 8 * 128.0 / 130 * 0.919 * 256 / 276;
  CHECK(gigabits(result, Operation::Write) < bound);
  CHECK(gigabits(result, Operation::Write) > 0.97 * bound);
  const RunResult faster = run_ready("pcie_bound", {"pcie.generation=4"});
  CHECK(gigabits(faster, Operation::Write) == Approx(link_gigabits(65536)).epsilon(0.005));
}

TEST_CASE("scenario read_and_write: a mix moves more than one direction can", "[scenarios]") {
  const RunResult result = run_ready("read_and_write");
  REQUIRE(result.streams.size() == 3);
  for (int i : {0, 1})
    CHECK(result.streams[i].gigabits_per_second() == Approx(link_gigabits(16384)).epsilon(0.01));
  CHECK(result.streams[2].gigabits_per_second() > 1.7 * link_gigabits(16384));
}

TEST_CASE("scenario atomics: one after the other, however many queue pairs", "[scenarios]") {
  const RunResult result = run_ready("atomics", {"workload[0].messages=1000"});
  REQUIRE(result.streams.size() == 1);
  const double one = each(result, Operation::FetchAdd);
  CHECK(1e6 / result.streams[0].million_messages_per_second() == Approx(one).epsilon(0.01));
  // 90 ns are the default.
  const RunResult later =
      run_ready("atomics", {"workload[0].messages=1000", "pcie1.memory_latency=190 ns"});
  CHECK(each(later, Operation::FetchAdd) - one == Approx(100.0 * kNanosecond).epsilon(0.02));
}

TEST_CASE("scenario small_beside_large: small messages wait for packets, not for messages",
          "[scenarios]") {
  const RunResult result = run_ready("small_beside_large");
  REQUIRE(result.streams.size() == 3);
  const auto latency = [&](int i) {
    return double(result.streams[i].latency.percentile(50).value());
  };
  // 4 KiB take 4178 * 8 / 100 ns. The packet buffers hold 32 KiB: eight such packets are before it,
  // 2.7 us, and the one on the wire.
  CHECK(latency(1) - latency(0) > 7 * 4178 * 0.08 * kNanosecond);
  CHECK(latency(1) - latency(0) < 10 * 4178 * 0.08 * kNanosecond);
  CHECK(result.streams[2].gigabits_per_second() > 95);
}

TEST_CASE("scenario datagrams: what the wire loses is lost, and counted", "[scenarios][SVC-9]") {
  const RunResult result = run_ready("datagrams");
  u64 faults = 0;
  for (const WireFault& f : result.faults)
    faults +=
        f.record.action == tlm_::FaultAction::Drop || f.record.action == tlm_::FaultAction::Corrupt;
  // 1.1 % of 20000 are 220, give or take.
  CHECK(faults > 150);
  CHECK(result.lost == faults);
  CHECK(result.messages + result.lost == 20000);
  CHECK(counter(result, "hca0.requester.resent") == 0);
}
}  // namespace hca::testbench
