// SPDX-License-Identifier: Apache-2.0
// Posting, polling, events: what is refused is not posted.
#include <fcntl.h>

#include "testbench/tests/programs/verbs_library/cases/table.h"

namespace cases {
namespace {
// A RDMA WRITE, changed. -1: *bad_wr is not what it should be.
long send(Things& t, ibv_qp* qp, void (*change)(Things&, ibv_send_wr&)) {
  static ibv_sge data[64];
  for (ibv_sge& one : data) one = t.a.sge(0, 1);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, data), *bad = nullptr;
  set_remote(wr, t.b);
  change(t, wr);
  const int error = ibv_post_send(qp, &wr, &bad);
  if (error) return bad == &wr ? error : -1;
  t.a.next_completion();
  return 0;
}
long receive(Things& t, ibv_qp* qp, int sges) {
  static ibv_sge data[64];
  for (ibv_sge& one : data) one = t.a.sge(0, 1);
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = data, wr.num_sge = sges;
  const int error = ibv_post_recv(qp, &wr, &bad);
  return error && bad != &wr ? -1 : error;
}
long receive_shared(Things& t, int sges) {
  static ibv_sge data[64];
  for (ibv_sge& one : data) one = t.a.sge(0, 1);
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = data, wr.num_sge = sges;
  const int error = ibv_post_srq_recv(t.srq, &wr, &bad);
  return error && bad != &wr ? -1 : error;
}
constexpr auto kPlain = [](Things&, ibv_send_wr&) {};
constexpr std::array kPosts{
    // clang-format off
    VerbRow{"ibv_post_send",     "in Reset",                     EINVAL, EINVAL, [](Things& t) { return send(t, t.reset, kPlain); }},
    VerbRow{"ibv_post_send",     "in Init",                      EINVAL, EINVAL, [](Things& t) { return send(t, t.init, kPlain); }},
    VerbRow{"ibv_post_send",     "in RTS",                       0, 0,           [](Things& t) { return send(t, t.rts, kPlain); }},
    VerbRow{"ibv_post_send",     "an opcode that is none",       EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.opcode = ibv_wr_opcode(99); }); }},
    VerbRow{"ibv_post_send",     "opcode -1",                    EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.opcode = ibv_wr_opcode(-1); }); }},
    VerbRow{"ibv_post_send",     "-1 SGEs",                      EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.num_sge = -1; }); }},
    VerbRow{"ibv_post_send",     "no SGE",                       0, 0,           [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.num_sge = 0; }); }},
    VerbRow{"ibv_post_send",     "max_send_sge",                 0, 0,           [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.num_sge = 2; }); }},
    VerbRow{"ibv_post_send",     "64 SGEs",                      EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.num_sge = 64; }); }},
    VerbRow{"ibv_post_send",     "a READ inline",                EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.opcode = IBV_WR_RDMA_READ, wr.send_flags |= IBV_SEND_INLINE; }); }},
    VerbRow{"ibv_post_send",     "inline",                       0, 0,           [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.send_flags |= IBV_SEND_INLINE; }); }},
    VerbRow{"ibv_post_send",     "too much inline",              EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.send_flags |= IBV_SEND_INLINE, wr.sg_list->length = kBytes; }); }},
    VerbRow{"ibv_post_send",     "a READ by UC",                 EINVAL, EINVAL, [](Things& t) { return send(t, t.uc, [](Things&, auto& wr) { wr.opcode = IBV_WR_RDMA_READ; }); }},
    VerbRow{"ibv_post_send",     "a WRITE by UD",                EINVAL, EINVAL, [](Things& t) { return send(t, t.ud, kPlain); }},
    VerbRow{"ibv_post_send",     "a datagram to nobody",         EINVAL, EINVAL, [](Things& t) { return send(t, t.ud, [](Things&, auto& wr) { wr.opcode = IBV_WR_SEND, wr.wr.ud.ah = nullptr; }); }},
    VerbRow{"ibv_post_send",     "by another device's path",     EINVAL, EINVAL, [](Things& t) { return send(t, t.ud, [](Things& u, auto& wr) { wr.opcode = IBV_WR_SEND, wr.wr.ud.ah = u.foreign_ah; }); }},
    VerbRow{"ibv_post_send",     "a datagram",                   0, 0,           [](Things& t) { return send(t, t.ud, [](Things& u, auto& wr) { wr.opcode = IBV_WR_SEND, wr.wr.ud.ah = u.ah, wr.wr.ud.remote_qpn = 0xffff; }); }},
    VerbRow{"ibv_post_send",     "a bind of no window",          EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things&, auto& wr) { wr.opcode = IBV_WR_BIND_MW, wr.bind_mw.mw = nullptr; }); }},
    VerbRow{"ibv_post_send",     "a bind of type 1",             EINVAL, EINVAL, [](Things& t) { return send(t, t.rts, [](Things& u, auto& wr) { wr.opcode = IBV_WR_BIND_MW, wr.bind_mw.mw = u.type_1; }); }},
    VerbRow{"ibv_post_recv",     "in Reset",                     EINVAL, EINVAL, [](Things& t) { return receive(t, t.reset, 1); }},
    VerbRow{"ibv_post_recv",     "in Init",                      0, 0,           [](Things& t) { return receive(t, t.init, 1); }},
    VerbRow{"ibv_post_recv",     "no SGE",                       0, 0,           [](Things& t) { return receive(t, t.init, 0); }},
    VerbRow{"ibv_post_recv",     "max_recv_sge",                 0, 0,           [](Things& t) { return receive(t, t.init, 2); }},
    VerbRow{"ibv_post_recv",     "one more",                     EINVAL, EINVAL, [](Things& t) { return receive(t, t.init, 3); }},
    VerbRow{"ibv_post_recv",     "-1 SGEs",                      EINVAL, EINVAL, [](Things& t) { return receive(t, t.init, -1); }},
    VerbRow{"ibv_post_recv",     "on an SRQ",                    EINVAL, EINVAL, [](Things& t) {
               ibv_qp* const qp = t.a.make_qp(IBV_QPT_RC, t.srq);
               to_init(qp, t.a);
               const long result = receive(t, qp, 1);
               const int set = errno;
               ibv_destroy_qp(qp);
               errno = set;
               return result; }},
    VerbRow{"ibv_post_srq_recv", "max_sge",                      0, 0,           [](Things& t) { return receive_shared(t, 2); }},
    VerbRow{"ibv_post_srq_recv", "one more",                     EINVAL, EINVAL, [](Things& t) { return receive_shared(t, 3); }},
    VerbRow{"ibv_post_srq_recv", "-1 SGEs",                      EINVAL, EINVAL, [](Things& t) { return receive_shared(t, -1); }},
    VerbRow{"ibv_post_srq_recv", "up to max_wr",                 0, 0,           [](Things& t) {
               long error = 0;
               for (int i = 1; i < kDepth; ++i) error |= receive_shared(t, 1);
               return error; }},
    VerbRow{"ibv_post_srq_recv", "above it",                     ENOMEM, ENOMEM, [](Things& t) { return receive_shared(t, 1); }},
    // clang-format on
};

// ---- Work requests that the HCA refuses: they are posted, and their completion says so
struct RefusedRow {
  const char* what;
  ibv_wc_status wanted;
  void (*change)(Things&, ibv_send_wr&);
};
void to_bind(Things& t, ibv_send_wr& wr, ibv_mw* mw, ibv_mr* mr, unsigned access) {
  wr.opcode = IBV_WR_BIND_MW, wr.num_sge = 0;
  wr.bind_mw.mw = mw, wr.bind_mw.rkey = mw->rkey + 1;
  wr.bind_mw.bind_info = {mr, t.a.sge(0, 8).addr, 8, access};
}
constexpr std::array kRefused{
    // clang-format off
    RefusedRow{"a local key of another domain",       IBV_WC_LOC_PROT_ERR,   [](Things& t, auto& wr) { wr.sg_list->lkey = t.other_mr->lkey; }},
    RefusedRow{"a local key that is none",            IBV_WC_LOC_PROT_ERR,   [](Things&, auto& wr) { wr.sg_list->lkey ^= 0x77; }},
    RefusedRow{"one byte beyond the region",          IBV_WC_LOC_PROT_ERR,   [](Things& t, auto& wr) { *wr.sg_list = t.a.sge(kBytes - 7, 8); }},
    RefusedRow{"a remote key that is none",           IBV_WC_REM_ACCESS_ERR, [](Things&, auto& wr) { wr.wr.rdma.rkey ^= 0x77; }},
    RefusedRow{"one byte beyond the remote region",   IBV_WC_REM_ACCESS_ERR, [](Things&, auto& wr) { wr.wr.rdma.remote_addr += kBytes; }},
    RefusedRow{"a READ into memory without the right", IBV_WC_REM_ACCESS_ERR, [](Things&, auto& wr) { wr.opcode = IBV_WR_RDMA_READ, wr.wr.rdma.rkey = 0; }},
    RefusedRow{"an ATOMIC of 4 bytes",                IBV_WC_LOC_LEN_ERR,    [](Things& t, auto& wr) { wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, wr.sg_list->length = 4, wr.wr.atomic.remote_addr = t.b.sge(0, 8).addr, wr.wr.atomic.rkey = t.b.mr->rkey; }},
    RefusedRow{"an ATOMIC across words",              IBV_WC_REM_INV_REQ_ERR, [](Things& t, auto& wr) { wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, wr.sg_list->length = 8, wr.wr.atomic.remote_addr = t.b.sge(4, 8).addr, wr.wr.atomic.rkey = t.b.mr->rkey; }},
    RefusedRow{"a bind of another device's window",   IBV_WC_MW_BIND_ERR,    [](Things& t, auto& wr) { to_bind(t, wr, t.foreign_window, t.a.mr, IBV_ACCESS_REMOTE_READ); }},
    RefusedRow{"a bind to another device's region",   IBV_WC_MW_BIND_ERR,    [](Things& t, auto& wr) { to_bind(t, wr, t.type_2, t.b.mr, IBV_ACCESS_REMOTE_READ); }},
    RefusedRow{"a bind to another domain's region",   IBV_WC_MW_BIND_ERR,    [](Things& t, auto& wr) { to_bind(t, wr, t.type_2, t.other_mr, IBV_ACCESS_REMOTE_READ); }},
    RefusedRow{"a bind to a region without the right", IBV_WC_MW_BIND_ERR,   [](Things& t, auto& wr) { to_bind(t, wr, t.type_2, t.plain_mr, IBV_ACCESS_REMOTE_READ); }},
    RefusedRow{"Local Invalidate of a region",        IBV_WC_MW_BIND_ERR,    [](Things& t, auto& wr) { wr.opcode = IBV_WR_LOCAL_INV, wr.invalidate_rkey = t.a.mr->rkey; }},
    RefusedRow{"Local Invalidate of nothing",         IBV_WC_MW_BIND_ERR,    [](Things&, auto& wr) { wr.opcode = IBV_WR_LOCAL_INV, wr.invalidate_rkey = 0x7777'7700; }},
    // clang-format on
};
void check_refused(Things& t) {
  for (const RefusedRow& row : kRefused) {
    const Pair pair(t.bench, IBV_QPT_RC);
    ibv_sge data = t.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data, 77);
    set_remote(wr, t.b);
    row.change(t, wr);
    t.bench.checks->equal(row.what, post(pair.a, wr), 0);
    const ibv_wc wc = t.a.next_completion();
    t.bench.checks->equal(row.what, wc.status, row.wanted);
    t.bench.checks->equal(row.what, (long long)wc.wr_id, 77);
    ibv_send_wr next = work(IBV_WR_SEND, &data, 78);
    t.bench.checks->equal("the next is posted", post(pair.a, next), 0);
    t.bench.checks->equal("and flushed", t.a.next_completion().status, IBV_WC_WR_FLUSH_ERR);
    while (t.b.next_event() >= 0) continue;
  }
}

constexpr std::array kEvents{
    // clang-format off
    VerbRow{"ibv_get_cq_event",    "none, O_NONBLOCK", -1, EAGAIN, [](Things& t) { ibv_cq* cq; void* context; fcntl(t.channel->fd, F_SETFL, O_NONBLOCK); return long(ibv_get_cq_event(t.channel, &cq, &context)); }},
    VerbRow{"ibv_get_async_event", "none, O_NONBLOCK", -1, EAGAIN, [](Things& t) { ibv_async_event event; return long(ibv_get_async_event(t.a.context, &event)); }},
    VerbRow{"ibv_open_device",     "once more",        kMade, 0,   [](Things& t) { return made(ibv_open_device(t.a.context->device), ibv_close_device); }},
    // clang-format on
};
}  // namespace

void check_work_verbs(Things& things) {
  walk(things, kPosts);
  check_refused(things);
  walk(things, kEvents);
}
}  // namespace cases
