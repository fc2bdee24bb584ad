// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/link_control.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/port/link_bench.h"

using namespace hca;
using namespace hca::test;
using Catch::Contains;

TEST_CASE("a frame without room is dropped", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Lossy, .buffer = 300});
  bench.arrive(10, 0), bench.arrive(11, 0), bench.arrive(12, 0);  // 138, 276 and 414 bytes
  bench.free(20, 0);
  bench.arrive(20, 0);  // the room of a packet that goes in this cycle counts from the next one
  bench.arrive(21, 0);
  bench.run(100);
  CHECK(bench.mail.seen == Cycles{14, 15, 25});
  CHECK((bench.link.counters.no_room == 2 && bench.link.counters.most_bytes == 276));
  CHECK(bench.control->items.empty());
}

// One a cycle: in 10 that which was not read, in 11 and 12 those that were, in 13 another.
TEST_CASE("of packets that were read and others the one that was seen first is queued",
          "[link_control]") {
  LinkBench bench({.mode = FlowControl::Lossy, .buffer = 1000});
  const auto a = bench.packet(0), b = bench.packet(0), c = bench.packet(0), d = bench.packet(0);
  bench.send({{10, a}, {11, b}});
  bench.feed(bench.link.not_read_in, bench.link, {{10, c}, {12, d}});
  bench.run(100);
  CHECK(bench.packets->seen == Cycles{11, 12, 13, 14});
  CHECK(bench.packets->items == std::vector<Packet*>{c, a, b, d});
}

// In 1 it tells, in 2 the port sees it: 5 cycles as of an ICRC unit and 10 of the port.
TEST_CASE("a port tells its credits before anything comes", "[link_control]") {
  PairConfig config;
  config.chip.link_control.mode = FlowControl::Credits, config.chip.link_control.buffer = 8192;
  Pair pair(config);
  pair.a.loses = pair.b.loses = [](const Packet&) { return true; };
  pair.advance(100);
  REQUIRE(pair.a.sent_frames.size() == 1);
  CHECK(pair.a.sent_frames[0].first == 2 + 5 + 10);
}

// A lane has room for 16 replies. It is stopped from 10 to 215; what port_transmit has no room for
// waits on, but the first that left it makes room for the 17th in the next cycle.
TEST_CASE("a reply without room in its lane is queued a cycle after another one has left",
          "[link_control]") {
  LinkBench bench(kPfc, proto::Framing::RoceV2Ip4, 1, 500);
  proto::MacControl stop{.opcode = proto::MacControlOpcode::PriorityPause, .parameter = 1};
  stop.times[0] = 100;  // 204.8 cycles
  bench.hear(10, stop);
  Plan<Packet*> replies;
  for (u32 i = 0; i < 17; ++i) replies.push_back({20 + i, bench.packet(0)});
  bench.feed_replies(replies);
  bench.run(216);
  CHECK_FALSE(bench.link.replies_in.empty());
  bench.run(217);
  CHECK(bench.link.replies_in.empty());
}

// 138, 276, 414 bytes: the third in 12 is above 300. Down to 138 of 150 in 60. In between it is
// told again after half of 100 quanta of 64 bytes: 3200 bytes are 102.4 cycles, in 12 + 103.
TEST_CASE("PFC: a priority is stopped at xoff, again after half its time, let go at xon",
          "[link_control]") {
  LinkBench bench(kPfc);
  bench.arrive(10, 2), bench.arrive(11, 2), bench.arrive(12, 2);
  bench.arrive(13, 1), bench.arrive(14, 1);  // has room of its own
  bench.free(150, 2), bench.free(160, 2);
  bench.run(500);
  CHECK(bench.control->seen == Cycles{13, 116, 161});
  CHECK((bench.told(0).opcode == proto::MacControlOpcode::PriorityPause &&
         bench.told(0).parameter == 1 << 2 && bench.told(0).times[2] == 100));
  CHECK((bench.told(1).parameter == 1 << 2 && bench.told(1).times[2] == 100));
  CHECK((bench.told(2).parameter == 1 << 2 && bench.told(2).times[2] == 0));
  CHECK(bench.link.counters.told == 3);
}

// The first is there in 13 and is taken in 500: in 501 the other one has room.
TEST_CASE("PFC: a priority that is stopped waits for room to tell it", "[link_control]") {
  LinkControlConfig config = kPfc;
  config.quanta = 65'535;  // half of its time is more than 60 000 cycles
  LinkBench bench(config, proto::Framing::RoceV2Ip4, kMostPackets, 0, 500);
  for (const Cycle at : {10, 11, 12}) bench.arrive(at, 2), bench.arrive(at + 100, 1);
  bench.run(1000);
  CHECK(bench.control->seen == Cycles{500, 502});
  CHECK(bench.told(0).parameter == 1 << 2);
  CHECK(bench.told(1).parameter == 1 << 1);
}

// 100 quanta are 6400 bytes, 204.8 cycles from 20 on.
TEST_CASE("PFC that is heard stops its priority for its time", "[link_control]") {
  LinkBench bench(kPfc);
  bench.send({{15, bench.packet(2)}, {30, bench.packet(2)}, {31, bench.packet(0)}});
  proto::MacControl said{.opcode = proto::MacControlOpcode::PriorityPause, .parameter = 1 << 2};
  said.times[2] = 100, said.times[0] = 500;  // priority 0 is not meant
  bench.hear(20, said);
  bench.run(1000);
  CHECK(bench.packets->seen == Cycles{16, 32, 20 + 205 + 1});
  CHECK(bench.link.counters.heard == 1);
}

TEST_CASE("PAUSE that is heard stops all, and one of time 0 ends it", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Pause, .buffer = 1000, .xoff = 300, .xon = 150});
  bench.send({{30, bench.packet(2)}, {31, bench.packet(0)}});
  bench.hear(20, proto::MacControl{.parameter = 1000});
  bench.hear(90, proto::MacControl{.parameter = 0});
  bench.run(1000);
  CHECK(bench.packets->seen == Cycles{91, 92});
}

// A native WRITE of 64 bytes has 8 + 12 + 16 + 64 + 6 = 106 bytes, 2 blocks. Here its frame is told
// to be native, with the 138 bytes of RoCE less the ICRC, 134 + 6: 3 blocks. FCCL 7 lets two of
// them go, FCCL 9 the third.
TEST_CASE("credits: a packet goes when all its blocks are granted", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Credits, .buffer = 8192}, proto::Framing::IbLocal);
  Plan<Packet*> plan;
  for (Cycle at = 10; at < 13; ++at) {
    Packet* p = bench.packet(0);
    p->shape.framing = proto::Framing::IbLocal, p->frame()[0] = p->frame()[1] = 0;
    plan.push_back({at, p});
  }
  bench.send(plan);
  bench.hear(50, proto::CreditPacket{.init = true, .limit = 7});
  bench.hear(80, proto::CreditPacket{.limit = 9});
  bench.run(1000);
  CHECK(bench.packets->seen == Cycles{51, 52, 81});
  // It tells its own room once when the link is up: 8192 bytes are 128 blocks.
  CHECK(bench.control->seen == Cycles{2});
  CHECK((bench.credit(0).init && bench.credit(0).limit == 128));
}

TEST_CASE("credits: lanes are told one a cycle", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Credits, .buffer = 8192, .lanes = 4},
                  proto::Framing::IbLocal);
  bench.run(100);
  CHECK(bench.control->seen == Cycles{2, 3, 4, 5});
}

// What is sent in 10 is told again 4 * 65536 bytes later, 8388.6 cycles, and once.
TEST_CASE("credits: what was sent is told in time though nothing else happens", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Credits, .buffer = 8192}, proto::Framing::IbLocal);
  Packet* p = bench.packet(0);
  p->shape.framing = proto::Framing::IbLocal, p->frame()[0] = p->frame()[1] = 0;
  bench.hear(5, proto::CreditPacket{.init = true, .limit = 7});
  bench.send({{10, p}});
  bench.run(30'000);
  CHECK(bench.control->seen == Cycles{2, 10 + 8389 + 1});
}

// Frames of 138 bytes take 3 blocks of 128. Room is told when 256 bytes more of it are there, or
// all.
TEST_CASE("credits: freed room is told", "[link_control]") {
  LinkBench bench({.mode = FlowControl::Credits, .buffer = 8192, .credit_update = 256},
                  proto::Framing::IbLocal);
  for (const Cycle at : {10, 11, 12}) {
    Packet* p = bench.packet(0);
    p->frame()[0] = 0;
    bench.link.frames_in.deliver(at, bench.frames++, {p, at + 4});
  }
  bench.free(30, 0), bench.free(40, 0), bench.free(50, 0);
  bench.run(200);
  CHECK(bench.control->seen == Cycles{2, 41, 51});
  CHECK((bench.credit(1).limit == 128 + 6 && bench.credit(2).limit == 128 + 9));
}

// 138 bytes a frame, 300 of each priority and 300 of all. The third of priority 1, in 12, takes 114
// shared ones, 186 are free: with alpha 1 it has less of them than that, and so may the fourth, of
// 138; the fifth finds 48 bytes free. Priority 2 has its own buffer all the same.
TEST_CASE("what a lane holds beyond its own buffer is of the shared one", "[link_control]") {
  LinkControlConfig config = kPfc;
  config.buffer = 300, config.shared = 300, config.alpha = 8, config.xoff = 600;
  LinkBench bench(config);
  for (Cycle at = 10; at < 15; ++at) bench.arrive(at, 1);
  for (Cycle at = 15; at < 18; ++at) bench.arrive(at, 2);  // the third wants 114 of 48
  // One of priority 1 goes: 114 are used, 186 free. Priority 2 takes 114, 72 are left.
  bench.free(30, 1);
  for (const Cycle at : {40, 41}) bench.arrive(at, 2);
  bench.run(100);
  CHECK(bench.mail.seen == Cycles{14, 15, 16, 17, 19, 20, 44});
  CHECK((bench.link.counters.no_room == 3 && bench.link.counters.most_shared == 252));
  CHECK(bench.link.counters.most_bytes == 4 * 138);
  // With alpha 1/2 the fourth of priority 1 is refused: 114 are more than half of 186.
  config.alpha = 4;
  LinkBench half(config);
  for (Cycle at = 10; at < 15; ++at) half.arrive(at, 1);
  half.run(100);
  CHECK(half.mail.seen == Cycles{14, 15, 16});
}

// Of the LRH: VL in the high half of byte 0, SL in the high half of byte 1.
TEST_CASE("SL to VL by the table", "[link_control]") {
  const auto lanes = [](const LinkControlConfig& config) {
    LinkBench bench(config, proto::Framing::IbLocal);
    Plan<Packet*> plan;
    for (u8 sl = 0; sl < 16; ++sl) {
      Packet* p = bench.packet(0);
      p->shape.framing = proto::Framing::IbLocal;
      p->frame()[0] = 0, p->frame()[1] = u8(sl << 4);
      plan.push_back({10 + sl, p});
    }
    bench.send(plan);
    for (u8 lane = 0; lane < 4; ++lane)
      bench.hear(5, proto::CreditPacket{.init = true, .limit = 1000, .lane = lane});
    bench.run(200);
    std::vector<unsigned> seen(16, 99);
    for (Packet* p : bench.packets->items) seen.at(p->frame()[1] >> 4) = proto::lane_of(p->frame());
    return seen;
  };
  LinkControlConfig config{.mode = FlowControl::Credits, .buffer = 8192, .lanes = 4};
  CHECK(lanes(config) == std::vector<unsigned>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  config.sl2vl = LaneChoice::Table;
  config.sl[1] = 3;
  config.sl[4] = 2;
  config.sl[15] = 1;
  CHECK(lanes(config) == std::vector<unsigned>{0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("levels of a receive buffer that make no sense are refused", "[link_control]") {
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Pfc, .buffer = 0}),
                    Contains("link_control.buffer"));
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Pfc, .xon = 5}),
                    Contains("link_control.xon"));
  CHECK_THROWS_WITH(
      check_link_control({.mode = FlowControl::Pause, .buffer = 1000, .xoff = 1001, .xon = 5}),
      Contains("link_control.xoff") && Contains("1001 B"));
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Credits, .buffer = 4000}),
                    Contains("link_control.buffer") && Contains("4000 B"));
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Credits, .buffer = 8192, .shared = 1}),
                    Contains("link_control.shared"));
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Endless, .shared = 1}),
                    Contains("link_control.shared"));
  // 4096 bytes, 128 of headers, ICRC and VCRC.
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Credits, .buffer = 4229}),
                    Contains("link_control.buffer") && Contains("4230 B or more"));
  CHECK_NOTHROW(check_link_control({.mode = FlowControl::Credits, .buffer = 4230}));
  for (const FlowControl mode : {FlowControl::Pause, FlowControl::Pfc}) {
    CHECK_THROWS_WITH(check_link_control({.mode = mode, .buffer = 1000, .xoff = 500, .xon = 500}),
                      Contains("link_control.xoff") && Contains("500 B"));
    CHECK_NOTHROW(check_link_control({.mode = mode, .buffer = 1000, .xoff = 500, .xon = 499}));
  }
  LinkControlConfig unweighted{.mode = FlowControl::Credits, .buffer = 8192, .lanes = 2};
  unweighted.low_table = {{0, 1}, {1, 0}};
  CHECK_THROWS_WITH(check_link_control(unweighted),
                    Contains("link_control.lanes") && Contains("VL 1, which is in no table"));
  CHECK_THROWS_WITH(check_link_control({.mode = FlowControl::Credits,
                                        .buffer = 8192,
                                        .lanes = 2,
                                        .sl2vl = LaneChoice::Table,
                                        .sl = {0, 0, 0, 0, 0, 0, 0, 2}}),
                    Contains("link_control.sl_7") && Contains("0 .. 1"));
}
