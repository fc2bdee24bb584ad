// SPDX-License-Identifier: Apache-2.0
// fork(2): a child that gives back what it has inherited does not take it from its parent; all else
// is refused there. What a program that is gone has registered is not there any more, though a
// child of it holds its device.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// All that an end may have.
struct Everything {
  explicit Everything(Bench& bench)
      : pair(bench, IBV_QPT_RC), channel(ibv_create_comp_channel(bench.a.context)) {
    cq = ibv_create_cq(bench.a.context, kDepth, nullptr, channel, 0);
    ibv_srq_init_attr wanted{};
    wanted.attr = {kDepth, 1, 0};
    srq = ibv_create_srq(bench.a.pd, &wanted);
    ibv_ah_attr path = address_of(bench.b);
    ah = ibv_create_ah(bench.a.pd, &path);
    mw = ibv_alloc_mw(bench.a.pd, IBV_MW_TYPE_2);
    ibv_qp_init_attr_ex more{};
    more.qp_type = IBV_QPT_RC, more.send_cq = more.recv_cq = bench.a.cq;
    more.cap = {kDepth, kDepth, 1, 1, 0}, more.pd = bench.a.pd;
    more.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    more.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
    extended = ibv_create_qp_ex(bench.a.context, &more);
  }
  int destroy() {
    return ibv_destroy_qp(extended) | ibv_dealloc_mw(mw) | ibv_destroy_ah(ah) |
           ibv_destroy_srq(srq) | ibv_destroy_cq(cq) | ibv_destroy_comp_channel(channel);
  }
  Pair pair;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_srq* srq;
  ibv_ah* ah;
  ibv_mw* mw;
  ibv_qp* extended;
};

struct RefusedRow {
  const char* what;
  int (*call)(Bench&, Everything&);  // EPERM, as errno's value
};
// Of calls that return -1 and say in errno why.
int error_of(int returned) { return returned < 0 ? errno : 0; }
constexpr std::array kRefused{
    RefusedRow{"ibv_alloc_pd",
               [](Bench& b, Everything&) { return ibv_alloc_pd(b.a.context) ? 0 : errno; }},
    RefusedRow{"ibv_post_send",
               [](Bench& b, Everything& all) {
                 ibv_sge data = b.a.sge(0, 8);
                 ibv_send_wr wr = work(IBV_WR_SEND, &data), *bad = nullptr;
                 const int error = ibv_post_send(all.pair.a, &wr, &bad);
                 return bad == &wr ? error : 0;
               }},
    RefusedRow{"ibv_post_recv",
               [](Bench& b, Everything& all) { return post_receive(all.pair.a, b.a.sge(0, 8)); }},
    RefusedRow{"ibv_post_srq_recv",
               [](Bench&, Everything& all) {
                 ibv_recv_wr wr{}, *bad = nullptr;
                 const int error = ibv_post_srq_recv(all.srq, &wr, &bad);
                 return bad == &wr ? error : 0;
               }},
    RefusedRow{"ibv_poll_cq",
               [](Bench& b, Everything&) {
                 ibv_wc wc;
                 return -ibv_poll_cq(b.a.cq, 1, &wc);
               }},
    RefusedRow{"ibv_req_notify_cq",
               [](Bench& b, Everything&) { return ibv_req_notify_cq(b.a.cq, 0); }},
    RefusedRow{"ibv_wr_complete",
               [](Bench& b, Everything& all) {
                 ibv_qp_ex* const qp = ibv_qp_to_qp_ex(all.extended);
                 ibv_wr_start(qp);
                 ibv_wr_rdma_write(qp, b.b.mr->rkey, 0);
                 ibv_wr_set_sge(qp, b.a.mr->lkey, 0, 8);
                 return ibv_wr_complete(qp);
               }},
    RefusedRow{"ibv_modify_qp",
               [](Bench&, Everything& all) {
                 ibv_qp_attr attributes{};
                 attributes.qp_state = IBV_QPS_ERR;
                 return ibv_modify_qp(all.pair.a, &attributes, IBV_QP_STATE);
               }},
    RefusedRow{"ibv_create_cq",
               [](Bench& b, Everything&) {
                 return ibv_create_cq(b.a.context, 1, nullptr, nullptr, 0) ? 0 : errno;
               }},
    RefusedRow{"ibv_resize_cq", [](Bench& b, Everything&) { return ibv_resize_cq(b.a.cq, 1000); }},
    RefusedRow{"ibv_modify_srq",
               [](Bench&, Everything& all) {
                 ibv_srq_attr attributes{1000, 1, 0};
                 return ibv_modify_srq(all.srq, &attributes, IBV_SRQ_MAX_WR);
               }},
    RefusedRow{"ibv_get_cq_event",
               [](Bench&, Everything& all) {
                 ibv_cq* cq;
                 void* its_own;
                 return error_of(ibv_get_cq_event(all.channel, &cq, &its_own));
               }},
    RefusedRow{"ibv_get_async_event",
               [](Bench& b, Everything&) {
                 ibv_async_event event;
                 return error_of(ibv_get_async_event(b.a.context, &event));
               }},
};

// What the child ends with.
int give_back(Bench& bench, Everything& all) {
  for (const RefusedRow& row : kRefused)
    if (const int error = row.call(bench, all); error != EPERM) {
      std::printf("%s in a child: %d, not %d\n", row.what, error, EPERM);
      std::fflush(stdout);
      return 1;
    }
  if (all.destroy() | ibv_destroy_qp(all.pair.a) | ibv_destroy_qp(all.pair.b)) return 2;
  for (End* end : {&bench.a, &bench.b}) {
    if (ibv_destroy_cq(end->cq) | ibv_dereg_mr(end->mr) | ibv_dealloc_pd(end->pd)) return 3;
    if (ibv_close_device(end->context)) return 4;
  }
  return 0;
}
}  // namespace

// ---- A program that is gone, of which a child is left.
namespace {
struct Orphaned {
  pid_t child;
  std::uint32_t qpn, rkey;
  std::uint64_t address;
};
// It connects a queue pair, tells of it and of a child that it has, and ends.
void leave_child(const Bench& bench, const ibv_qp* peer, int from, int to) {
  End own(bench.list[0]);
  ibv_qp* const qp = own.make_qp(IBV_QPT_RC);
  const Path path = path_to(IBV_QPT_RC, own, bench.b, peer->qp_num);
  Path wanted = path;
  if (ibv_modify_qp(qp, &wanted.init, path.init_mask) ||
      ibv_modify_qp(qp, &wanted.rtr, path.rtr_mask))
    _exit(1);
  Orphaned told{0, qp->qp_num, own.mr->rkey, reinterpret_cast<std::uintptr_t>(own.buffer.data())};
  told.child = fork();
  char byte;
  if (!told.child) {
    ssize_t got = read(from, &byte, 1);
    _exit(got != 1);
  }
  _exit(write(to, &told, sizeof told) != sizeof told);
}

void check_orphans(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_qp* const qp = bench.b.make_qp(IBV_QPT_RC);
  std::array<int, 2> up{}, down{};
  checks.equal("pipes", pipe(up.data()) | pipe(down.data()), 0);
  const pid_t owner = fork();
  if (!owner) leave_child(bench, qp, down[0], up[1]);
  Orphaned told{};
  checks.equal("it tells", read(up[0], &told, sizeof told), sizeof told);
  int status = -1;
  checks.equal("it ends", waitpid(owner, &status, 0), owner);
  Path path = path_to(IBV_QPT_RC, bench.b, bench.a, told.qpn);
  checks.equal("to Init", ibv_modify_qp(qp, &path.init, path.init_mask), 0);
  checks.equal("to RTR", ibv_modify_qp(qp, &path.rtr, path.rtr_mask), 0);
  checks.equal("to RTS", ibv_modify_qp(qp, &path.rts, path.rts_mask), 0);
  ibv_sge data = bench.b.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_READ, &data);
  wr.wr.rdma.remote_addr = told.address, wr.wr.rdma.rkey = told.rkey;
  checks.equal("a READ of its memory", post(qp, wr), 0);
  // In simulated time its objects go with its clock.
  const ibv_wc_status refused = bench.b.next_completion().status;
  checks.holds("does not succeed",
               refused == IBV_WC_REM_ACCESS_ERR || refused == IBV_WC_RETRY_EXC_ERR);
  checks.equal("its child ends", write(down[1], "", 1), 1);
  checks.equal("ibv_destroy_qp", ibv_destroy_qp(qp), 0);
  for (const int end : {up[0], up[1], down[0], down[1]}) close(end);
}
}  // namespace

void check_children(Bench& bench) {
  Checks& checks = *bench.checks;
  Everything all(bench);
  const pid_t child = fork();
  if (!child) _exit(give_back(bench, all));
  int status = -1;
  checks.equal("the child ends", waitpid(child, &status, 0), child);
  checks.equal("with", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  checks.equal("the queue pair is there", post(all.pair.a, wr), 0);
  checks.equal("and goes on", bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("all else is there", all.destroy(), 0);
  check_orphans(bench);
}
}  // namespace cases
