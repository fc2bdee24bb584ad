// SPDX-License-Identifier: Apache-2.0
// What a work request that goes wrong ends with at both ends, and what becomes of the queue pairs.
#include <cstring>
#include <set>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// A request of `a` that goes wrong.
struct ErrorRow {
  const char* what;
  ibv_wr_opcode opcode;
  void (*change)(Bench&, ibv_send_wr&);
  int receive;                               // bytes that `b` is ready to receive; -1: it is not
  ibv_wc_status at_requester, at_responder;  // SUCCESS there: no completion
  int event = -1;                            // at the responder
};
constexpr std::array kErrors{
    ErrorRow{"a wrong R_Key", IBV_WR_RDMA_WRITE, [](Bench&, auto& wr) { wr.wr.rdma.rkey ^= 0x55; },
             -1, IBV_WC_REM_ACCESS_ERR, IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
    ErrorRow{"a READ with a wrong R_Key", IBV_WR_RDMA_READ,
             [](Bench&, auto& wr) { wr.wr.rdma.rkey ^= 0x55; }, -1, IBV_WC_REM_ACCESS_ERR,
             IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
    ErrorRow{"a WRITE beyond the region", IBV_WR_RDMA_WRITE,
             [](Bench&, auto& wr) { wr.wr.rdma.remote_addr += kBytes - 4; }, -1,
             IBV_WC_REM_ACCESS_ERR, IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
    ErrorRow{"an ATOMIC that is not aligned", IBV_WR_ATOMIC_FETCH_AND_ADD,
             [](Bench&, auto& wr) { wr.wr.atomic.remote_addr += 1; }, -1, IBV_WC_REM_INV_REQ_ERR,
             IBV_WC_SUCCESS, IBV_EVENT_QP_REQ_ERR},
    ErrorRow{"an L_Key that is none", IBV_WR_SEND,
             [](Bench&, auto& wr) { wr.sg_list->lkey ^= 0x55; }, 64, IBV_WC_LOC_PROT_ERR,
             IBV_WC_SUCCESS},
    ErrorRow{"data beyond the own region", IBV_WR_SEND,
             [](Bench&, auto& wr) { wr.sg_list->addr += kBytes; }, 64, IBV_WC_LOC_PROT_ERR,
             IBV_WC_SUCCESS},
    ErrorRow{"a message that is too long", IBV_WR_SEND, [](Bench&, auto&) {}, 4,
             IBV_WC_REM_INV_REQ_ERR, IBV_WC_LOC_LEN_ERR},
    ErrorRow{"a receive that is not posted", IBV_WR_SEND, [](Bench&, auto&) {}, -1,
             IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_SUCCESS},
    ErrorRow{"an immediate without a receive", IBV_WR_RDMA_WRITE_WITH_IMM, [](Bench&, auto&) {}, -1,
             IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_SUCCESS},
};

// Send and receive queue are flushed in no order.
void expect_flushed(Bench& bench, const std::string& what, End& end, std::set<std::uint64_t> ids) {
  while (!ids.empty()) {
    const ibv_wc wc = end.next_completion();
    bench.checks->equal(what + ": what is outstanding is flushed", wc.status, IBV_WC_WR_FLUSH_ERR);
    bench.checks->equal(what + ": once", (long long)ids.count(wc.wr_id), 1);
    if (wc.status == IBV_WC_WR_FLUSH_ERR) ids.erase(wc.wr_id);
    if (int(wc.status) == -1) return;
  }
}

void check_error(Bench& bench, const ErrorRow& row) {
  const Pair pair(bench, IBV_QPT_RC);
  Checks& checks = *bench.checks;
  const std::string what = row.what;
  if (row.receive >= 0)
    checks.equal(what, post_receive(pair.b, bench.b.sge(0, unsigned(row.receive)), 20), 0);
  checks.equal(what, post_receive(pair.a, bench.a.sge(512, 64), 12), 0);
  ibv_sge data = bench.a.sge(0, 8), good = data;
  std::array<ibv_send_wr, 2> list{work(row.opcode, &data, 10), work(IBV_WR_RDMA_WRITE, &good, 11)};
  for (ibv_send_wr& wr : list) set_remote(wr, bench.b);
  row.change(bench, list[0]);
  list[0].next = &list[1];
  checks.equal(what + " is posted", post(pair.a, list[0]), 0);
  const ibv_wc wc = bench.a.next_completion();
  checks.equal(what, wc.status, row.at_requester);
  checks.equal(what + ": its wr_id", (long long)wc.wr_id, 10);
  checks.equal(what + ": its qp_num", wc.qp_num, pair.a->qp_num);
  expect_flushed(bench, what, bench.a, {11, 12});
  checks.equal(what + ": the requester's state", state_of(pair.a), IBV_QPS_ERR);
  if (row.at_responder != IBV_WC_SUCCESS)
    checks.equal(what + " at the responder", bench.b.next_completion().status, row.at_responder);
  if (row.event >= 0) checks.equal(what + ": its event", bench.b.next_event(), row.event);
  const bool responder_fails = row.event >= 0 || row.at_responder != IBV_WC_SUCCESS;
  checks.equal(what + ": the responder's state", state_of(pair.b),
               responder_fails ? IBV_QPS_ERR : IBV_QPS_RTS);
  // In Error all that is posted is flushed.
  ibv_send_wr after = work(IBV_WR_SEND, &good, 13);
  checks.equal(what + ": a send in Error", post(pair.a, after), 0);
  expect_flushed(bench, what, bench.a, {13});
  checks.holds(what + ": no more",
               !bench.a.has_completion_left() && !bench.b.has_completion_left());
}

// The right to do it is that of the region, and that of the queue pair.
void check_rights(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_mr* const read_only =
      ibv_reg_mr(bench.b.pd, bench.b.buffer.data(), kBytes, int(IBV_ACCESS_REMOTE_READ));
  {
    const Pair pair(bench, IBV_QPT_RC);
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_READ, &data);
    set_remote(wr, bench.b);
    wr.wr.rdma.rkey = read_only->rkey;
    post(pair.a, wr);
    checks.equal("a READ of a region to read", bench.a.next_completion().status, IBV_WC_SUCCESS);
    wr.opcode = IBV_WR_RDMA_WRITE;
    post(pair.a, wr);
    checks.equal("a WRITE to it", bench.a.next_completion().status, IBV_WC_REM_ACCESS_ERR);
    bench.b.next_event();
  }
  const Pair pair(bench, IBV_QPT_RC);
  ibv_qp_attr none{};
  none.qp_state = IBV_QPS_RTS;
  checks.equal("a queue pair gives no right",
               ibv_modify_qp(pair.b, &none, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  post(pair.a, wr);
  checks.equal("a WRITE through it", bench.a.next_completion().status, IBV_WC_REM_INV_REQ_ERR);
  bench.b.next_event();
  ibv_dereg_mr(read_only);
}

// A peer that does not answer: its queue pair was reset, or its program has closed the device.
void check_silence(Bench& bench) {
  Checks& checks = *bench.checks;
  for (const bool closes : {false, true}) {
    auto* const peer = new End(bench.list[0]);
    ibv_qp* const there = peer->make_qp(IBV_QPT_RC);
    ibv_qp* const here = bench.b.make_qp(IBV_QPT_RC);
    checks.equal("they are connected", connect(here, bench.b, there, *peer), 0);
    ibv_qp_attr reset{};
    if (closes)
      peer->close();
    else
      ibv_modify_qp(there, &reset, IBV_QP_STATE);
    ibv_sge data = bench.b.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    post(here, wr);
    checks.equal("nobody answers", bench.b.next_completion().status, IBV_WC_RETRY_EXC_ERR);
    checks.equal("the queue pair", state_of(here), IBV_QPS_ERR);
    ibv_destroy_qp(here);
    if (!closes) ibv_destroy_qp(there);
    delete peer;
  }
}

// Without errors: what a completion says.
void check_success(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  Checks& checks = *bench.checks;
  std::memcpy(bench.a.buffer.data(), "abcdefg", 8);
  post_receive(pair.b, bench.b.sge(256, 64), 20);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND_WITH_IMM, &data, 10);
  wr.imm_data = 0x01020304;
  post(pair.a, wr);
  ibv_wc wc = bench.a.next_completion();
  checks.equal("a send", wc.status, IBV_WC_SUCCESS);
  checks.equal("its opcode", wc.opcode, IBV_WC_SEND);
  wc = bench.b.next_completion();
  checks.equal("a receive", wc.status, IBV_WC_SUCCESS);
  checks.equal("its opcode", wc.opcode, IBV_WC_RECV);
  checks.equal("its bytes", wc.byte_len, 8);
  checks.equal("its flags", wc.wc_flags, IBV_WC_WITH_IMM);
  checks.equal("its immediate", wc.imm_data, 0x01020304);
  checks.equal("its wr_id", (long long)wc.wr_id, 20);
  checks.holds("its data", !std::memcmp(bench.b.buffer.data() + 256, "abcdefg", 8));
  wr = work(IBV_WR_RDMA_WRITE, &data, 11);
  set_remote(wr, bench.b);
  wr.send_flags = 0;
  post(pair.a, wr);
  wr.wr_id = 12, wr.send_flags = IBV_SEND_SIGNALED;
  post(pair.a, wr);
  wc = bench.a.next_completion();
  checks.equal("of two WRITEs the one that is signaled", (long long)wc.wr_id, 12);
  checks.equal("its opcode", wc.opcode, IBV_WC_RDMA_WRITE);
  checks.holds("no other", !bench.a.has_completion_left());
}
}  // namespace

void check_completions(Bench& bench) {
  check_success(bench);
  for (const ErrorRow& row : kErrors) check_error(bench, row);
  check_rights(bench);
  check_silence(bench);
}
}  // namespace cases
