// SPDX-License-Identifier: Apache-2.0
// Blocks of a user's own in the places of units of the path.
#include "model/blocks/lib/stand_in.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;

namespace {
// Does as the unit does, and counts.
template <class Item>
struct Counting : StandIn<Item> {
  u64 items = 0;
  void process(Item& item) override { ++items, item.process(); }
};
struct CountingCqs : StandIn<CompletionItem> {
  u64 cqes = 0, doorbells = 0;
  void process(CompletionItem& item) override {
    ++(item.request->step == CqStep::Complete ? cqes : doorbells), item.process();
  }
};
struct AllPlaces {
  Counting<PacketizerItem> packetizer;
  Counting<IcrcItem> icrc_out, icrc_in;
  Counting<RxParserItem> rx_parser;
  Counting<ResponderCheckItem> responder_check;
  Counting<RequesterPsnItem> requester_psn;
  CountingCqs completion;
  StandIns stand_ins() {
    const PortStandIns port{&packetizer, &icrc_out, &icrc_in, &rx_parser, &responder_check};
    return {{port, port}, &requester_psn, &completion};
  }
};

PairConfig config() {
  PairConfig c;
  c.path_mtu = 512, c.qps = 3, c.timeout = 2, c.chip.core.ports = 2;
  return c;
}
u64 run(const StandIns& a, const StandIns& b) {
  Pair pair(config());
  pair.a.chip.replace(a), pair.b.chip.replace(b);
  plan_all_operations(pair, pair.config.qps);
  finish(pair);
  return pair.digest();
}
}  // namespace

TEST_CASE("blocks that do as the units do change nothing", "[stand_in]") {
  const u64 without = run({}, {});
  AllPlaces a, b;
  CHECK(run(a.stand_ins(), b.stand_ins()) == without);
  // 40 requests or more, and an answer for each but those that one ACK covers.
  CHECK(a.packetizer.items > 40);
  CHECK(a.icrc_out.items == a.packetizer.items);
  CHECK(b.rx_parser.items == b.icrc_in.items);
  CHECK(b.icrc_in.items < a.icrc_out.items);  // some are lost
  CHECK(b.responder_check.items == b.rx_parser.items);
  CHECK(b.requester_psn.items == 0);  // it asks for nothing
  CHECK(a.responder_check.items == 0);
  CHECK(a.completion.cqes == 40);     // each is signaled
  CHECK(b.completion.cqes == 10);     // of the SENDs
  CHECK(b.completion.doorbells > 0);  // one for what the host finds at once
  CHECK(b.completion.doorbells <= 10);
  CHECK(a.requester_psn.items > 40 + a.icrc_out.items);  // each message, packet and answer
}

TEST_CASE("a block that makes mistakes is in the path", "[stand_in]") {
  struct WrongIcrc : StandIn<IcrcItem> {
    u32 packets = 0;
    void process(IcrcItem& item) override {
      item.process();
      item.frame[item.bytes - 1] ^= ++packets % 5 == 0;
    }
  } wrong;
  Pair pair(config());
  StandIns stand_ins;
  for (PortStandIns& port : stand_ins.port) port.icrc_out = &wrong;
  pair.a.chip.replace(stand_ins);
  plan_all_operations(pair, pair.config.qps);
  pair.a.loses = [](const Packet&) { return false; };
  finish(pair);
  u64 bad = 0;
  for (const auto& port : pair.b.chip.ports) bad += port->receive.counters.rx_bad_icrc;
  CHECK(wrong.packets > 40);
  CHECK(bad == wrong.packets / 5);
}

TEST_CASE("doorbells of CQs go to who stands in, for the room alone", "[stand_in]") {
  struct OneLess : StandIn<CompletionItem> {
    void process(CompletionItem& item) override {
      item.process();
      if (item.request->step == CqStep::Doorbell) --item.cq->consumer;
    }
  } wrong;
  Pair pair(config());
  StandIns stand_ins;
  stand_ins.completion = &wrong;
  pair.a.chip.replace(stand_ins);
  plan_all_operations(pair, pair.config.qps);
  finish(pair);
  pair.advance(1000);  // until the last doorbell is there
  CHECK(pair.b.chip.contexts.cqs[1].consumer == 10);
  CHECK(pair.a.chip.contexts.cqs[1].consumer == 39);
}

TEST_CASE("the first PSN of a queue pair goes to who stands in", "[stand_in][G1.1]") {
  struct OneMore : StandIn<RequesterPsnItem> {
    void process(RequesterPsnItem& item) override {
      CHECK(item.request.step == PsnStep::Start);
      CHECK(item.psns->next_psn == 0);
      item.request.psn += 1, item.process();
    }
  } wrong;
  Pair pair(config());
  StandIns stand_ins;
  stand_ins.requester_psn = &wrong;
  pair.a.chip.replace(stand_ins);
  start_by_command(pair);
  CHECK(pair.a.chip.contexts.qps[1].state == proto::QpState::Rts);
  const proto::SendPsns& psns = pair.a.chip.contexts.send_of(1);
  CHECK(psns.next_psn == 101);
  CHECK(psns.unacked_psn == 101);
}
