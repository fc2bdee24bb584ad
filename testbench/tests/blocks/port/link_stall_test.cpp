// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/link_headroom.h"

#include <catch2/catch.hpp>

#include "model/blocks/port/port.h"
#include "testbench/tests/blocks/port/link_bench.h"

using namespace hca;
using namespace hca::test;
using Catch::Contains;

// At 12.5 bytes a ns: three frames of 4230 B. The control frame waits for one, 338.4 ns, and for
// another control frame, 6.72 ns, and takes 6.72 ns itself, 17 cycles of 2.5 ns out, 5 ns of wire
// and 12 cycles in: 429.3 ns. In that time and in the 77.5 ns that the sender's data are on their
// way 6335 B come. A core of 100 MHz has 67 beats of 10 ns, 331.6 ns more than the frame takes.
TEST_CASE("the headroom is what still comes after XOFF", "[link_control]") {
  const LinkEnd end{2500, {}, {}}, slow{10'000, {}, {}};
  CHECK(headroom(end, end, 5'000) == 3 * 4230 + 6335 + 1);
  CHECK(headroom(end, end, 5'000 + 80'000) == 3 * 4230 + 6335 + 2000 + 1);
  // Out 170 ns instead of 42.5, in 120 instead of 30, and 331.6: 549.1 ns more, 6863.7 B.
  CHECK(headroom(slow, end, 5'000) == 3 * 4230 + 13199 + 1);
}

// A chip knows neither its framing nor its cable.
TEST_CASE("a mode or levels that only a scenario can choose are refused by the block",
          "[link_control]") {
  CHECK_THROWS_WITH(LinkBench({}), Contains("link_control.mode: \"auto\""));
  CHECK_THROWS_WITH(LinkBench({.mode = FlowControl::Pfc}), Contains("link_control.xoff: \"0 B\""));
}

// 200 ns are 80 cycles. A packet that is to be sent waits from 12 on for the end of a pause, a
// frame occupies the buffer from 20 on: nothing moves since then, but a frame that leaves in 50.
// From 50 + 80 on requests have to go, until the pause ends in 300, though another frame leaves.
TEST_CASE("a port whose directions both stand still gives up requests until it may send",
          "[link_control]") {
  LinkControlConfig config = kPfc;
  config.stall_limit = 200'000;
  LinkBench bench(config);
  proto::MacControl stop{.opcode = proto::MacControlOpcode::PriorityPause, .parameter = 1};
  stop.times[0] = 141;  // 288.8 cycles
  bench.hear(11, stop);
  bench.send({{12, bench.packet(0)}});
  bench.arrive(20, 0), bench.arrive(21, 0), bench.arrive(22, 0);
  bench.free(50, 0), bench.free(150, 0);
  bench.run(290);
  CHECK(bench.mail.stalled == Stalls{{131, 1}});
  CHECK(bench.link.standstill() ==
        "link_control: packets to be sent wait for the end of a pause since cycle 12; its receive "
        "buffer holds 138 B");
  bench.run(600);
  CHECK(bench.mail.stalled == Stalls{{131, 1}, {301, 0}});
  CHECK(bench.link.counters.stalls == 1);
  CHECK(bench.link.standstill().empty());
}

// As above; its receive buffer is empty in 200.
TEST_CASE("a port that holds nothing any more gives up nothing", "[link_control]") {
  LinkControlConfig config = kPfc;
  config.stall_limit = 200'000;
  LinkBench bench(config);
  proto::MacControl stop{.opcode = proto::MacControlOpcode::PriorityPause, .parameter = 1};
  stop.times[0] = 141;
  bench.hear(11, stop);
  bench.send({{12, bench.packet(0)}});
  bench.arrive(20, 0);
  bench.free(200, 0);
  bench.run(600);
  CHECK(bench.mail.stalled == Stalls{{93, 1}, {201, 0}});
}

TEST_CASE("a port that may send, or holds nothing, gives nothing up", "[link_control]") {
  LinkControlConfig config = kPfc;
  config.stall_limit = 200'000;
  LinkBench sends(config);
  sends.send({{12, sends.packet(0)}});
  sends.arrive(20, 0);
  sends.run(600);
  CHECK(sends.mail.stalled.empty());
  LinkBench empty(config);
  proto::MacControl stop{.opcode = proto::MacControlOpcode::PriorityPause, .parameter = 1};
  stop.times[0] = 141;
  empty.hear(11, stop);
  empty.send({{12, empty.packet(0)}});
  empty.run(600);
  CHECK(empty.mail.stalled.empty());
}

namespace {
// A port with its link_control. After the first one, requests have room from cycle `from` on.
struct StallBench : Bench {
  explicit StallBench(Cycle from) {
    set_up(peer, 1), set_up(contexts, 1, true);
    add(link, "link_control"), add(port, "port_receive");
    link.frames_in.connect(link.self, "frames"), link.freed_in.connect(link.self, "freed room");
    feed(link.requests_in, link, {}), feed(link.replies_in, link, {});
    take(link.outputs.packets_out, link), take(link.outputs.control_out, link);
    link.outputs.frames_out = &port.packets_in, link.outputs.stalls_out = &port.stalls_in;
    port.packets_in.connect(port.self, "wire"), port.stalls_in.connect(port.self, "stalls");
    port.control = &link;
    feed(port.bells_in, port, {});
    requests = &take(port.outputs.requests_out, port, 1, from);
    take(port.outputs.acks_out, port), take(port.outputs.cnps_out, port),
        take(port.outputs.bells_out, port);
  }
  void arrive(Cycle at, u32 psn) { port.arrive(write_packet(pool, peer.qps[1], psn, 64), at); }
  const LinkControlConfig config{.mode = FlowControl::Lossy};
  const PortConfig port_config;
  const IcrcUnitConfig icrc;
  const ResponderCheckConfig check_config;
  device::Contexts peer, contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  ResponderCheck responder{check_config, context, contexts, protection};
  ResponseCheck response{{}, context, contexts};
  Congestion congestion{{}, kCore};
  PacketPool pool;
  LinkControl link{config, kLink, kCore, contexts.ports[0], 0};
  PortReceive port{port_config, icrc, kCore, contexts, responder, response, congestion};
  Taker<Packet*, kMostPackets>* requests = nullptr;
};
}  // namespace

// 100 takes the place; 101 and 102 are dropped; 103 has room and draws a NAK.
TEST_CASE("requests without room go while a port is told to give them up", "[port][link_control]") {
  StallBench bench(500);
  bench.arrive(10, 100), bench.arrive(30, 101), bench.arrive(300, 102), bench.arrive(600, 103);
  bench.port.stalls_in.deliver(200, 0, 1);
  bench.port.stalls_in.deliver(700, 1, 0);
  bench.domain.run_until(1500);
  CHECK(bench.port.counters.rx_given_up == 2);
  CHECK(bench.port.counters.rx_packets == 2);
  std::vector<u32> psns;
  for (const Packet* p : bench.requests->items) psns.push_back(p->psn);
  CHECK(psns == std::vector<u32>{100, 103});
}

// 101 waits for room, and for the end of a stall.
TEST_CASE("a stall that is over drops nothing", "[port][link_control]") {
  StallBench bench(500);
  bench.port.stalls_in.deliver(5, 0, 1);
  bench.port.stalls_in.deliver(20, 1, 0);
  bench.arrive(10, 100), bench.arrive(30, 101);
  bench.domain.run_until(1500);
  CHECK(bench.port.counters.rx_given_up == 0);
  CHECK(bench.requests->items.size() == 2);
  CHECK(bench.requests->seen.at(1) >= 500);
}
