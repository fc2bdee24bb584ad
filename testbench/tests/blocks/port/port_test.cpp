// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/port.h"

#include <catch2/catch.hpp>

#include "model/proto/transport/multicast.h"
#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
constexpr u64 kClock = 400'000'000;  // at 100 Gb/s 31.25 bytes a cycle

struct Wire : Outside {
  bool read_memory(u64, std::span<u8>, u32, Cycle) override { return true; }
  bool write_memory(u64, std::span<const u8>, u32, Cycle) override { return true; }
  void transmit(Packet* p, Cycle at) override { sent.push_back(at), psns.push_back(p->psn); }
  Cycles sent;
  std::vector<u32> psns;
};

// Packets of 64 bytes: 14 + 20 + 8 + 12 + 16 bytes of headers, the payload, the ICRC: 138 bytes.
struct TransmitBench : Bench {
  TransmitBench(const PortConfig& c, const IcrcUnitConfig& icrc, const Cycles& requests,
                const Cycles& replies = {}, u32 payload = 64, const Cycles& not_read = {},
                bool tell_sent = false)
      : config(c), bytes(payload), tells_sent(tell_sent), port(config, icrc, kClock, wire) {
    set_up(contexts, 1);
    add(port, "port_transmit");
    buffers.connect(port.self, "packet buffers");
    port.counters = &counters;
    feed(port.requests_in, port, packets(requests, true));
    feed(port.not_read_in, port, packets(not_read, true, 200));
    feed(port.replies_in, port, packets(replies, false));
  }
  Plan<Packet*> packets(const Cycles& at, bool requests, u32 psn = 100) {
    Plan<Packet*> plan;
    for (const Cycle cycle : at) {
      plan.push_back({cycle, write_packet(pool, contexts.qps[1], psn++, bytes)});
      plan.back().second->is_request = requests, plan.back().second->tells_sent = tells_sent;
      plan.back().second->buffers = nullptr;
      if (requests) plan.back().second->take_buffer(buffers);
    }
    return plan;
  }
  Cycles sent() {
    domain.run_until(500);
    return wire.sent;
  }
  PortConfig config;
  u32 bytes;
  bool tells_sent;
  device::Contexts contexts;
  Wire wire;
  PortCounters counters;
  engine::Budget buffers{16};
  PacketPool pool;
  PortTransmit port;
};

struct ReceiveBench : Bench {
  ReceiveBench(const PortConfig& c, const IcrcUnitConfig& icrc, unsigned depth = 64, Cycle from = 0,
               u32 qps = 1)
      : config(c), port(config, icrc, kClock, contexts, responder, response, congestion) {
    set_up(peer, qps), set_up(contexts, qps, true);
    add(port, "port_receive");
    port.packets_in.connect(port.self, "wire");
    feed(port.bells_in, port, {});
    requests = &take(port.outputs.requests_out, port, depth, from);
    take(port.outputs.acks_out, port), take(port.outputs.cnps_out, port),
        take(port.outputs.bells_out, port);
  }
  void arrive(Cycle at, u32 psn, u32 bytes) {
    port.arrive(write_packet(pool, peer.qps[1], psn, bytes), at);
  }
  Cycles seen() {
    domain.run_until(1000);
    return requests->seen;
  }
  PortConfig config;
  device::Contexts peer;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  ResponderCheck responder{check_config, context, contexts, protection};
  ResponseCheck response{{}, context, contexts};
  Congestion congestion{{}, kClock};
  PacketPool pool;
  PortReceive port;
  Taker<Packet*, kMostPackets>* requests = nullptr;
  static inline const ResponderCheckConfig check_config{.latency = 7, .interval = 1};
};
constexpr Cycle kChecks = 2 + 2 + 7;  // context, key, rules
}  // namespace

// With 24 bytes around its frame a packet takes 162 / 31.25 = 5.184 cycles of the wire: starts at
// 10, 15.184, 20.368, 25.552, in the cycle after if there is a fraction.
TEST_CASE(
    "a packet is on the wire after the latencies of ICRC unit and port, the next when the link is "
    "free",
    "[port]") {
  const PortConfig config{.latency = 10, .interval = 1};
  CHECK(TransmitBench(config, {.latency = 5}, {10, 10, 10, 10}).sent() ==
        Cycles{25, 16 + 15, 21 + 15, 26 + 15});
  CHECK(TransmitBench(config, {.latency = 5}, {10, 15}).sent() ==
        Cycles{25, 16 + 15});  // blocked in 15
  CHECK(TransmitBench(config, {.latency = 5}, {10, 16}).sent() ==
        Cycles{25, 16 + 15});  // ready in 16
  CHECK(TransmitBench(config, {.latency = 5}, {10, 17}).sent() == Cycles{25, 17 + 15});
}

// The buffer of a packet that starts in 10 is free in 16, when the link has taken all of it; with
// an ICRC unit that takes 20 cycles a packet in 30.
TEST_CASE("a packet has its buffer until the link has taken all of it, used at n - 1, free at n",
          "[port]") {
  for (const auto& [interval, free] : {std::pair{1, 16}, std::pair{20, 30}}) {
    TransmitBench bench({}, {.latency = 5, .interval = Cycle(interval)}, {10});
    while (bench.buffers.available()) bench.buffers.take();
    bench.domain.run_until(Cycle(free));
    CHECK(bench.wire.sent.size() == 1);
    CHECK_FALSE(bench.buffers.available());
    bench.domain.run_until(Cycle(free) + 1);
    CHECK(bench.buffers.available());
  }
}

// The same starts. Four that are there in 10 wait for the link in 11 to 15, 17 to 20 and 22 to 25.
TEST_CASE("the cycles in which packets wait for a busy link are counted", "[port][stalls]") {
  const auto waits = [](const PortConfig& config, const Cycles& requests, const Cycles& replies,
                        const Cycles& not_read = {}) {
    TransmitBench bench(config, {.latency = 5}, requests, replies, 64, not_read);
    bench.sent();
    return bench.counters.waits_link;
  };
  CHECK(waits({}, {10, 10, 10, 10}, {}) == 5 + 4 + 4);
  CHECK(waits({}, {10, 10}, {10, 10}) == 5 + 4 + 4);
  CHECK(waits({}, {10, 10}, {}, {10, 10}) == 5 + 4 + 4);
  CHECK(waits({}, {10}, {12}) == 4);  // in 12 to 15
  CHECK(waits({}, {10, 15}, {}) == 1);
  CHECK(waits({}, {10, 16}, {}) == 0);
  CHECK(waits({.interval = 7}, {10, 10}, {}) == 0);  // the port is slower
}

TEST_CASE("a cycle of latency or interval of the port or of its ICRC unit is seen on the wire",
          "[port][icrc_unit]") {
  const Cycles two{10, 10};
  CHECK(TransmitBench({.latency = 11, .interval = 20}, {.latency = 5}, two).sent() ==
        Cycles{26, 46});
  CHECK(TransmitBench({.latency = 10, .interval = 21}, {.latency = 5}, two).sent() ==
        Cycles{25, 46});
  CHECK(TransmitBench({.latency = 10}, {.latency = 6, .interval = 20}, two).sent() ==
        Cycles{26, 46});
  CHECK(TransmitBench({.latency = 10}, {.latency = 5, .interval = 21}, two).sent() ==
        Cycles{25, 46});
}

TEST_CASE("requests and replies take turns on one link", "[port]") {
  TransmitBench bench({.latency = 10, .interval = 20}, {.latency = 5}, {10, 10}, {11, 11});
  CHECK(bench.sent() == Cycles{25, 45, 65, 85});
  CHECK(bench.counters.tx_packets == 4);
}

// PSNs from 100 on were read, from 200 on were not. The link starts one in 10, 16, 21, 26, 31 and
// 36; the reply, which comes in 17, is before the request that is seen in 12.
TEST_CASE("of requests that were read and others the one that was seen first is sent", "[port]") {
  TransmitBench bench({.latency = 10}, {.latency = 5}, {10, 12}, {17}, 64, {10, 11, 30});
  CHECK(bench.sent() == Cycles{25, 16 + 15, 21 + 15, 26 + 15, 31 + 15, 36 + 15});
  CHECK(bench.wire.psns == std::vector<u32>{200, 100, 100, 201, 101, 202});
  CHECK(bench.buffers.available());
}

// That the first one is sent is heard in 50, so that the second one may leave in 51.
TEST_CASE("a packet waits for room to tell that it is sent", "[port]") {
  TransmitBench bench({.latency = 10, .interval = 1}, {.latency = 5}, {10, 11}, {}, 64, {}, true);
  const auto& told = bench.take(bench.port.sent_out, bench.port, 1, 50, "sent messages");
  CHECK(bench.sent() == Cycles{25, 51 + 15});
  CHECK(told.seen == Cycles{50, 52});
}

TEST_CASE("a long packet behind slow short ones does not overlap them on the wire",
          "[port][icrc_unit]") {
  // Each packet enters the ICRC unit when it leaves its queue: nothing piles up between queue and
  // wire.
  TransmitBench bench({.latency = 10}, {.latency = 5, .interval = 50}, {10, 10, 10});
  bench.domain.run_until(100);
  CHECK(bench.wire.sent == Cycles{25, 75});  // the third starts in 110
}

// The 128th byte of a frame is in 5 cycles after its first bit, in the cycle 4 after the first one.
// The 138 bytes of a small frame need 5 cycles as well, the 1098 bytes of a large one 36.
TEST_CASE("a packet is taken when its headers are in, or all of it", "[port]") {
  const auto seen = [](RxForward forward, u32 bytes) {
    ReceiveBench bench({.latency = 10, .interval = 1, .rx_forward = forward}, {.latency = 5});
    bench.arrive(100, 100, bytes);
    return bench.seen();
  };
  CHECK(seen(RxForward::CutThrough, 64) == Cycles{100 + 10 + 4 + 5 + kChecks});
  CHECK(seen(RxForward::Store, 64) == Cycles{100 + 10 + 4 + 5 + kChecks});
  CHECK(seen(RxForward::CutThrough, 1024) == Cycles{100 + 10 + 4 + 5 + kChecks});
  CHECK(seen(RxForward::Store, 1024) == Cycles{100 + 10 + 35 + 5 + kChecks});
}

// 1098 bytes in 110 to 145, then at once 138 bytes in 146 to 150. The long frame's 18 beats went
// through the ICRC unit as they came: the short one does not wait for them until 163.
TEST_CASE("a stored packet takes its arrival and the latencies, whatever came in front of it",
          "[port][icrc_unit]") {
  ReceiveBench bench({.latency = 10, .interval = 1, .rx_forward = RxForward::Store},
                     {.latency = 5});
  bench.arrive(100, 100, 1024), bench.arrive(136, 101, 64);
  CHECK(bench.seen() == Cycles{145 + 5 + kChecks, 150 + 5 + kChecks});
  CHECK(bench.requests->items.at(1)->last == 150 + 5);
}

TEST_CASE("the last byte of a packet is known good the ICRC unit's latency after it arrived",
          "[port][icrc_unit]") {
  ReceiveBench bench({.latency = 10, .rx_forward = RxForward::CutThrough}, {.latency = 5});
  bench.arrive(100, 100, 1024);
  bench.seen();
  CHECK(bench.requests->items.at(0)->last == 100 + 10 + 35 + 5);
}

TEST_CASE("within the interval of port or ICRC unit a packet is blocked at n - 1 and taken at n",
          "[port][icrc_unit]") {
  // The first is taken in 114, the second comes as early as 127.
  for (const Cycle interval : {13, 14, 20}) {
    ReceiveBench port({.latency = 10, .interval = interval}, {.latency = 5});
    ReceiveBench icrc({.latency = 10}, {.latency = 5, .interval = interval});
    for (ReceiveBench* bench : {&port, &icrc}) {
      bench->arrive(100, 100, 64), bench->arrive(113, 101, 64);
      const Cycle first = 114 + 5 + kChecks;
      CHECK(bench->seen() == Cycles{first, first + interval});
    }
  }
}

TEST_CASE("a packet is taken when there is room behind the port, not before", "[port]") {
  // One room, taken with the first in 114, free again in 301.
  ReceiveBench bench({.latency = 10}, {.latency = 5}, 1, 300);
  bench.arrive(100, 100, 64), bench.arrive(120, 101, 64);
  CHECK(bench.seen() == Cycles{300, 301 + 5 + kChecks});
}

// 122 bytes, 3.9 cycles: the last one is in 103, the request is taken in 113, its event goes a
// cycle later and is seen in the next.
TEST_CASE("the event of an SRQ's limit follows the request that takes the WQE", "[port][SRQ-6]") {
  ReceiveBench bench({}, {.latency = 5});
  auto& events = bench.take(bench.port.outputs.events_out, bench.port);
  device::Contexts& contexts = bench.contexts;
  contexts.srqs.resize(2);
  contexts.srqs[1].allocated = true, contexts.srqs[1].posted = 2, contexts.srqs[1].limit = 2;
  contexts.qps[1].srqn = 1;
  bench.port.arrive(write_packet(bench.pool, bench.peer.qps[1], 100, 64, proto::WorkOpcode::Send),
                    100);
  REQUIRE(bench.seen().size() == 1);
  CHECK(events.seen == Cycles{115});
}

// Two queue pairs of a group. Of the datagram, 130 bytes or 4.2 cycles, the last byte is in 104; it
// is taken in 114, its copies follow in 115 and 116, and a packet that is here in 115 is taken in
// 117, if one is. The copies are known good with the datagram, in 119, and are judged 2 cycles of
// context and 7 of the rules later, one a cycle; the packet has a key besides.
TEST_CASE("copies of a multicast datagram follow one a cycle, and what comes behind it after them",
          "[port][G25.2]") {
  ReceiveBench bench({.latency = 10, .rx_forward = RxForward::Store}, {.latency = 5}, 64, 0, 3);
  device::Contexts& contexts = bench.contexts;
  proto::Gid group{};
  group.bytes[10] = group.bytes[11] = 0xff, group.bytes[12] = 0xe0, group.bytes[15] = 5;
  for (const u32 qpn : {2, 3}) {
    contexts.qps[qpn].service = proto::Service::Ud, contexts.qps[qpn].reliable = false;
    contexts.members.push_back({group, 0, qpn});
  }
  proto::AddressVector to;
  to.destination_gid = group, to.destination_mac = proto::mac_of_group(group);
  to.source_gid = proto::make_gid(0, 0xffffc0000201);
  const proto::OpcodeRow& row = *proto::opcode_row(0x64);
  const proto::Path path = proto::make_path(to);
  Packet* datagram = bench.pool.take();
  proto::Bth bth{};
  bth.opcode = 0x64, bth.pkey = 0xffff, bth.dest_qp = proto::kMulticastQp;
  proto::write_headers(path, row, bth, {}, 64, datagram->frame());
  datagram->shape = proto::shape_of(path, row, 64);
  datagram->frame_bytes = proto::finish_frame(datagram->frame(), datagram->shape);
  bench.port.arrive(datagram, 100);
  std::vector<u32> wanted{2, 3};
  Cycles judged{119 + 9, 119 + 10};
  if (GENERATE(true, false)) {
    bench.arrive(101, 100, 64);
    wanted.push_back(1), judged.push_back(117 + 5 + kChecks);
  }
  bench.seen();
  CHECK(bench.port.counters.rx_copies == 2);
  std::vector<u32> qpns;
  for (const Packet* p : bench.requests->items) qpns.push_back(p->qpn);
  CHECK(qpns == wanted);
  CHECK(bench.requests->seen == judged);
}

TEST_CASE("a packet that waited for the ICRC unit is known good no later than its last byte allows",
          "[port][icrc_unit]") {
  // The first is taken in 114 and keeps the unit until 134; the last of 1098 bytes is in at 158.
  ReceiveBench bench({.latency = 10, .rx_forward = RxForward::CutThrough},
                     {.latency = 5, .interval = 20});
  bench.arrive(100, 100, 64), bench.arrive(113, 101, 1024);
  CHECK(bench.seen() == Cycles{114 + 5 + kChecks, 134 + 5 + kChecks});
  CHECK(bench.requests->items.at(1)->last == 113 + 10 + 35 + 5);
}

// Three queue pairs in RTR, whose first packets are taken before the first event is: then one a
// cycle.
TEST_CASE("COMM_EST events that wait for command follow each other", "[port][T15-COMM_EST]") {
  ReceiveBench bench({}, {}, 64, 0, 3);
  auto& events = bench.take(bench.port.outputs.events_out, bench.port, 1, 500);
  for (u32 qpn = 1; qpn <= 3; ++qpn) {
    bench.contexts.qps[qpn].state = proto::QpState::Rtr;
    bench.port.arrive(write_packet(bench.pool, bench.peer.qps[qpn], 100, 64), 10 + 20 * qpn);
  }
  bench.seen();
  CHECK(events.seen == Cycles{500, 502, 504});  // depth 1: room is seen a cycle after each
}

// Nine packets of 4096 bytes: frames of 4170 bytes, 4194 on the wire. The ninth starts after eight:
// 33552 bytes at the link's rate, or eight times the beats of a frame, if that is more: in 2048
// bits a frame is 17 beats, 136 cycles for eight, whereas 800 Gb/s would take 134.2.
TEST_CASE("links of 10 to 800 Gb/s run at their rate where the datapath is wide enough",
          "[port][icrc_unit][width]") {
  struct Row {
    u64 gigabits;
    u32 beat_bytes;
    Cycle eight;
  };
  const auto row =
      GENERATE(Row{10, 32, 10'737}, Row{25, 32, 4'295}, Row{40, 32, 2'685}, Row{100, 32, 1'074},
               Row{200, 64, 537}, Row{400, 128, 269}, Row{800, 256, 136}, Row{800, 512, 135});
  TransmitBench bench({.latency = 10, .link_rate = row.gigabits * 1'000'000'000},
                      {.latency = 5, .beat_bytes = row.beat_bytes}, Cycles(9, 10), {}, 4096);
  bench.domain.run_until(12'000);
  REQUIRE(bench.wire.sent.size() == 9);
  CHECK(bench.wire.sent.at(0) == 25);
  CHECK(bench.wire.sent.at(8) == 25 + row.eight);
}

// 32 bytes a cycle are 102.4 Gb/s, the link has 400: 125 bytes a cycle. 138 bytes are 5 beats and 2
// cycles of the wire, so the first bit waits 3 cycles.
TEST_CASE("a core slower than its link: no gap on the wire, a packet each its beats",
          "[port][icrc_unit][width]") {
  const PortConfig config{.latency = 10, .link_rate = 400'000'000'000};
  CHECK(TransmitBench(config, {.latency = 5, .beat_bytes = 32}, {10, 10, 10, 10}).sent() ==
        Cycles{10 + 15 + 3, 15 + 15 + 3, 20 + 15 + 3, 25 + 15 + 3});
}

// 1098 bytes are in within 9 cycles, 110 to 118, and 35 beats; their first 128 bytes are in by 111.
TEST_CASE("a core slower than its link receives a packet each its beats",
          "[port][icrc_unit][width]") {
  const auto of = [](RxForward forward) {
    return PortConfig{.latency = 10, .link_rate = 400'000'000'000, .rx_forward = forward};
  };
  ReceiveBench cut(of(RxForward::CutThrough), {.latency = 5, .beat_bytes = 32});
  cut.arrive(100, 100, 1024), cut.arrive(110, 101, 1024);
  CHECK(cut.seen() == Cycles{111 + 5 + kChecks, 111 + 35 + 5 + kChecks});
  CHECK(cut.requests->items.at(0)->last == 111 + 34 + 5);
  ReceiveBench stored(of(RxForward::Store), {.latency = 5, .beat_bytes = 32});
  stored.arrive(100, 100, 1024), stored.arrive(110, 101, 1024);
  CHECK(stored.seen() == Cycles{118 + 5 + kChecks, 118 + 35 + 5 + kChecks});
  CHECK(stored.requests->items.at(0)->last == 118 + 34 + 5);
}
