// SPDX-License-Identifier: Apache-2.0
// rtl/responder_check/responder_check.sv against verdicts written down from the specification.
#include "rtl/cpp/responder_check_rtl.h"

#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <vector>

#include "testbench/lockstep/parsed_side_band.h"

namespace hca::testbench {
namespace {
using proto::RequestAction;
using proto::RequestCause;

// One queue pair, RC in RTS, and a region of 64 bytes from 0x1000 on; answers come one cycle after
// the look-up.
struct CheckBench {
  rtl::ResponderCheckRtl rtl{GENERATE(32u, 64u)};
  rtl::CheckedContext context{};
  rtl::CheckedRegion region{0x1000, 64, 0x1234, 7, proto::kAnyQp, 0x0f, 2, true};
  std::vector<rtl::Judged> judged{};
  std::vector<unsigned> at{};

  CheckBench() {
    context.own_gid = proto::gid_of_ipv4(0x0a000001);
    context.peer_gid = proto::gid_of_ipv4(0x0a000002);
    context.framing = u8(proto::Framing::RoceV2Ip4);
    context.pd = 7, context.pkey = 0xffff, context.path_mtu = 256, context.access = 0x0f;
    context.max_reads = 1, context.min_rnr_timer = 9, context.qp_state = 3;
    context.rq_posted = 100, context.drop_after_rnr = true;
    context.state.epsn = 0x10;
  }
  rtl::Parsed request(u8 opcode, u32 psn, u16 payload = 8) const {
    rtl::Parsed p{};
    clear_headers(p);
    p.verdict = proto::PacketVerdict::Good;
    p.address.framing = proto::Framing::RoceV2Ip4;
    p.address.source_gid = context.peer_gid, p.address.destination_gid = context.own_gid;
    p.bth.opcode = opcode, p.bth.psn = psn, p.bth.pkey = 0xffff, p.bth.dest_qp = 0x21;
    p.payload_bytes = payload;
    return p;
  }
  rtl::Parsed with_key(u8 opcode, u32 psn, u64 va, u32 bytes, u16 payload) const {
    rtl::Parsed p = request(opcode, psn, payload);
    p.reth.va = va, p.reth.rkey = 0x1234, p.reth.dma_len = bytes;
    p.atomic_eth.va = va, p.atomic_eth.rkey = 0x1234;
    return p;
  }
  // Each of one beat, one a cycle.
  void run(std::vector<rtl::Parsed> requests) {
    judged.clear(), at.clear();
    bool ask = false, key_ask = false;
    for (unsigned cycle = 0; cycle < 40 + requests.size(); ++cycle) {
      rtl.begin_cycle(true);
      rtl.look_ups()->answer(ask ? &context : nullptr, key_ask ? &region : nullptr);
      std::optional<rtl::BeatOf<rtl::Parsed>> beat;
      if (cycle < requests.size()) {
        beat.emplace();
        beat->control = requests[cycle];
        beat->control.first = beat->control.last = true;
      }
      rtl.drive(beat ? &*beat : nullptr);
      ask = rtl.look_ups()->context_asked().has_value();
      key_ask = rtl.look_ups()->region_asked().has_value();
      if (rtl.out_valid()) {
        judged.push_back(rtl.out().control), at.push_back(cycle);
        context.state = judged.back().state;
      }
      rtl.end_cycle();
    }
    CHECK_FALSE(rtl.assertion_failed());
  }
  std::vector<RequestCause> causes() const {
    std::vector<RequestCause> out;
    for (const rtl::Judged& j : judged) out.push_back(RequestCause(j.cause));
    return out;
  }
};
using Causes = std::vector<RequestCause>;
using enum RequestCause;
}  // namespace

TEST_CASE("a verdict comes 10 cycles behind its request, 12 with an R_Key",
          "[responder_check][rtl]") {
  CheckBench bench;
  bench.run({bench.request(0x04, 0x10)});
  REQUIRE(bench.judged.size() == 1);
  CHECK(bench.at[0] == 10);
  CHECK(bench.judged[0].action == u8(RequestAction::Execute));
  CHECK(bench.judged[0].ack_psn == 0x10);
  CHECK(bench.judged[0].msn == 1);
  CHECK(bench.judged[0].completes_message);
  CHECK(bench.judged[0].syndrome == 0x1f);  // T5: credits are not used
  CHECK(bench.judged[0].state.epsn == 0x11);
  CHECK(bench.judged[0].state.rq_consumed == 1);
  bench.run({bench.with_key(0x0a, 0x11, 0x1000, 8, 8)});
  REQUIRE(bench.judged.size() == 1);
  CHECK(bench.at[0] == 12);
  CHECK(bench.causes() == Causes{Good});
}

TEST_CASE("requests back to back see the context that those in front leave",
          "[responder_check][rtl][G2.2][G2.3][T10-8/RC]") {
  CheckBench bench;
  // SEND First, Middle, Last of 256, 256 and 5 bytes; one PSN lost, and another after it; then the
  // lost one, and a WRITE Only of 8 bytes.
  bench.run({bench.request(0x00, 0x10, 256), bench.request(0x01, 0x11, 256),
             bench.request(0x02, 0x12, 5), bench.request(0x04, 0x14), bench.request(0x04, 0x15),
             bench.request(0x04, 0x13), bench.with_key(0x0a, 0x14, 0x1000, 8, 8),
             bench.request(0x04, 0x12)});
  CHECK(bench.causes() == Causes{Good, Good, Good, PsnAhead, NakPending, Good, Good, Duplicate});
  REQUIRE(bench.judged.size() == 8);
  CHECK(bench.judged[2].completes_message);
  CHECK(bench.judged[3].action == u8(RequestAction::Nak));
  CHECK(bench.judged[3].syndrome == 0x60);  // T5: NAK 0, PSN sequence error
  CHECK(bench.judged[3].ack_psn == 0x13);   // G7.1
  CHECK(bench.judged[4].action == u8(RequestAction::Drop));
  CHECK(bench.judged[6].msn == 3);
  CHECK(bench.judged[7].action == u8(RequestAction::Acknowledge));
  CHECK(bench.judged[7].ack_psn == 0x14);  // G3.1: ePSN - 1
  CHECK(bench.judged[7].state.rq_consumed == 2);
  // One a cycle; the one with an R_Key and those after it 2 cycles later.
  CHECK(bench.at == std::vector<unsigned>{10, 11, 12, 13, 14, 15, 18, 19});
}

TEST_CASE("the PSNs from the expected one on are ahead up to half of all, behind from there",
          "[responder_check][rtl][T6]") {
  CheckBench bench;
  const u32 epsn = GENERATE(0xfffffeu, 0u, 0x800000u);
  struct Row {
    u32 distance;
    RequestCause cause;
  };
  for (const Row& row : {Row{0x7fffff, PsnAhead}, Row{0x800000, Duplicate},
                         Row{0xffffff, Duplicate}, Row{1, NakPending}, Row{0, Good}}) {
    // ePSN and the mark of the NAK stay as they are up to the last one, which is expected.
    bench.context.state.epsn = epsn;
    bench.context.state.nak_sent = row.cause == NakPending;
    bench.run({bench.request(0x04, (epsn + row.distance) & 0xffffff)});
    INFO("distance " << row.distance);
    CHECK(bench.causes() == Causes{row.cause});
  }
  CHECK(bench.context.state.epsn == ((epsn + 1) & 0xffffff));
}

TEST_CASE("the first rule of the table that a request breaks decides",
          "[responder_check][rtl][T10]") {
  CheckBench bench;
  // A wrong P_Key and a PSN ahead.
  rtl::Parsed p = bench.request(0x04, 0x20);
  p.bth.pkey = 0x1234;
  bench.run({p});
  CHECK(bench.causes() == Causes{BadPkey});
  CHECK(bench.judged[0].action == u8(RequestAction::Drop));
  // No receive WQE, and longer than the path MTU: RNR NAK, timer code 9.
  bench.context.rq_posted = 0;
  bench.run({bench.request(0x04, 0x10, 300)});
  CHECK(bench.causes() == Causes{NoReceiveWqe});
  CHECK(bench.judged[0].action == u8(RequestAction::RnrNak));
  CHECK(bench.judged[0].syndrome == 0x29);
  // G2.5: what is ahead of it now is dropped.
  bench.run({bench.request(0x04, 0x11)});
  CHECK(bench.causes() == Causes{NakPending});
  // Too long and outside its region; after it nothing is processed.
  bench.run({bench.with_key(0x0a, 0x10, 0x5000, 300, 300), bench.request(0x04, 0x10)});
  CHECK(bench.causes() == Causes{BadLength, BadQpState});
  CHECK(bench.judged[0].action == u8(RequestAction::NakAndFail));
  CHECK(bench.judged[0].syndrome == 0x61);  // invalid request
}

TEST_CASE("an access must lie in its region to the last byte", "[responder_check][rtl][G22.2]") {
  CheckBench bench;
  struct Row {
    u64 va;
    u32 bytes;
    RequestCause cause;
  };
  // The region is 0x1000 to 0x103f.
  for (const Row& row :
       {Row{0x1000, 64, Good}, Row{0x1038, 8, Good}, Row{0x1039, 8, BadRkey},
        Row{0xfff, 8, BadRkey}, Row{0x1000, 65, BadRkey}, Row{0x103f, 1, Good},
        Row{0x1040, 1, BadRkey}, Row{0x9999, 0, Good}, Row{0xffff'ffff'ffff'fff8, 16, BadRkey}}) {
    bench.context.state = {}, bench.context.state.epsn = 0x10;
    bench.run({bench.with_key(0x0a, 0x10, row.va, row.bytes, u16(row.bytes))});
    INFO("VA " << row.va << ", " << row.bytes << " bytes");
    CHECK(bench.causes() == Causes{row.cause});
  }
}

TEST_CASE("a READ takes as many PSNs as its response has packets, and no more READs than allowed",
          "[responder_check][rtl][G2.2][G29.3]") {
  CheckBench bench;
  bench.region.bytes = 0x10000;
  // 1025 bytes at a path MTU of 256: 5 packets.
  bench.run({bench.with_key(0x0c, 0x10, 0x1000, 1025, 0), bench.request(0x04, 0x15),
             bench.with_key(0x0c, 0x16, 0x1000, 1, 0)});
  CHECK(bench.causes() == Causes{Good, Good, TooManyReads});
  CHECK(bench.judged[0].packets == 5);
  CHECK(bench.judged[1].state.epsn == 0x16);
  CHECK(bench.judged[2].syndrome == 0x61);
}

TEST_CASE("responses and frames with a bad ICRC leave no verdict", "[responder_check][rtl]") {
  CheckBench bench;
  rtl::Parsed bad = bench.request(0x04, 0x10), reserved = bench.request(0x1f, 0x11);
  bad.verdict = proto::PacketVerdict::BadIcrc;
  reserved.verdict = proto::PacketVerdict::ReservedOpcode;
  bench.run({bench.request(0x11, 0x10), bad, bench.request(0x04, 0x10), reserved});
  CHECK(bench.causes() == Causes{Good, Unsupported});
}

namespace {
// EE context 5, which serves queue pair 0x21 of RD.
struct RdBench : CheckBench {
  RdBench() {
    rtl.look_ups()->set_rd(true);
    context.rd = true;
    context.service = u8(proto::Service::Rd);
    context.shared = true, context.srqn = 0x21;
    context.has_queue = true, context.queue_service = u8(proto::Service::Rd);
    context.queue_state = u8(proto::QpState::Rts);
    context.domain = context.queue_domain = 9, context.qkey = 0x11;
  }
  rtl::Parsed rd(u8 opcode, u32 psn, u16 payload = 8) const {
    rtl::Parsed p = request(opcode, psn, payload);
    p.rdeth.ee_context = 5, p.deth.qkey = 0x11;
    return p;
  }
};
}  // namespace

TEST_CASE("a RESYNC ends a SEND of RD, and its receive WQE returns or completes",
          "[responder_check][rtl][RSY-2][G13.1][G5.2]") {
  RdBench bench;
  const bool completes = GENERATE(false, true);
  bench.context.completes_at_resync = completes;
  // SEND First, RESYNC six PSNs later, SEND Only.
  bench.run({bench.rd(0x40, 0x10, 256), bench.rd(0x55, 0x16, 0), bench.rd(0x44, 0x17)});
  CHECK(bench.causes() == Causes{Good, Good, Good});
  REQUIRE(bench.judged.size() == 3);
  CHECK(bench.judged[0].ee);
  CHECK(bench.judged[0].qpn == 5);
  CHECK(bench.judged[0].srqn == 0x21);
  CHECK(bench.judged[0].receive_wqe == 0);
  CHECK(bench.judged[0].state.owner == 0x21);
  CHECK(bench.judged[1].completes_message);
  CHECK(bench.judged[1].keeps_wqe == !completes);
  CHECK(bench.judged[1].ack_psn == 0x16);
  CHECK(bench.judged[1].msn == 0);
  CHECK(bench.judged[1].state.epsn == 0x17);
  CHECK(bench.judged[1].state.rq_consumed == (completes ? 1 : 0));
  CHECK(bench.judged[2].receive_wqe == (completes ? 1 : 0));
  CHECK(bench.judged[2].msn == 1);
}

TEST_CASE("a queue pair that RD cannot use is refused by a NAK, and the EE context goes on",
          "[responder_check][rtl][T10-14/RD][T10-11/RD][T10-12/RD][T11]") {
  RdBench bench;
  rtl::Parsed wrong_key = bench.rd(0x44, 0x10);
  wrong_key.deth.qkey = 0x10;
  bench.run({wrong_key, bench.rd(0x44, 0x11), bench.rd(0x44, 0x10)});
  CHECK(bench.causes() == Causes{BadQkey, NakPending, Good});
  CHECK(bench.judged[0].syndrome == 0x64);  // T5: invalid RD request
  CHECK(bench.judged[0].ack_psn == 0x10);
  bench.context.queue_domain = 8;
  bench.run({bench.rd(0x44, 0x11)});
  CHECK(bench.causes() == Causes{WrongRdDomain});
  bench.context.queue_state = u8(proto::QpState::Init);
  bench.run({bench.rd(0x44, 0x11), bench.rd(0x55, 0x11, 0)});  // a RESYNC needs none
  CHECK(bench.causes() == Causes{NoRdQueue, Good});
}

TEST_CASE("a message of RD that goes to another queue pair ends, and its WQE goes back",
          "[responder_check][rtl][T10-9/RD][G13.1]") {
  RdBench bench;
  rtl::Parsed other = bench.rd(0x42, 0x11);
  other.bth.dest_qp = 0x22;
  bench.run({bench.rd(0x40, 0x10, 256), other});
  CHECK(bench.causes() == Causes{Good, BadSequence});
  CHECK(bench.judged[1].action == u8(RequestAction::NakAndEnd));
  CHECK(bench.judged[1].syndrome == 0x61);  // T5: invalid request
  CHECK(bench.judged[1].keeps_wqe);
  CHECK(bench.judged[1].srqn == 0x21);  // its owner's queue
  CHECK(bench.judged[1].state.rq_consumed == 0);
  CHECK(bench.judged[1].state.message == 0);
}
}  // namespace hca::testbench
