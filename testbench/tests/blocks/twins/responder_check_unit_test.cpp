// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/responder_check_unit.h"

#include <catch2/catch.hpp>
#include <vector>

namespace hca::blocks {
namespace {
using engine::Cycle;
using namespace proto;
using Cycles = std::vector<Cycle>;

// SENDs to one RC queue pair, each of one beat, on offer without a gap from cycle 1 on.
class CheckUnitBench {
 public:
  CheckUnitBench(unsigned requests, unsigned rooms) : out_(rooms, 1), left_(requests) {
    packet_.framing = Framing::RoceV2Ip4, packet_.opcode = opcode_row(0x04);
    packet_.bth = {}, packet_.bth.opcode = 0x04, packet_.bth.pkey = 0xffff;
    packet_.payload_bytes = 8, packet_.network_offset = 14, packet_.transport_offset = 42;
    AddressVector there;
    there.source_gid = gid_of_ipv4(1), there.destination_gid = gid_of_ipv4(2);
    frame_.resize(66);
    qp_.path = make_path(there);
    std::swap(there.source_gid, there.destination_gid);
    write_headers(make_path(there), *packet_.opcode, packet_.bth, {}, 8, frame_.data());
    qp_.state = QpState::Rts, qp_.pkey = 0xffff;
    checked_.resize(requests);
    source_.bench = sink_.bench = this;
    const auto add = [&](auto& block, const char* name) {
      block.self = engine::Waker{&domain_, domain_.add(block, name)};
      return block.self;
    };
    const engine::Waker source = add(source_, "source"), unit = add(unit_, "unit"),
                        sink = add(sink_, "sink");
    in_.connect(source, unit, "in");
    out_.connect(unit, sink, "out");
    domain_.wake_next(source.block);
  }
  void run(Cycle until) { domain_.run_until(until); }

  std::vector<CheckedRequest> checked_;
  Cycle first_late = 0;  // of the first context
  Cycles entered, seen;  // cycles in which a request was pushed, its verdict seen

 private:
  struct Source : engine::Block {
    CheckUnitBench* bench = nullptr;
    void tick() {
      if (!bench->left_ || !bench->in_.can_push()) return;
      const std::size_t i = bench->checked_.size() - bench->left_--;
      bench->packet_of_[i] = bench->packet_;
      bench->packet_of_[i].bth.psn = u32(i);
      ResponderCheckItem item;
      item.packet = &bench->packet_of_[i], item.frame = bench->frame_, item.qp = &bench->qp_;
      item.state = &bench->state_, item.rq_posted = 100, item.checked = &bench->checked_[i];
      item.context_late = i ? 0 : bench->first_late;
      bench->in_.push(item, 2);
      bench->entered.push_back(now());
      wake_at(now() + 1);
    }
  };
  struct Sink : engine::Block {
    CheckUnitBench* bench = nullptr;
    void tick() {
      if (!bench->out_.can_pop()) return;
      bench->seen.push_back(now());
      bench->out_.pop();
    }
  };
  engine::Domain domain_{engine::Domain::Options{}};
  ResponderCheckUnit::PacketLink in_{1, 1}, out_;
  unsigned left_;
  std::vector<u8> frame_;
  ParsedPacket packet_{};
  std::array<ParsedPacket, 32> packet_of_{};
  QpConfig qp_{};
  ReceiveState state_{};
  Source source_;
  ResponderCheckUnit unit_{{}, {&in_, &out_}};
  Sink sink_;
};
}  // namespace

TEST_CASE("a SEND of two beats leaves the rule stages 11 cycles behind its first beat",
          "[responder_check_unit]") {
  CheckUnitBench bench(3, 8);
  bench.run(60);
  REQUIRE(bench.entered.size() == 3);
  // Pushed in p, first beat in p + 1, last in p + 2, ask p + 3, answer p + 4, start p + 5, verdict
  // p + 12.
  const Cycle p = bench.entered[0];
  CHECK(bench.seen == Cycles{p + 12, p + 14, p + 16});
  for (const CheckedRequest& c : bench.checked_) CHECK(c.verdict.cause == RequestCause::Good);
  CHECK(bench.checked_[2].state.epsn == 3);
  CHECK(bench.checked_[2].state.rq_consumed == 3);
  CHECK(bench.checked_[2].syndrome == 0x0d);  // T5: 97 receive WQEs are free, code 13 says 96
}

TEST_CASE("a context that is late holds all requests behind it, as many as there are slots",
          "[responder_check_unit]") {
  CheckUnitBench bench(14, 8);
  bench.first_late = 100;
  bench.run(300);
  const Cycle p = bench.entered[0];
  // The first answer comes in p + 104, the later ones one a cycle. The ninth request enters in the
  // cycle after the first start, p + 106, the others 2 cycles apart: the thirteenth in p + 114,
  // its last beat comes in p + 115, its answer in p + 117; from there on they are 2 cycles apart.
  Cycles expected;
  for (Cycle answer = 104; answer <= 115; ++answer) expected.push_back(p + answer + 8);
  expected.push_back(p + 117 + 8), expected.push_back(p + 119 + 8);
  CHECK(bench.seen == expected);
}
}  // namespace hca::blocks
