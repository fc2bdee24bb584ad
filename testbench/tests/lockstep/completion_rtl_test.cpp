// SPDX-License-Identifier: Apache-2.0
// rtl/completion/completion.sv against CQEs written down from the table of the device.
#include "rtl/cpp/completion_rtl.h"

#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <vector>

#include "model/blocks/twins/completion_unit.h"

namespace hca::testbench {
namespace {
using blocks::CqStep;
using proto::CqResult;

// CQs whose contexts are answered one cycle after the look-up.
struct CompletionBench {
  rtl::CompletionRtl rtl{GENERATE(32u, 64u)};
  std::map<u32, rtl::CqContext> contexts{};
  std::vector<rtl::CqStepped> out{};
  std::vector<unsigned> at{};

  CompletionBench() {
    for (const u32 cqn : {0x21u, 0x22u}) {
      rtl::CqContext& cq = contexts[cqn];
      cq.allocated = true, cq.log_entries = 2, cq.address = 0x1000 * cqn;
    }
  }
  static rtl::CqStepBeat step(CqStep step, u32 cqn = 0x21) {
    rtl::CqStepBeat s{};
    s.first = s.last = true;
    s.op = u8(step), s.cqn = cqn;
    return s;
  }
  static rtl::CqStepBeat cqe(u32 cqn = 0x21) { return step(CqStep::Complete, cqn); }
  static rtl::CqStepBeat doorbell(u32 consumer) {
    rtl::CqStepBeat s = step(CqStep::Doorbell);
    s.consumer = consumer;
    return s;
  }
  // One a cycle.
  void run(const std::vector<rtl::CqStepBeat>& steps) {
    out.clear(), at.clear();
    std::optional<u32> ask;
    for (unsigned cycle = 0; cycle < 20 + steps.size(); ++cycle) {
      rtl.begin_cycle(true);
      rtl.look_ups()->answer(ask ? &contexts.at(*ask) : nullptr);
      std::optional<rtl::BeatOf<rtl::CqStepBeat>> beat;
      if (cycle < steps.size()) beat.emplace().control = steps[cycle];
      rtl.drive(beat ? &*beat : nullptr);
      ask = rtl.look_ups()->context_asked();
      if (rtl.out_valid()) {
        out.push_back(rtl.out().control), at.push_back(cycle);
        contexts.at(out.back().cqn).state = out.back().state;
      }
      rtl.end_cycle();
    }
    CHECK_FALSE(rtl.assertion_failed());
    REQUIRE(out.size() == steps.size());
  }
  void check(std::size_t i, CqResult result, u64 address, bool phase) const {
    INFO("step " << i);
    CHECK(CqResult(out.at(i).result) == result);
    CHECK(out.at(i).address == address);
    CHECK(out.at(i).cqe.phase == phase);
  }
};
using enum CqResult;
}  // namespace

TEST_CASE("a CQE comes 6 cycles behind its completion, one a cycle", "[completion][rtl]") {
  CompletionBench bench;
  bench.contexts[0x21].log_entries = 22;
  bench.run(std::vector<rtl::CqStepBeat>(12, CompletionBench::cqe()));
  for (unsigned i = 0; i < 12; ++i) {
    CHECK(bench.at[i] == i + 6);
    bench.check(i, Written, 0x21000 + 32 * i, true);
  }
}

TEST_CASE("each field of a CQE stands where the table says", "[completion][rtl]") {
  CompletionBench bench;
  rtl::CqStepBeat s = CompletionBench::cqe();
  s.opcode = 0x81, s.status = 0x0c, s.with_immediate = true, s.solicited = true;
  s.vendor_error = 0xee, s.qpn = 0xabcdef, s.wqe_index = 0x1234, s.byte_len = 0x80000001;
  s.immediate = 0xcafe0123, s.src_qp = 0x765432, s.slid = 0xc001, s.pkey_index = 0x0102, s.sl = 0xd;
  rtl::CqStepBeat other{};
  other.first = other.last = true, other.cqn = 0x21;
  other.with_invalidate = other.has_grh = true;
  bench.run({s, other});
  std::vector<u8> bytes(proto::kCqeBytes);
  proto::encode(bench.out[0].cqe, bytes.data());
  // Opcode, Status, flags, VendorError; QPN; WqeIndex; ByteLen; ImmDt; SrcQP; SLID, P_KeyIndex; SL,
  // Phase.
  CHECK(bytes == std::vector<u8>{0x81, 0x0c, 0xa0, 0xee, 0x00, 0xab, 0xcd, 0xef, 0x00, 0x00, 0x12,
                                 0x34, 0x80, 0x00, 0x00, 0x01, 0xca, 0xfe, 0x01, 0x23, 0x00, 0x76,
                                 0x54, 0x32, 0xc0, 0x01, 0x01, 0x02, 0xd0, 0x00, 0x00, 0x01});
  proto::encode(bench.out[1].cqe, bytes.data());
  std::vector<u8> flags(proto::kCqeBytes);
  flags[2] = 0x50, flags[31] = 0x01;
  CHECK(bytes == flags);
}

TEST_CASE("the phase is 1 on the first turn of a ring and flips with each", "[completion][rtl]") {
  CompletionBench bench;  // 4 entries
  std::vector<rtl::CqStepBeat> steps;
  for (u32 i = 0; i < 9; ++i) {
    steps.push_back(CompletionBench::cqe());
    steps.push_back(CompletionBench::doorbell(i + 1));
  }
  bench.run(steps);
  for (u32 i = 0; i < 9; ++i) {
    bench.check(2 * i, Written, 0x21000 + 32 * (i % 4), i / 4 % 2 == 0);
    CHECK(bench.out[2 * i + 1].address == 0);
  }
  CHECK(bench.contexts[0x21].state.producer == 9);
  CHECK(bench.contexts[0x21].state.consumer == 9);
  // 2^32 CQEs are a whole number of turns.
  bench.contexts[0x21].state = {0xffffffff, 0xffffffff, false};
  bench.run({CompletionBench::cqe(), CompletionBench::cqe()});
  bench.check(0, Written, 0x21060, false);
  bench.check(1, Written, 0x21000, true);
}

TEST_CASE("a full CQ overflows once and takes no more CQEs", "[completion][rtl][G21.3]") {
  CompletionBench bench;
  const auto cqe = CompletionBench::cqe();
  bench.run({cqe, cqe, CompletionBench::cqe(0x22), cqe, cqe, cqe, cqe, CompletionBench::doorbell(4),
             cqe, CompletionBench::cqe(0x22)});
  bench.check(3, Written, 0x21040, true);
  bench.check(4, Written, 0x21060, true);
  bench.check(5, FirstLost, 0, false);
  bench.check(6, Lost, 0, false);
  bench.check(8, Lost, 0, false);  // though all are taken
  CHECK(bench.contexts[0x21].state.producer == 4);
  CHECK(bench.contexts[0x21].state.overflowed);
  // The other one goes on.
  bench.check(2, Written, 0x22000, true);
  bench.check(9, Written, 0x22020, true);
}

TEST_CASE("a doorbell that comes in time makes room", "[completion][rtl][G21.3]") {
  CompletionBench bench;
  bench.contexts[0x21].state.producer = 4;
  bench.run({CompletionBench::doorbell(1), CompletionBench::cqe(), CompletionBench::cqe()});
  bench.check(1, Written, 0x21000, false);
  bench.check(2, FirstLost, 0, false);
}

TEST_CASE("a CQE counts as solicited if its message says so or it failed",
          "[completion][rtl][G21.2]") {
  CompletionBench bench;
  rtl::CqStepBeat solicited = CompletionBench::cqe(), failed = CompletionBench::cqe();
  solicited.solicited = true, failed.status = 5;
  bench.run({CompletionBench::cqe(), solicited, failed, CompletionBench::cqe(), failed});
  CHECK_FALSE(bench.out[0].solicited);
  CHECK(bench.out[1].solicited);
  CHECK(bench.out[2].solicited);
  CHECK_FALSE(bench.out[3].solicited);
  CHECK_FALSE(bench.out[4].solicited);  // it is lost
}

TEST_CASE("a CQE without a CQ is told and changes nothing", "[completion][rtl]") {
  CompletionBench bench;
  bench.contexts[0x21].allocated = false;
  rtl::CqStepBeat s = CompletionBench::cqe();
  s.qpn = 0x123;
  bench.run({s, CompletionBench::doorbell(7)});
  bench.check(0, NoQueue, 0, false);
  bench.check(1, NoQueue, 0, false);
  CHECK(bench.out[0].cqe.qpn == 0x123);
  CHECK(bench.contexts[0x21].state.producer == 0);
  CHECK(bench.contexts[0x21].state.consumer == 0);
}
}  // namespace hca::testbench
