// SPDX-License-Identifier: Apache-2.0
// ibv_get_cq_event(3), ibv_get_async_event(3): events that nobody reads hinder nothing.
#include <fcntl.h>
#include <poll.h>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// A CQ with a channel, its own or a shared one, and as many events in it as there were WRITEs.
class Unread {
 public:
  Unread(Bench& bench, int events, ibv_comp_channel* shared = nullptr) : bench_(bench) {
    channel = shared ? shared : ibv_create_comp_channel(bench.a.context);
    cq = ibv_create_cq(bench.a.context, kDepth, nullptr, channel, 0);
    ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
    wanted.send_cq = cq;
    from = ibv_create_qp(bench.a.pd, &wanted), to = bench.b.make_qp(IBV_QPT_RC);
    bench.checks->equal("they are connected", connect(from, bench.a, to, bench.b), 0);
    for (int i = 0; i < events; ++i) add();
  }
  void add() {
    ibv_req_notify_cq(cq, 0);
    ibv_sge data = bench_.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, bench_.b);
    post(from, wr);
    ibv_wc wc;
    while (!ibv_poll_cq(cq, 1, &wc)) continue;
  }
  int get() {
    ibv_cq* told;
    void* context;
    const int result = ibv_get_cq_event(channel, &told, &context);
    if (!result) ibv_ack_cq_events(told, 1);
    return result;
  }
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_qp *from, *to;

 private:
  Bench& bench_;
};

// A socket has room for some 278 of them: below, at and far above it each control verb comes back.
void check_unread(Bench& bench, int events) {
  Checks& checks = *bench.checks;
  Unread end(bench, events);
  const std::string what = std::to_string(events) + " unread events, ";
  ibv_pd* const pd = ibv_alloc_pd(bench.a.context);
  checks.holds(what + "ibv_alloc_pd", pd);
  ibv_port_attr port;
  checks.equal(what + "ibv_query_port", ibv_query_port(bench.a.context, 1, &port), 0);
  checks.equal(what + "ibv_dealloc_pd", ibv_dealloc_pd(pd), 0);
  checks.equal(what + "the first", end.get(), 0);
  checks.equal(what + "a CQ with a queue pair", ibv_destroy_cq(end.cq), EBUSY);
  checks.equal(what + "ibv_destroy_qp", ibv_destroy_qp(end.from), 0);
  checks.equal(what + "ibv_destroy_cq", ibv_destroy_cq(end.cq), 0);
  pollfd readable{end.channel->fd, POLLIN, 0};
  checks.equal(what + "they go with their CQ", ::poll(&readable, 1, 0), 0);
  checks.equal(what + "ibv_destroy_comp_channel", ibv_destroy_comp_channel(end.channel), 0);
  checks.equal(what + "ibv_destroy_qp", ibv_destroy_qp(end.to), 0);
}

// Two CQs on one channel: those of one vanish, those of the other stay, in order.
void check_two(Bench& bench) {
  Checks& checks = *bench.checks;
  Unread kept(bench, 200);
  Unread gone(bench, 0, kept.channel);
  for (int i = 0; i < 200; ++i) {
    gone.add();
    if (i % 2) kept.add();
  }
  checks.equal("one of them goes", ibv_destroy_qp(gone.from) | ibv_destroy_cq(gone.cq), 0);
  int left = 0;
  pollfd readable{kept.channel->fd, POLLIN, 0};
  for (; ::poll(&readable, 1, 500) == 1 && !kept.get(); ++left) continue;
  checks.equal("events of the other", left, 300);
  fcntl(kept.channel->fd, F_SETFL, O_NONBLOCK);
  checks.equal("no more: -1", kept.get(), -1);
  checks.equal("errno", errno, EAGAIN);
  checks.equal("destroyed",
               ibv_destroy_qp(kept.from) | ibv_destroy_qp(kept.to) | ibv_destroy_qp(gone.to) |
                   ibv_destroy_cq(kept.cq) | ibv_destroy_comp_channel(kept.channel),
               0);
}

// Asynchronous events that nobody reads: each of a queue pair that stays.
void check_async(Bench& bench) {
  constexpr int kMany = 320;
  Checks& checks = *bench.checks;
  ibv_qp* const qp = bench.a.make_qp(IBV_QPT_RC);
  ibv_qp* const peer = bench.b.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(qp, bench.a, peer, bench.b), 0);
  ibv_qp_attr drain{}, go{};
  drain.qp_state = IBV_QPS_SQD, drain.en_sqd_async_notify = 1, go.qp_state = IBV_QPS_RTS;
  int error = 0;
  for (int i = 0; i < kMany && !error; ++i)
    error = ibv_modify_qp(qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) |
            ibv_modify_qp(qp, &go, IBV_QP_STATE);
  checks.equal("each change of state comes back", error, 0);
  int got = 0;
  for (; got < kMany && bench.a.next_event() == IBV_EVENT_SQ_DRAINED; ++got) continue;
  checks.equal("asynchronous events", got, kMany);
  for (int i = 0; i < kMany; ++i) {
    ibv_modify_qp(qp, &drain, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
    ibv_modify_qp(qp, &go, IBV_QP_STATE);
  }
  checks.equal("they go with their queue pair", ibv_destroy_qp(qp), 0);
  ibv_async_event none;
  checks.equal("none is left", ibv_get_async_event(bench.a.context, &none), -1);
  checks.equal("errno", errno, EAGAIN);
  checks.equal("ibv_destroy_qp", ibv_destroy_qp(peer), 0);
}
}  // namespace

void check_unread(Bench& bench) {
  for (const int events : {1, 276, 277, 278, 279, 280, 281, 400, 1000}) check_unread(bench, events);
  check_two(bench);
  check_async(bench);
}
}  // namespace cases
