// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_reply.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct ReplyBench : Bench {
  ReplyBench(const ResponderReplyConfig& c, const Plan<Reply>& answers,
             const Plan<Reply>& cnps = {}, unsigned depth = 64, Cycle from = 0, unsigned ports = 1)
      : config(c), reply(config, contexts, ports) {
    set_up(contexts, 4);
    add(reply, "responder_reply");
    feed(reply.ports[0].replies_in, reply, answers);
    feed(reply.ports[0].cnps_in, reply, cnps);
    packets = &take(reply.ports[0].packets_out, reply, depth, from);
    if (ports == 1) return;
    feed(reply.ports[1].replies_in, reply, {}), feed(reply.ports[1].cnps_in, reply, {});
    take(reply.ports[1].packets_out, reply);
  }
  Cycles seen() {
    domain.run_until(300);
    return packets->seen;
  }
  ResponderReplyConfig config;
  device::Contexts contexts;
  ResponderReply reply;
  Taker<Packet*, kMostPackets>* packets = nullptr;
};
constexpr Reply ack(u32 qpn, u32 psn = 1) { return {qpn, psn, 1, 0x1f}; }
constexpr Reply nak(u32 qpn, u32 psn = 1) { return {qpn, psn, 1, 0x60}; }
constexpr Reply cnp(u32 qpn) { return {qpn, 0, 0, 0, true}; }
}  // namespace

TEST_CASE("an answer reaches the port after the latency, the next one an interval later",
          "[responder_reply]") {
  const ResponderReplyConfig config{.latency = 3, .interval = 5};
  CHECK(ReplyBench(config, {{10, ack(1)}, {14, ack(2)}}).seen() ==
        Cycles{13, 15 + 3});  // blocked in 14
  CHECK(ReplyBench(config, {{10, ack(1)}, {15, ack(2)}}).seen() ==
        Cycles{13, 15 + 3});  // ready in 15
  CHECK(ReplyBench(config, {{10, ack(1)}, {16, ack(2)}}).seen() == Cycles{13, 16 + 3});
}

TEST_CASE("an answer waits for room in front of the port", "[responder_reply]") {
  CHECK(ReplyBench({.latency = 3, .interval = 1}, {{10, ack(1)}, {11, ack(2)}}, {}, 1, 50).seen() ==
        Cycles{50, 51 + 3});
}

TEST_CASE("an ACK that waits is overtaken by the next of its queue pair, a NAK is not",
          "[responder_reply][G4.2][G4.4]") {
  ReplyBench bench(
      {.latency = 3, .interval = 10},
      {{10, ack(1, 1)}, {11, ack(1, 2)}, {12, ack(1, 3)}, {13, nak(1, 4)}, {14, ack(1, 5)}});
  CHECK(bench.seen() == Cycles{13, 23, 33, 43});
  CHECK(bench.packets->items[1]->psn == 3);
  CHECK(bench.packets->items[2]->psn == 4);
  CHECK(bench.reply.counters.coalesced == 1);
}

TEST_CASE("an ACK that is overtaken hands its BECN on, once", "[responder_reply][G26.1]") {
  Reply congested = ack(1, 2);
  congested.becn = true;
  ReplyBench bench({.latency = 3, .interval = 10},
                   {{10, ack(1, 1)}, {11, congested}, {12, ack(1, 3)}, {25, ack(1, 4)}});
  CHECK(bench.seen() == Cycles{13, 23, 33});
  const auto becn = [&](std::size_t i) {
    const Packet& p = *bench.packets->items[i];
    return proto::decode<proto::Bth>(p.frame() + p.shape.transport_offset).becn;
  };
  CHECK_FALSE(becn(0));
  CHECK(bench.packets->items[1]->psn == 3);
  CHECK(becn(1));
  CHECK_FALSE(becn(2));
}

TEST_CASE(
    "each ACK has its own PSN, MSN and syndrome behind the headers of its queue pair as it is then",
    "[responder_reply]") {
  Reply congested = ack(1, 8);
  congested.becn = true;
  ReplyBench bench({.latency = 3, .interval = 1}, {{10, ack(1, 5)},
                                                   {20, {1, 6, 9, 0x2a}},
                                                   {30, congested},
                                                   {40, {1, 9, 2, 0x61}},
                                                   {150, ack(1, 10)}});
  bench.domain.run_until(100);
  bench.contexts.qps[1].dest_qpn = 0x777, bench.contexts.qps[1].pkey = 0x8123;
  ++bench.contexts.version;
  const u32 before = proto::decode<proto::Bth>(bench.packets->items[0]->frame() +
                                               bench.packets->items[0]->shape.transport_offset)
                         .dest_qp;
  bench.seen();
  REQUIRE(bench.packets->items.size() == 5);
  const Reply told[] = {ack(1, 5), {1, 6, 9, 0x2a}, congested, {1, 9, 2, 0x61}, ack(1, 10)};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO(i);
    const Packet& p = *bench.packets->items[i];
    const u8* const at = p.frame() + p.shape.transport_offset;
    const auto bth = proto::decode<proto::Bth>(at);
    const auto aeth = proto::decode<proto::Aeth>(at + proto::bytes_of<proto::Bth>());
    CHECK(bth.opcode == 0x11);
    CHECK(bth.psn == told[i].psn);
    CHECK(bth.becn == told[i].becn);
    CHECK(bth.dest_qp == (i < 4 ? before : 0x777));
    CHECK((bth.pkey == 0x8123) == (i == 4));
    CHECK(aeth.syndrome == told[i].syndrome);
    CHECK(aeth.msn == told[i].msn);
    CHECK(p.shape.payload_offset == p.shape.transport_offset + proto::bytes_of<proto::Bth>() +
                                        proto::bytes_of<proto::Aeth>());
    CHECK(p.shape.payload_bytes == 0);
  }
}

TEST_CASE("answers that wait in front of a full queue are taken when it has room",
          "[responder_reply]") {
  // Depth 1: the second waits inside from 11 on, the third in front until the second leaves in 20.
  CHECK(ReplyBench({.latency = 3, .interval = 10, .depth = 1},
                   {{10, ack(1)}, {11, ack(2)}, {12, ack(3)}})
            .seen() == Cycles{13, 23, 33});
  CHECK(ReplyBench({.latency = 3, .interval = 10, .depth = 1}, {{10, ack(1)}, {11, ack(2)}},
                   {{10, cnp(3)}})
            .seen() == Cycles{13, 23, 33});
}

TEST_CASE("a CNP that comes with an answer is taken a cycle later", "[responder_reply]") {
  for (const unsigned ports : {1u, 2u})
    CHECK(ReplyBench({.latency = 3, .interval = 1}, {{10, ack(1)}}, {{10, cnp(3)}}, 64, 0, ports)
              .seen() == Cycles{13, 14});
}
