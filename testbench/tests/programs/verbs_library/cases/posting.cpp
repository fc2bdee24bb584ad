// SPDX-License-Identifier: Apache-2.0
// ibv_post_send(3), ibv_post_recv(3), ibv_wr_post(3): what is refused when it is posted.
#include <algorithm>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// In which states work requests are taken (10.3.1 of the specification).
struct StateRow {
  ibv_qp_state state;
  int send, receive;
};
constexpr std::array kStates{StateRow{IBV_QPS_RESET, EINVAL, EINVAL},
                             StateRow{IBV_QPS_INIT, EINVAL, 0}, StateRow{IBV_QPS_RTR, EINVAL, 0},
                             StateRow{IBV_QPS_RTS, 0, 0}};

void check_states_of_posting(Bench& bench) {
  ibv_qp* const qp = bench.a.make_qp(IBV_QPT_UD);
  Path path = path_to(IBV_QPT_UD, bench.a, bench.b, 0);
  ibv_ah_attr to = address_of(bench.b);
  ibv_ah* const ah = ibv_create_ah(bench.a.pd, &to);
  ibv_sge data = bench.a.sge(0, 64);
  for (const StateRow& row : kStates) {
    if (row.state == IBV_QPS_INIT) ibv_modify_qp(qp, &path.init, path.init_mask);
    if (row.state == IBV_QPS_RTR) ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
    if (row.state == IBV_QPS_RTS) ibv_modify_qp(qp, &path.rts, path.rts_mask);
    ibv_send_wr wr = work(IBV_WR_SEND, &data), *bad = nullptr;
    wr.wr.ud.ah = ah, wr.wr.ud.remote_qpn = 1000;
    const std::string state = " in state " + std::to_string(row.state);
    bench.checks->equal("a send" + state, ibv_post_send(qp, &wr, &bad), row.send);
    bench.checks->holds("bad_wr names it" + state, bad == (row.send ? &wr : nullptr));
    bench.checks->equal("a receive" + state, post_receive(qp, data), row.receive);
  }
  ibv_destroy_qp(qp);
  ibv_destroy_ah(ah);
}

// Which opcodes each service has: the table of ibv_post_send(3).
struct OpcodeRow {
  ibv_wr_opcode opcode;
  bool ud, uc;
};
constexpr std::array kOpcodes{OpcodeRow{IBV_WR_RDMA_WRITE, false, true},
                              OpcodeRow{IBV_WR_RDMA_WRITE_WITH_IMM, false, true},
                              OpcodeRow{IBV_WR_RDMA_READ, false, false},
                              OpcodeRow{IBV_WR_ATOMIC_CMP_AND_SWP, false, false},
                              OpcodeRow{IBV_WR_ATOMIC_FETCH_AND_ADD, false, false},
                              OpcodeRow{IBV_WR_LOCAL_INV, false, true},
                              OpcodeRow{IBV_WR_BIND_MW, false, true},
                              OpcodeRow{IBV_WR_SEND_WITH_INV, false, true}};

void check_opcodes(Bench& bench) {
  for (const ibv_qp_type type : {IBV_QPT_UD, IBV_QPT_UC}) {
    const Pair pair(bench, type);
    ibv_ah_attr to = address_of(bench.b);
    ibv_ah* const ah = ibv_create_ah(bench.a.pd, &to);
    for (const OpcodeRow& row : kOpcodes) {
      ibv_sge data = bench.a.sge(0, 8);
      ibv_send_wr wr = work(row.opcode, &data);
      if (type == IBV_QPT_UD) wr.wr.ud.ah = ah;
      if (!(type == IBV_QPT_UD ? row.ud : row.uc))
        bench.checks->equal("an opcode that its service does not have", post(pair.a, wr), EINVAL);
    }
    ibv_destroy_ah(ah);
  }
}

void check_refused(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  Checks& checks = *bench.checks;
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(ibv_wr_opcode(99), &data);
  checks.equal("an opcode that is none", post(pair.a, wr), EINVAL);
  wr = work(IBV_WR_SEND, &data);
  wr.num_sge = 100;
  checks.equal("more SGEs than the queue has", post(pair.a, wr), EINVAL);
  wr.num_sge = -1;
  checks.equal("-1 SGEs", post(pair.a, wr), EINVAL);
  ibv_sge much = bench.a.sge(0, 4096);
  wr = work(IBV_WR_SEND, &much);
  wr.send_flags |= IBV_SEND_INLINE;
  checks.equal("more inline data than there is room for", post(pair.a, wr), EINVAL);
  wr = work(IBV_WR_RDMA_READ, &data);
  wr.send_flags |= IBV_SEND_INLINE;
  checks.equal("a READ with inline data", post(pair.a, wr), EINVAL);
  ibv_recv_wr receive{}, *bad = nullptr;
  receive.sg_list = &data, receive.num_sge = 100;
  checks.equal("a receive with more SGEs", ibv_post_recv(pair.a, &receive, &bad), EINVAL);
  checks.holds("and is named", bad == &receive);
  checks.holds("nothing of it completes", !bench.a.has_completion_left());
}

// ibv_create_qp(3) says how much the queue has room for: all of it goes.
void check_inline(Bench& bench, ibv_qp_type type, unsigned bytes) {
  Checks& checks = *bench.checks;
  ibv_qp_init_attr wanted = bench.a.wanted_qp(type);
  wanted.cap.max_inline_data = bytes;
  ibv_qp* const a = ibv_create_qp(bench.a.pd, &wanted);
  checks.holds("room for inline data", a && wanted.cap.max_inline_data >= bytes);
  if (!a) return;
  ibv_qp* const b = bench.b.make_qp(type);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  for (unsigned i = 0; i < bytes; ++i) bench.a.buffer[i] = (unsigned char)(7 * i + 1);
  bench.b.buffer.fill(0);
  post_receive(b, bench.b.sge(0, 1024));
  ibv_ah_attr to = address_of(bench.b);
  ibv_ah* const ah = ibv_create_ah(bench.a.pd, &to);
  ibv_sge data = bench.a.sge(0, bytes);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  wr.send_flags |= IBV_SEND_INLINE;
  if (type == IBV_QPT_UD)
    wr.wr.ud.ah = ah, wr.wr.ud.remote_qpn = b->qp_num, wr.wr.ud.remote_qkey = 0x1234;
  checks.equal("the most inline data", post(a, wr), 0);
  checks.equal("is sent", bench.a.next_completion().status, IBV_WC_SUCCESS);
  const unsigned front = type == IBV_QPT_UD ? sizeof(ibv_grh) : 0;
  checks.equal("all of it", bench.b.next_completion().byte_len, bytes + front);
  checks.holds("as it was", std::equal(bench.a.buffer.begin(), bench.a.buffer.begin() + bytes,
                                       bench.b.buffer.begin() + front));
  checks.equal("destroyed", ibv_destroy_ah(ah) | ibv_destroy_qp(a) | ibv_destroy_qp(b), 0);
  ++wanted.cap.max_inline_data;
  checks.equal("more than the device has",
               error_of(ibv_create_qp(bench.a.pd, &wanted), ibv_destroy_qp), EINVAL);
}

// Requests before the first refused one are carried out.
void check_lists(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  Checks& checks = *bench.checks;
  ibv_sge data = bench.a.sge(0, 8);
  std::array<ibv_send_wr, 3> list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] = work(IBV_WR_RDMA_WRITE, &data, 10 + i);
    set_remote(list[i], bench.b);
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
  }
  list[1].num_sge = 100;
  ibv_send_wr* bad = nullptr;
  checks.equal("a list whose second is refused", ibv_post_send(pair.a, list.data(), &bad), EINVAL);
  checks.holds("bad_wr is the second", bad == &list[1]);
  checks.equal("the first is carried out", (long long)bench.a.next_completion().wr_id, 10);
  checks.holds("and no other", !bench.a.has_completion_left());
}

// The queue is full after max_send_wr, and has room again when one has completed.
void check_full(Bench& bench) {
  ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
  ibv_qp* const qp = ibv_create_qp(bench.a.pd, &wanted);
  bench.checks->equal("a queue pair is initialized", to_init(qp, bench.a), 0);
  unsigned posted = 0;
  while (posted < 2 * wanted.cap.max_recv_wr && !post_receive(qp, bench.a.sge(0, 8), posted))
    ++posted;
  bench.checks->equal("receives of a queue", posted, wanted.cap.max_recv_wr);
  bench.checks->equal("one more", post_receive(qp, bench.a.sge(0, 8)), ENOMEM);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(qp, &to, IBV_QP_STATE);
  for (unsigned i = 0; i < posted; ++i) {
    const ibv_wc wc = bench.a.next_completion();
    bench.checks->equal("it is flushed", wc.status, IBV_WC_WR_FLUSH_ERR);
    bench.checks->equal("in order", (long long)wc.wr_id, i);
  }
  bench.checks->equal("there is room again", post_receive(qp, bench.a.sge(0, 8)), 0);
  ibv_destroy_qp(qp);
}

// A mistake on the way takes all of a ibv_wr_start() back.
void check_builder(Bench& bench) {
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = bench.a.cq, wanted.qp_type = IBV_QPT_RC;
  wanted.cap = {kDepth, kDepth, 2, 2, 64};
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.pd = bench.a.pd, wanted.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
  ibv_qp* const a = ibv_create_qp_ex(bench.a.context, &wanted);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC);
  Checks& checks = *bench.checks;
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  ibv_qp_ex* const ex = ibv_qp_to_qp_ex(a);
  const auto remote = reinterpret_cast<std::uintptr_t>(bench.b.buffer.data());
  const auto write = [&](std::uint64_t id, std::size_t sges) {
    const std::vector<ibv_sge> list(sges, bench.a.sge(0, 8));
    ex->wr_id = id, ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(ex, bench.b.mr->rkey, remote);
    ibv_wr_set_sge_list(ex, sges, list.data());
  };
  ibv_wr_start(ex);
  write(1, 1), write(2, 100);
  checks.equal("too many SGEs", ibv_wr_complete(ex), EINVAL);
  ibv_wr_start(ex);
  write(3, 1);
  ibv_wr_abort(ex);
  checks.holds("nothing of both is posted", !bench.a.has_completion_left());
  ibv_wr_start(ex);
  write(4, 1);
  checks.equal("a good one", ibv_wr_complete(ex), 0);
  checks.equal("is carried out", (long long)bench.a.next_completion().wr_id, 4);
  wanted.send_ops_flags = std::uint64_t{1} << 40;
  checks.equal("operations that there are not",
               error_of(ibv_create_qp_ex(bench.a.context, &wanted), ibv_destroy_qp), EOPNOTSUPP);
  ibv_destroy_qp(a);
  ibv_destroy_qp(b);
}

// A queue pair that may have no READ or ATOMIC in flight would never come to one.
void check_depth(Bench& bench) {
  Checks& checks = *bench.checks;
  Pair pair(bench, IBV_QPT_RC);
  ibv_qp_attr reset{};
  ibv_modify_qp(pair.a, &reset, IBV_QP_STATE);
  Path path = path_to(IBV_QPT_RC, bench.a, bench.b, pair.b->qp_num);
  path.rts.max_rd_atomic = 0;
  ibv_modify_qp(pair.a, &path.init, path.init_mask);
  ibv_modify_qp(pair.a, &path.rtr, path.rtr_mask);
  checks.equal("a depth of 0", ibv_modify_qp(pair.a, &path.rts, path.rts_mask), 0);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr write = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(write, bench.b);
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    ibv_send_wr wr = work(opcode, &data), *bad = nullptr;
    set_remote(wr, bench.b);
    write.next = &wr;
    const std::string what = "opcode " + std::to_string(opcode);
    checks.equal(what, ibv_post_send(pair.a, &write, &bad), EINVAL);
    checks.holds(what + " is the bad one", bad == &wr);
    checks.equal(what + " has a WRITE in front of it", bench.a.next_completion().status,
                 IBV_WC_SUCCESS);
  }
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(pair.a, &error, IBV_QP_STATE);
  ibv_send_wr wr = work(IBV_WR_RDMA_READ, &data);
  checks.equal("in error it is posted", post(pair.a, wr), 0);
  checks.equal("and flushed", bench.a.next_completion().status, IBV_WC_WR_FLUSH_ERR);
}
}  // namespace

void check_posting(Bench& bench) {
  check_states_of_posting(bench);
  check_opcodes(bench);
  check_refused(bench);
  check_inline(bench, IBV_QPT_RC, 480);
  check_inline(bench, IBV_QPT_UD, 432);
  check_lists(bench);
  check_full(bench);
  check_builder(bench);
  check_depth(bench);
}
}  // namespace cases
