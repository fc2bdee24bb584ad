// SPDX-License-Identifier: Apache-2.0
// ibv_create_cq_ex(3), ibv_wr_post(3): what a thread calls between ibv_start_poll() and
// ibv_end_poll(), or between ibv_wr_start() and ibv_wr_complete(), comes back.
#include <time.h>

#include <utility>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr int kWrites = 4;

// A queue pair whose CQ has an extended API, and one beside it.
struct Polled {
  Polled(Bench& ends, bool single_threaded) : bench(ends) {
    ibv_cq_init_attr_ex wanted{};
    wanted.cqe = kDepth, wanted.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    wanted.flags = single_threaded ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0;
    wanted.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    cq = ibv_create_cq_ex(bench.a.context, &wanted);
    ibv_qp_init_attr made = bench.a.wanted_qp(IBV_QPT_RC);
    made.send_cq = plain();
    qp = ibv_create_qp(bench.a.pd, &made), other = ibv_create_qp(bench.a.pd, &made);
    peer = bench.b.make_qp(IBV_QPT_RC);
    bench.checks->equal("they are connected", connect(qp, bench.a, peer, bench.b), 0);
    for (int i = 0; i < kWrites; ++i) write(100 + i);
    const timespec moment{0, 20'000'000};
    nanosleep(&moment, nullptr);
  }
  ~Polled() {
    int error = ibv_destroy_qp(peer);
    for (ibv_qp* one : {qp, other})
      if (one) error |= ibv_destroy_qp(one);
    bench.checks->equal("destroyed", error | ibv_destroy_cq(plain()), 0);
  }
  Polled(const Polled&) = delete;
  ibv_cq* plain() const { return ibv_cq_ex_to_cq(cq); }
  int write(std::uint64_t id) {
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data, id);
    set_remote(wr, bench.b);
    return post(qp, wr);
  }
  int modify(ibv_qp_state state) {
    ibv_qp_attr to{};
    to.qp_state = state;
    return ibv_modify_qp(qp, &to, IBV_QP_STATE);
  }
  int destroy(ibv_qp*& one) { return ibv_destroy_qp(std::exchange(one, nullptr)); }
  int poll() {
    ibv_wc wc{};
    const int got = ibv_poll_cq(plain(), 1, &wc);
    return got == 1 && wc.wr_id == 101 ? 0 : EIO;
  }
  Bench& bench;
  ibv_cq_ex* cq;
  ibv_qp *qp, *other, *peer;
};

// What the call gives, and how many completions come by ibv_next_poll() then.
struct BetweenRow {
  const char* what;
  int wanted, left;
  int (*call)(Polled&);
};
ibv_poll_cq_attr g_none{};
constexpr std::array kBetween{
    // clang-format off
    BetweenRow{"to Error",                  0,     3, [](Polled& p) { return p.modify(IBV_QPS_ERR); }},
    BetweenRow{"to Reset",                  0,     0, [](Polled& p) { return p.modify(IBV_QPS_RESET); }},
    BetweenRow{"its queue pair's end",      0,     0, [](Polled& p) { return p.destroy(p.qp); }},
    BetweenRow{"another queue pair's end",  0,     3, [](Polled& p) { return p.destroy(p.other); }},
    BetweenRow{"ibv_req_notify_cq",         0,     3, [](Polled& p) { return ibv_req_notify_cq(p.plain(), 0); }},
    BetweenRow{"ibv_poll_cq",               0,     2, [](Polled& p) { return p.poll(); }},
    BetweenRow{"ibv_poll_cq of another",    0,     3, [](Polled& p) { ibv_wc wc; return ibv_poll_cq(p.bench.a.cq, 1, &wc); }},
    BetweenRow{"ibv_start_poll",            EBUSY, 3, [](Polled& p) { return ibv_start_poll(p.cq, &g_none); }},
    BetweenRow{"ibv_resize_cq",             0,     3, [](Polled& p) { return ibv_resize_cq(p.plain(), 200); }},
    BetweenRow{"ibv_destroy_cq",            EBUSY, 3, [](Polled& p) { return ibv_destroy_cq(p.plain()); }},
    BetweenRow{"ibv_post_send",             0,     3, [](Polled& p) { return p.write(7); }},
    BetweenRow{"ibv_post_recv",             0,     3, [](Polled& p) { return post_receive(p.qp, p.bench.a.sge(0, 8)); }},
    BetweenRow{"ibv_create_qp",             0,     3, [](Polled& p) { return ibv_destroy_qp(p.bench.a.make_qp(IBV_QPT_RC)); }},
    BetweenRow{"ibv_query_qp",              0,     3, [](Polled& p) { return state_of(p.qp) == IBV_QPS_RTS ? 0 : EIO; }},
    // clang-format on
};
void check_polling(Bench& bench, const BetweenRow& row, bool single_threaded) {
  Checks& checks = *bench.checks;
  Polled polled(bench, single_threaded);
  const std::string what = row.what + std::string(single_threaded ? ", of a single thread" : "");
  checks.equal("ibv_start_poll", ibv_start_poll(polled.cq, &g_none), 0);
  const std::uint64_t time = ibv_wc_read_completion_ts(polled.cq);
  errno = 0;
  checks.equal(what, row.call(polled), row.wanted);
  if (row.wanted) checks.equal(what + ", errno", errno, row.wanted);
  checks.equal(what + ", the completion", (long long)polled.cq->wr_id, 100);
  checks.holds(what + ", its time", ibv_wc_read_completion_ts(polled.cq) == time);
  int left = 0;
  while (!ibv_next_poll(polled.cq) && polled.cq->wr_id >= 100) ++left;
  checks.equal(what + ", completions after it", left, row.left);
  ibv_end_poll(polled.cq);
  ibv_end_poll(polled.cq);  // there is nothing to end
}

// ---- Between ibv_wr_start() and ibv_wr_complete()
struct PostedRow {
  const char* what;
  int wanted;    // what the call gives
  int complete;  // and ibv_wr_complete() after it
  int (*call)(Bench&, ibv_qp*);
};
int post_between(Bench& bench, ibv_qp* qp) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  return post(qp, wr);
}
int start_between(Bench&, ibv_qp* qp) {
  ibv_wr_start(ibv_qp_to_qp_ex(qp));
  return ibv_wr_complete(ibv_qp_to_qp_ex(qp));
}
int reset_between(Bench&, ibv_qp* qp) {
  ibv_qp_attr to{};
  return ibv_modify_qp(qp, &to, IBV_QP_STATE);
}
constexpr std::array kPosted{
    // clang-format off
    PostedRow{"ibv_post_send",            EBUSY, 0,     post_between},
    PostedRow{"ibv_wr_start",             EBUSY, EBUSY, start_between},
    PostedRow{"to Reset",                 EBUSY, 0,     reset_between},
    PostedRow{"the queue pair's end",     EBUSY, 0,     [](Bench&, ibv_qp* qp) { return ibv_destroy_qp(qp); }},
    PostedRow{"ibv_poll_cq",              0,     0,     [](Bench& b, ibv_qp*) { ibv_wc wc; return ibv_poll_cq(b.a.cq, 1, &wc); }},
    PostedRow{"ibv_query_qp",             0,     0,     [](Bench&, ibv_qp* qp) { return state_of(qp) == IBV_QPS_RTS ? 0 : EIO; }},
    PostedRow{"ibv_post_recv",            0,     0,     [](Bench& b, ibv_qp* qp) { return post_receive(qp, b.a.sge(0, 8)); }},
    // clang-format on
};
void check_posting_between(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = bench.a.cq, wanted.qp_type = IBV_QPT_RC;
  wanted.cap = {kDepth, kDepth, 2, 2, 64}, wanted.pd = bench.a.pd;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
  ibv_qp* const qp = ibv_create_qp_ex(bench.a.context, &wanted);
  ibv_qp* const peer = bench.b.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(qp, bench.a, peer, bench.b), 0);
  ibv_qp_ex* const ex = ibv_qp_to_qp_ex(qp);
  for (const PostedRow& row : kPosted) {
    ibv_wr_start(ex);
    ex->wr_id = 9, ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(ex, bench.b.mr->rkey, bench.b.sge(0, 8).addr);
    ibv_wr_set_sge(ex, bench.a.mr->lkey, bench.a.sge(0, 8).addr, 8);
    errno = 0;
    checks.equal(row.what, row.call(bench, qp), row.wanted);
    if (row.wanted) checks.equal(std::string(row.what) + ", errno", errno, row.wanted);
    checks.equal(std::string(row.what) + ", ibv_wr_complete", ibv_wr_complete(ex), row.complete);
    if (!row.complete)
      checks.equal("it is posted", bench.a.next_completion().status, IBV_WC_SUCCESS);
    checks.holds("and nothing else", !bench.a.has_completion_left());
  }
  checks.equal("ibv_wr_complete() without ibv_wr_start()", ibv_wr_complete(ex), EINVAL);
  checks.equal("destroyed", ibv_destroy_qp(qp) | ibv_destroy_qp(peer), 0);
}

// ---- ibv_alloc_td(3), ibv_alloc_parent_domain(3)
ibv_pd* parent_of(ibv_context* context, ibv_pd* pd, ibv_td* td, std::uint32_t mask = 0) {
  ibv_parent_domain_init_attr wanted{};
  wanted.pd = pd, wanted.td = td, wanted.comp_mask = mask;
  return ibv_alloc_parent_domain(context, &wanted);
}
void check_parent_domains(Bench& bench) {
  Checks& checks = *bench.checks;
  End& a = bench.a;
  ibv_td_init_attr plain{}, unknown{};
  unknown.comp_mask = 1;
  ibv_td* const td = ibv_alloc_td(a.context, &plain);
  checks.holds("a thread domain", td && td->context == a.context);
  checks.equal("one with what there is not", ibv_alloc_td(a.context, &unknown) ? 0 : errno,
               EOPNOTSUPP);
  ibv_pd* const pd = ibv_alloc_pd(a.context);
  ibv_pd* const parent = parent_of(a.context, pd, td);
  checks.holds("a parent domain", parent && parent->context == a.context);
  checks.equal("of no domain", parent_of(a.context, nullptr, td) ? 0 : errno, EINVAL);
  checks.equal("of another device's", parent_of(a.context, bench.b.pd, td) ? 0 : errno, EINVAL);
  checks.equal("with allocators",
               parent_of(a.context, pd, td, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) ? 0 : errno,
               EOPNOTSUPP);
  checks.equal("a thread domain that is used", ibv_dealloc_td(td), EBUSY);
  checks.equal("errno", errno, EBUSY);
  checks.equal("a domain with a parent domain", ibv_dealloc_pd(pd), EBUSY);
  // What is made of it is of the domain: a key of the one is good for the other's queue pairs.
  ibv_mr* const mr = ibv_reg_mr(pd, a.buffer.data(), 64, kAllAccess);
  ibv_mw* const mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
  ibv_qp_init_attr wanted = a.wanted_qp(IBV_QPT_RC);
  ibv_qp* const qp = ibv_create_qp(parent, &wanted);
  ibv_qp* const peer = bench.b.make_qp(IBV_QPT_RC);
  checks.holds("a queue pair of a parent domain", qp && qp->pd == parent);
  checks.equal("they are connected", connect(qp, a, peer, bench.b), 0);
  checks.equal("a parent domain with a queue pair", ibv_dealloc_pd(parent), EBUSY);
  ibv_sge data{reinterpret_cast<std::uintptr_t>(a.buffer.data()), 8, mr->lkey};
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  checks.equal("a WRITE", post(qp, wr), 0);
  checks.equal("by the domain's key", a.next_completion().status, IBV_WC_SUCCESS);
  ibv_mw_bind bind{};
  bind.send_flags = IBV_SEND_SIGNALED, bind.bind_info = {mr, data.addr, 8, IBV_ACCESS_REMOTE_READ};
  checks.equal("a bind of the domain's window", ibv_bind_mw(qp, mw, &bind), 0);
  checks.equal("is done", a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("destroyed",
               ibv_destroy_qp(qp) | ibv_destroy_qp(peer) | ibv_dealloc_mw(mw) | ibv_dereg_mr(mr) |
                   ibv_dealloc_pd(parent) | ibv_dealloc_pd(pd) | ibv_dealloc_td(td),
               0);
}
}  // namespace

void check_between(Bench& bench) {
  for (const BetweenRow& row : kBetween)
    for (const bool single_threaded : {false, true}) check_polling(bench, row, single_threaded);
  check_posting_between(bench);
  check_parent_domains(bench);
}
}  // namespace cases
