// SPDX-License-Identifier: Apache-2.0
// A cycle more of a block's latency or interval is seen from outside, as often as an item passes
// the block (docs/design/timing.md).
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;

namespace {
// What is timed.
//   WriteDone: from its post to its CQE as the host sees it, 64 bytes
//   SendDone: from its post to the CQE of the receiver
//   EventRaised: from the post of a WRITE to the EQE of its CQE in memory
//   CnpSent: from a marked packet's first bit on the wire to that of its CNP
//   CommandDone: from its post to `done` in memory
//   ReadDone, AtomicDone: as WriteDone
enum Traffic {
  WriteDone,
  SendDone,
  EventRaised,
  CnpSent,
  CommandDone,
  ReadDone,
  AtomicDone,
  kTraffics
};
constexpr const char* kNames[] = {"WRITE", "SEND", "event", "CNP", "command", "READ", "ATOMIC"};

struct Row {
  const char* block;
  Cycle& (*latency)(ChipConfig&);
  Cycle& (*interval)(ChipConfig&);
  std::array<u32, kTraffics> passes;  // how often an operation passes the block
  Traffic stream;  // of which operation the block limits a stream, by one item each
};
template <class Config>
Config& only(Config& config) {
  return config;
}
PortConfig& only(PerPort<PortConfig>& ports) { return ports[0]; }
template <auto kMember>
constexpr Row row(const char* block, std::array<u32, kTraffics> passes, Traffic stream) {
  return {block, [](ChipConfig& c) -> Cycle& { return only(c.*kMember).latency; },
          [](ChipConfig& c) -> Cycle& { return only(c.*kMember).interval; }, passes, stream};
}
// WRITE, with requester, responder and response: contexts and, but for the response, keys are
// looked up by each, and the key once more by responder_execute. Frames pass port and ICRC unit on
// both sides, the request and its ACK. A SEND ends at the receiver and carries no key for
// responder_check.
constexpr Row kRows[] = {
    // clang-format off
    //                                                WRITE SEND event CNP command READ ATOMIC
    row<&ChipConfig::doorbell>("doorbell",                   {1, 1, 1, 0, 1, 1, 1}, WriteDone),
    row<&ChipConfig::command>("command",                     {0, 0, 0, 0, 1, 0, 0}, CommandDone),
    row<&ChipConfig::qp_scheduler>("qp_scheduler",           {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::wqe_fetch>("wqe_fetch",                 {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::qp_context>("qp_context",               {3, 2, 3, 0, 0, 3, 3}, WriteDone),
    row<&ChipConfig::protection>("protection",               {3, 2, 3, 0, 0, 3, 3}, WriteDone),
    row<&ChipConfig::requester>("requester",                 {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::packetizer>("packetizer",               {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::icrc_unit>("icrc_unit",                 {4, 2, 4, 2, 0, 4, 4}, WriteDone),
    row<&ChipConfig::port>("port",                           {4, 2, 4, 2, 0, 4, 4}, WriteDone),
    row<&ChipConfig::responder_check>("responder_check",     {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::responder_execute>("responder_execute", {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::responder_reply>("responder_reply",     {1, 0, 1, 1, 0, 1, 1}, WriteDone),
    row<&ChipConfig::response_check>("response_check",       {1, 0, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::completion>("completion",               {1, 1, 1, 0, 0, 1, 1}, WriteDone),
    row<&ChipConfig::event>("event",                         {0, 0, 1, 0, 0, 0, 0}, EventRaised),
    row<&ChipConfig::congestion>("congestion",               {0, 0, 0, 1, 0, 0, 0}, CnpSent),
    // clang-format on
};

// The latencies that the sums below are made of; intervals of 1 unless a test says otherwise.
ChipConfig plain() {
  ChipConfig c;
  const Cycle latencies[] = {4,  20, 3, 2, 2, 2, 4, 4, 5,
                             10, 7,  3, 3, 4, 3, 2, 1};  // in the order of the rows
  for (std::size_t i = 0; i < std::size(kRows); ++i)
    kRows[i].latency(c) = latencies[i], kRows[i].interval(c) = 1;
  c.qp_scheduler.batch = 1;
  c.link_control.mode = FlowControl::Endless;
  return c;
}

// When each of `count` operations is over, each of a queue pair of its own as far as 8 go round.
std::vector<Cycle> run(const ChipConfig& chip, Traffic operation, u32 count) {
  PairConfig config;
  config.chip = chip, config.timeout = 0;
  config.qps = config.cqs = std::min(count, 8u);
  config.armed = operation == EventRaised;
  Pair pair(config);
  TestHost& host = pair.a.host;
  host.window = 64;
  if (operation == CommandDone) {
    for (u32 i = 0; i < count; ++i)
      host.command(i, proto::CommandOpcode::QueryQp, 1, proto::QpAttributes{});
    pair.advance(count * 600);
    return pair.a.writes_to(kCommands, count * u64{proto::kCommandBytes});
  }
  if (operation == SendDone) pair.b.host.post_receives(1, 4, 64);
  if (operation == CnpSent) pair.a.marks = [](const Packet&) { return true; };
  const auto opcode = operation == SendDone     ? proto::WorkOpcode::Send
                      : operation == ReadDone   ? proto::WorkOpcode::RdmaRead
                      : operation == AtomicDone ? proto::WorkOpcode::FetchAdd
                                                : proto::WorkOpcode::RdmaWrite;
  for (u32 i = 0; i < count; ++i)
    host.plan.push_back(
        {.opcode = opcode, .qpn = 1 + i % 8, .bytes = operation == AtomicDone ? 8u : 64u});
  const bool finished = pair.run();
  INFO(pair.report());
  REQUIRE(finished);
  pair.advance(operation == EventRaised || operation == CnpSent ? count * 400 : 100);
  if (operation == SendDone) return pair.b.host.received_at;
  if (operation == WriteDone || operation == ReadDone || operation == AtomicDone)
    return host.sent_at;
  if (operation == EventRaised) return pair.a.writes_to(kEqs, 4096);
  std::vector<Cycle> cnps;  // their PSN is 0; timed from the first packet's first bit on
  for (const auto& [at, psn] : pair.b.sent_frames)
    if (!psn) cnps.push_back(at - pair.a.sent_frames[0].first);
  return cnps;
}

// The host posts in cycle 1, a command is rung in cycle 0.
Cycle time_of(const ChipConfig& chip, Traffic operation) {
  const std::vector<Cycle> over = run(chip, operation, 1);
  REQUIRE(over.size() == 1);
  return over[0];
}

// Cycles between two operations in the middle of a stream.
double spacing(const ChipConfig& chip, Traffic operation) {
  const u32 count = operation == WriteDone ? 48 : 8, from = count / 2;
  const std::vector<Cycle> over = run(chip, operation, count);
  REQUIRE(over.size() == count);
  return double(over[count - 2] - over[from]) / (count - 2 - from);
}
}  // namespace

// WRITE   0 post; +20 at the BAR, +4 doorbell, +3 qp_scheduler, +2 wqe_fetch: 29 read of a 128-byte
// WQE, +120 there and back,
//         +1 second beat: 150 requester, +2 context, +2 key, +4, +4 packetizer: 162 read of the
//         payload, +120: 282 port, +5 ICRC, +10: 297 on the wire, +40, +10 port, +4 headers (128
//         bytes of 31.25 a cycle), +5 ICRC: 356 responder_check, +2 context, +2 key, +7: 367
//         responder_execute, +2 key, +3: 372 write, ordered in 373, +1: 374 responder_reply, +3:
//         377 port, +5, +10: 392 on the wire, +40, +10, +1 (62 bytes), +5: 448 response_check, +2,
//         +4: 454 requester, +1: 455 completion, +3: 458 write, +60: 518 in memory, +1 seen: 519.
// SEND    as far as the wire: 297, +40, +10, +3 (122 bytes), +5: 355, +2 context, +7: 364
// responder_execute, +2, +3: 369
//         write, 370 ordered, +1: 371 completion, +3, +60: 434 in memory, 435 seen.
// event   518 the CQE is in memory, 519 completion hears of it, 520 event, +2, +60: 582 in memory.
// READ    162 as a WRITE; without payload it is seen where an empty read would bring it, 164
// port, +5, +10: 179 on the wire, +40, +10, +2 (74 bytes), +5: 236 responder_check, +2, +2, +7: 247
//         responder_execute, +2, +3: 252 it begins, +1: 253 read, +120: 373 its data are here, +1:
//         374 responder_reply, +3: 377 port, +5, +10: 392 on the wire, +40, +10, +4 (126 bytes),
//         +5: 451 response_check, +2, +4: 457 requester, +1: 458 write, ordered in 459, +1: 460
//         completion, +3, +60: 523 in memory, 524 seen.
// ATOMIC  as a READ (86 bytes) to 253 read of the value, 373 it is here, +1: 374 write, ordered in
// 375, +1: 376 responder_reply, +3, +5, +10: 394 on the wire, +40, +10, +2 (70 bytes), +5: 451 as
// before.
// CNP     the last byte is known good in 356, +1 congestion, +3 responder_reply, +5, +10: 375 on
// the wire, 297 in front. command see command_test.cpp: 240.
TEST_CASE("an operation takes the sum of the latencies that it passes", "[chip][timing]") {
  constexpr Cycle kPost = 1;
  CHECK(time_of(plain(), WriteDone) == kPost + 519);
  CHECK(time_of(plain(), SendDone) == kPost + 435);
  CHECK(time_of(plain(), EventRaised) == kPost + 582);
  CHECK(time_of(plain(), CnpSent) == 375 - 297);
  CHECK(time_of(plain(), CommandDone) == 240);
  CHECK(time_of(plain(), ReadDone) == kPost + 524);
  CHECK(time_of(plain(), AtomicDone) == kPost + 524);
}

TEST_CASE("a cycle more of a block's latency is seen as often as the operation passes the block",
          "[chip][timing]") {
  std::array<Cycle, kTraffics> before;
  for (int i = 0; i < kTraffics; ++i) before[i] = time_of(plain(), Traffic(i));
  for (const Row& r : kRows)
    for (int i = 0; i < kTraffics; ++i) {
      ChipConfig later = plain();
      ++r.latency(later);
      CAPTURE(r.block, kNames[i]);
      CHECK(time_of(later, Traffic(i)) - before[i] == r.passes[i]);
    }
}

// A block that takes an item each 300 cycles is slower than all others together: a stream runs at
// its pace. A command is written back 216 cycles after it is taken (command_test.cpp), the next one
// is taken `interval` cycles later.
TEST_CASE("a cycle more of a block's interval is seen in the spacing of a stream",
          "[chip][timing]") {
  for (const Row& r : kRows)
    for (const Cycle interval : {300, 301}) {
      ChipConfig slow = plain();
      r.interval(slow) = interval;
      CAPTURE(r.block, interval);
      CHECK(spacing(slow, r.stream) == double(interval + (r.stream == CommandDone ? 216 : 0)));
    }
}
