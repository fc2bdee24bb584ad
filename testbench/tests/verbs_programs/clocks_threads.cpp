// SPDX-License-Identifier: Apache-2.0
// Program of hca_verbs_clocks: `devices` are used in turns.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "testbench/tests/verbs_programs/clocks.h"

namespace cases {
namespace {
// A queue pair with a CQ and a channel of its own, connected to one of the other end.
struct Flow {
  Flow(End& its, End& others) : from(its), to(others) {
    channel = ibv_create_comp_channel(from.context);
    cq = channel ? ibv_create_cq(from.context, 16, nullptr, channel, 0) : nullptr;
    ibv_qp_init_attr wanted = from.wanted_qp(IBV_QPT_RC);
    wanted.send_cq = wanted.recv_cq = cq;
    qp = cq ? ibv_create_qp(from.pd, &wanted) : nullptr;
    peer = to.make_qp(IBV_QPT_RC);
    if (!qp || connect(qp, from, peer, to)) std::exit(3);
  }
  ~Flow() {
    ibv_destroy_qp(qp), ibv_destroy_qp(peer);
    ibv_destroy_cq(cq), ibv_destroy_comp_channel(channel);
  }
  Flow(const Flow&) = delete;

  bool post_write() const {
    ibv_sge data = from.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, to);
    return !post(qp, wr);
  }
  bool take_completion() const {
    ibv_wc wc{};
    while (!ibv_poll_cq(cq, 1, &wc)) continue;
    return wc.status == IBV_WC_SUCCESS;
  }
  bool write() const { return post_write() && take_completion(); }
  // Asleep until its event.
  bool write_and_sleep() const {
    ibv_cq* of = nullptr;
    void* its_own = nullptr;
    if (ibv_req_notify_cq(cq, 0) || !post_write() || ibv_get_cq_event(channel, &of, &its_own))
      return false;
    ibv_ack_cq_events(of, 1);
    return of == cq && take_completion();
  }

  End &from, &to;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_qp *qp, *peer;
};

// The shortest of a few, in ns.
template <class Call>
double shortest(Bench& bench, Call call) {
  double least = 1;
  for (int i = 0; i < kTimes; ++i) {
    const double begun = now();
    bench.checks->holds("a WRITE", call());
    least = std::min(least, now() - begun);
  }
  return least * 1e9;
}
}  // namespace

// The first device that a program opens is none of its own kind.
void use_both_devices(Bench& bench) {
  const Flow first(bench.a, bench.b), second(bench.b, bench.a);
  const auto compare = [&](const char* what, bool (Flow::*call)() const) {
    const double one = shortest(bench, [&] { return (first.*call)(); });
    const double other = shortest(bench, [&] { return (second.*call)(); });
    std::printf("%s: %.0f ns, %.0f ns\n", what, one, other);
    constexpr double kCycles = 10;  // ns: of the HCAs' clock
    bench.checks->holds(what, other > one - kCycles && other < one + kCycles);
  };
  compare("polled", &Flow::write);
  compare("asleep", &Flow::write_and_sleep);
}
}  // namespace cases
