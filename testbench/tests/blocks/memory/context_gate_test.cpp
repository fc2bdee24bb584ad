// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/context_gate.h"
#include "model/device/writers.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;
using proto::ContextKind;

namespace {
using Ask = std::pair<ContextKind, u64>;
using Asks = std::vector<Ask>;
constexpr u64 kLine = 8 * (u64{2} << 20);                          // eight pages of 2 MiB
constexpr u64 mtt(u64 line) { return (u64{1} << 17) + 1 + line; }  // of key index 1: kKey's

CacheConfigs all_kinds() {
  CacheConfigs c;
  c.qp.entries = c.cq.entries = c.mpt.entries = c.mtt.entries = 4;
  return c;
}

// A gate between a feeder and a taker; the answers of the caches come as a test says.
template <class Item, unsigned N>
struct GateBench : Bench {
  using Gate = LinkGate<engine::Link<Item, N>, Item>;
  explicit GateBench(typename Gate::Note note, const CacheConfigs& configs = all_kinds())
      : cache(configs, 21, contexts), gate(cache, contexts, note) {
    set_up(contexts, 2);
    proto::Region& region = contexts.regions[1];  // all addresses
    region.start = region.origin = region.physical = 0, region.bytes = u64{1} << 40;
    add(gate, "gate");
    asks = &take(gate.gate.asks_out, gate);
    out = &take(gate.out, gate);
  }
  // The look-ups for items that are seen from cycle 10 on.
  Asks asked(const std::vector<Item>& items, const Plan<u32>& answers = {}) {
    Plan<Item> plan;
    for (const Item& item : items) plan.push_back({10 + plan.size(), item});
    feed(gate.in, gate, plan), feed(gate.gate.answers_in, gate, answers);
    domain.run_until(run_for);
    Asks all;
    for (const ContextAsk& ask : asks->items) all.push_back({ask.kind, ask.number});
    return all;
  }
  Cycle run_for = 400;
  device::Contexts contexts;
  ContextCache cache;
  Gate gate;
  Taker<ContextAsk, 8>* asks = nullptr;
  Taker<Item, N>* out = nullptr;
};
using TurnBench = GateBench<Turn*, 64>;
using BatchBench = GateBench<ReceiveBatch*, 64>;

// WQEs of queue pair 1, one after another; each with these SGEs.
struct Wqes {
  using Sges = std::vector<proto::Sge>;
  explicit Wqes(const std::vector<Sges>& wqes, bool inline_data = false) {
    turn.qpn = 1, turn.count = u32(wqes.size());
    for (u32 i = 0; i < wqes.size(); ++i) {
      u8* at = turn.wqes.data() + i * 128;  // log stride 7 of set_up()
      proto::SendWqe wqe{};
      wqe.opcode = proto::WorkOpcode::RdmaWrite, wqe.inline_data = inline_data;
      wqe.sge_count = u8(wqes[i].size()), wqe.index = u16(i);
      proto::encode(wqe, at);
      for (u32 k = 0; k < wqes[i].size(); ++k)
        proto::encode(wqes[i][k], at + proto::kSendWqeBytes + k * proto::kSgeBytes);
    }
  }
  Turn turn;
};
}  // namespace

TEST_CASE("a turn needs its queue pair, its keys and the pages of its SGEs", "[context_gate]") {
  // Two bytes around a boundary of lines; then the second line again, and a third.
  Wqes wqes({{{kLine - 1, kKey, 2}}, {{kLine + 5, kKey, 100}, {3 * kLine, kKey, 1}}});
  TurnBench bench(note_turn);
  CHECK(bench.asked({&wqes.turn}) == Asks{{ContextKind::Qp, 1},
                                          {ContextKind::Mpt, 1},
                                          {ContextKind::Mtt, mtt(0)},
                                          {ContextKind::Mtt, mtt(1)},
                                          {ContextKind::Mtt, mtt(3)}});
  // One a cycle, from the cycle of the turn on, each seen one later.
  CHECK(bench.asks->seen == Cycles{11, 12, 13, 14, 15});
  CHECK(bench.out->items.empty());  // nobody has answered
}

TEST_CASE("a message needs each line of its pages, and none after its region", "[context_gate]") {
  // 180 lines of 16 MiB, 2.8 GiB.
  Wqes large({{{kLine, kKey, u32(180 * kLine)}}}), over({{{299 * kLine, kKey, u32(3 * kLine)}}}),
      outside({{{301 * kLine, kKey, 1}}});
  const auto lines_of = [](Wqes& wqes) {
    TurnBench bench(note_turn);
    bench.contexts.regions[1].bytes = 300 * kLine + 1;
    std::vector<u64> lines;
    for (const auto& [kind, number] : bench.asked({&wqes.turn}))
      if (kind == ContextKind::Mtt) lines.push_back(number - mtt(0));
    return lines;
  };
  std::vector<u64> from_1_on(180);
  std::iota(from_1_on.begin(), from_1_on.end(), 1);
  CHECK(lines_of(large) == from_1_on);
  CHECK(lines_of(over) == std::vector<u64>{299, 300});
  CHECK(lines_of(outside).empty());
}

TEST_CASE("more lines than 256 have their own numbers", "[context_gate]") {
  Wqes wqes({{{0, kKey, 300 * 8 * 4096}}});
  TurnBench bench(note_turn);
  const std::vector<u64> pages(300 * 8);
  bench.contexts.regions[1].pages = pages.data(), bench.contexts.regions[1].log_page = 12;
  bench.run_for = 500;
  const Asks asks = bench.asked({&wqes.turn});
  CHECK(asks.size() == 302);  // the queue pair, the key
  CHECK(asks.back() == Ask{ContextKind::Mtt, mtt(299)});
}

TEST_CASE("of a region with a page list a line is eight of its pages", "[context_gate]") {
  Wqes wqes({{{8 * 4096 - 1, kKey, 2}}});
  TurnBench bench(note_turn);
  const std::array<u64, 16> pages{};
  bench.contexts.regions[1].pages = pages.data(), bench.contexts.regions[1].log_page = 12;
  CHECK(bench.asked({&wqes.turn}) == Asks{{ContextKind::Qp, 1},
                                          {ContextKind::Mpt, 1},
                                          {ContextKind::Mtt, mtt(0)},
                                          {ContextKind::Mtt, mtt(1)}});
}

TEST_CASE("what is inline, flushed or unreadable needs no key", "[context_gate]") {
  Wqes in_line({Wqes::Sges{}}, true), flushed({{{0, kKey, 8}}}), unreadable({{{0, kKey, 8}}});
  flushed.turn.flush = true, unreadable.turn.unreadable = true;
  CHECK(TurnBench(note_turn).asked({&in_line.turn}) == Asks{{ContextKind::Qp, 1}});
  CHECK(TurnBench(note_turn).asked({&flushed.turn, &unreadable.turn}).empty());
  CHECK(TurnBench(note_queue_pair).asked({&flushed.turn}).empty());
}

TEST_CASE("a cache that holds all is not asked", "[context_gate]") {
  Wqes wqes({{{0, kKey, 8}}});
  CacheConfigs mpt_alone;
  mpt_alone.mpt.entries = 4;
  CHECK(TurnBench(note_turn, mpt_alone).asked({&wqes.turn}) == Asks{{ContextKind::Mpt, 1}});
}

TEST_CASE("items go on in their order, each in the cycle of its last answer", "[context_gate]") {
  Wqes first({{{0, kKey, 8}}}), second({{{0, kKey, 8}}}), none({Wqes::Sges{}});
  none.turn.flush = true;
  TurnBench bench(note_turn);
  // Three look-ups each; those of the second are answered before the last one of the first.
  bench.asked({&first.turn, &second.turn, &none.turn},
              {{20, 0}, {21, 1}, {22, 1}, {23, 1}, {24, 0}, {60, 0}});
  CHECK(bench.out->items == std::vector<Turn*>{&first.turn, &second.turn, &none.turn});
  CHECK(bench.out->seen == Cycles{61, 62, 63});
}

// Three look-ups each. The second turn enters when the first has left.
TEST_CASE("without lookahead an item is looked up when the one before has left", "[context_gate]") {
  Wqes first({{{0, kKey, 8}}}), second({{{kLine, kKey, 8}}});
  CacheConfigs configs = all_kinds();
  configs.gate.lookahead = 1;
  TurnBench bench(note_turn, configs);
  bench.asked({&first.turn, &second.turn}, {{20, 0}, {21, 0}, {30, 0}, {40, 1}, {41, 1}, {42, 1}});
  CHECK(bench.asks->seen == Cycles{11, 12, 13, 32, 33, 34});
  CHECK(bench.out->seen == Cycles{31, 43});
}

TEST_CASE("of turns that were read and others the one that is seen first enters",
          "[context_gate]") {
  std::array<Wqes, 4> turns{Wqes({}), Wqes({}), Wqes({}), Wqes({})};
  for (Wqes& wqes : turns) wqes.turn.flush = true;
  TurnBench bench(note_turn);
  bench.feed(bench.gate.not_read_in, bench.gate, {{10, &turns[2].turn}, {12, &turns[3].turn}});
  bench.asked({&turns[0].turn, &turns[1].turn});  // seen in 10 and 11
  CHECK(bench.out->items ==
        std::vector<Turn*>{&turns[2].turn, &turns[0].turn, &turns[1].turn, &turns[3].turn});
  CHECK(bench.out->seen == Cycles{11, 12, 13, 14});
}

TEST_CASE("receive WQEs need the memory of their SGEs, a completion its CQ", "[context_gate]") {
  ReceiveBatch batch;
  batch.qpn = 1, batch.count = 1;
  proto::encode(proto::ReceiveWqe{1, 0}, batch.wqes.data());
  proto::encode(proto::Sge{2 * kLine, kKey, 64}, batch.wqes.data() + proto::kReceiveWqeBytes);
  CHECK(BatchBench(note_batch).asked({&batch}) ==
        Asks{{ContextKind::Mpt, 1}, {ContextKind::Mtt, mtt(2)}});
  CHECK(GateBench<Completed, 8>(note_completion).asked({Completed{.cqn = 7}}) ==
        Asks{{ContextKind::Cq, 7}});
}

TEST_CASE("WQEs go into their cache when they are fetched", "[context_gate]") {
  Wqes wqes({{{0, kKey, 8}}}), cached({{{0, kKey, 8}}});
  cached.turn.cached = true;
  CacheConfigs alone;
  alone.wqe.entries = 4;
  TurnBench bench(note_turn, alone);
  CHECK(bench.asked({&wqes.turn, &cached.turn}).size() == 1);
  const ContextAsk& ask = bench.asks->items.at(0);
  CHECK((ask.kind == ContextKind::Wqe && ask.turn == &wqes.turn && ask.fills));
  // An unreliable queue pair needs none of them again.
  TurnBench unreliable(note_turn, alone);
  unreliable.contexts.qps[1].reliable = false;
  CHECK(unreliable.asked({&wqes.turn}).empty());
  // Before the read: those that are sent again.
  Wqes again({{{0, kKey, 8}}});
  again.turn.again = true;
  TurnBench before(note_queue_pair, alone);
  CHECK(before.asked({&wqes.turn, &again.turn}).size() == 1);
  CHECK((before.asks->items.at(0).turn == &again.turn && !before.asks->items.at(0).fills));
}

// WQEs 5 and 7 are READs of 3 and 2 packets, 6 is a WRITE of one, from PSN 0xffffff on.
TEST_CASE("a response needs the WQE of its READ", "[context_gate]") {
  const auto asked = [](u32 psn, bool has_packet = true) {
    CacheConfigs alone;
    alone.wqe.entries = 4;
    GateBench<Acknowledgement, 8> bench(note_response, alone);
    device::Contexts& c = bench.contexts;
    const device::SentMessages sent(c);
    const device::Connection connection = c.connection_of(1);
    using proto::Answer;
    sent.message(connection, 5) = {.first_psn = 0xffffff, .packets = 3, .answer = Answer::Read};
    sent.message(connection, 6) = {.first_psn = 2, .packets = 1};
    sent.message(connection, 7) = {.first_psn = 3, .packets = 2, .answer = Answer::Read};
    c.send_of(1).awaited = 5, c.send_of(1).started = 8, c.send_of(1).reads_started = 2;
    Packet packet;
    Acknowledgement a{.qpn = 1, .psn = psn};
    a.packet = has_packet ? &packet : nullptr;
    return bench.asked({a});
  };
  const auto wqe = [](u32 index) { return Asks{{ContextKind::Wqe, proto::wqe_number(1, index)}}; };
  CHECK((asked(0xffffff) == wqe(5) && asked(0) == wqe(5) && asked(1) == wqe(5)));
  CHECK((asked(3) == wqe(7) && asked(4) == wqe(7)));
  CHECK((asked(2).empty() && asked(5).empty() && asked(0xfffffe).empty()));
  CHECK(asked(0, false).empty());
}

// WRITEs: 5 of PSNs 0xfffffe to 0, 6 of 1, 7 of 2 and 3; then READ 8 of 4 and 5, which acknowledges
// them with its response.
TEST_CASE("an acknowledgement needs the WQEs of the messages that it completes", "[context_gate]") {
  const auto asked = [](u32 psn, u8 syndrome = 0, bool acks = true, bool has_packet = false,
                        std::optional<u32> before = {}) {
    CacheConfigs alone;
    alone.wqe.entries = 4, alone.wqe.acks = acks;
    GateBench<Acknowledgement, 8> bench(note_response, alone);
    device::Contexts& c = bench.contexts;
    const device::SentMessages sent(c);
    const device::Connection connection = c.connection_of(1);
    sent.message(connection, 5) = {.first_psn = 0xfffffe, .packets = 3};
    sent.message(connection, 6) = {.first_psn = 1, .packets = 1};
    sent.message(connection, 7) = {.first_psn = 2, .packets = 2};
    sent.message(connection, 8) = {.first_psn = 4, .packets = 2, .answer = proto::Answer::Read};
    proto::SendState& s = c.send_of(1);
    s.completed = 5, s.started = 9, s.awaited = 8, s.reads_started = 1;
    s.unacked_psn = 0xfffffe, s.sent_psn = s.send_psn = s.next_psn = 6;
    Packet packet;
    Acknowledgement a{.qpn = 1, .psn = psn, .syndrome = syndrome};
    a.packet = has_packet ? &packet : nullptr;
    std::vector<Acknowledgement> all{a};
    if (before) all.insert(all.begin(), {.qpn = 1, .psn = *before});
    std::vector<u64> indices;
    for (const auto& [kind, number] : bench.asked(all)) {
      CHECK(kind == ContextKind::Wqe);
      indices.push_back(proto::index_of_wqe(number));
    }
    return indices;
  };
  using Indices = std::vector<u64>;
  constexpr u8 kSequenceNak = 0x60;  // T5
  CHECK(asked(0xffffff).empty());
  CHECK(asked(0) == Indices{5});
  CHECK(asked(2) == Indices{5, 6});
  CHECK(asked(3) == Indices{5, 6, 7});
  CHECK(asked(3, kSequenceNak) == Indices{5, 6});
  // Of one that waits in the gate no second time.
  CHECK(asked(3, 0, true, false, 1) == Indices{5, 6, 7});
  CHECK(asked(1, 0, true, false, 1) == Indices{5, 6});
  CHECK(asked(4, kSequenceNak) == Indices{5, 6, 7});
  CHECK(asked(0xfffffd).empty());  // acknowledged before
  CHECK(asked(6).empty());         // not sent
  CHECK(asked(3, 0, false).empty());
  CHECK(asked(5, 0, true, true) == Indices{8, 5, 6, 7});
  CHECK(asked(5, 0, false, true) == Indices{8});
}

TEST_CASE("a packet needs its queue pair, and what its R_Key names", "[context_gate]") {
  Bench bench;
  device::Contexts peer, contexts;
  set_up(peer, 1, true), set_up(contexts, 1);
  PacketPool pool;
  const CacheConfigs configs = all_kinds();
  ContextCache cache(configs, 21, contexts);
  PacketGate gate(cache, contexts, 0);
  bench.add(gate, "gate");
  gate.in.connect(gate.self, "wire");
  engine::Mailbox<Packet*> out;
  gate.out = &out;
  Doer& reader = bench.plan({});  // not the gate, which would be woken by what it lets on
  out.connect(reader.self, "out");
  auto& asks = bench.take(gate.gate.asks_out, gate);
  bench.feed(gate.gate.answers_in, gate, {{40, 0}, {41, 0}, {42, 0}});
  Packet* write = write_packet(pool, peer.qps[1], 100, 64);
  gate.in.deliver(10, 0, write);
  for (u32 i = 0; i < 2; ++i) {
    Packet* cut = write_packet(pool, peer.qps[1], 101 + i, 64);
    cut->frame_bytes = 20;  // no BTH: it will be dropped, and needs nothing
    gate.in.deliver(11 + i, 1 + i, cut);
  }
  Cycles left;
  for (Cycle at = 1; at < 100; ++at) {
    bench.domain.run_until(at + 1);
    if (out.can_pop()) left.push_back(at), out.pop();
  }
  Asks all;
  for (const ContextAsk& ask : asks.items) all.push_back({ask.kind, ask.number});
  // kData, where the packet writes, lies in the first line of the region, which begins there.
  CHECK(all == Asks{{ContextKind::Qp, 1}, {ContextKind::Mpt, 1}, {ContextKind::Mtt, mtt(0)}});
  CHECK(left == Cycles{43, 44, 45});
}
