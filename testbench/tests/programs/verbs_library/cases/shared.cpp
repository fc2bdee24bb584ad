// SPDX-License-Identifier: Apache-2.0
// ibv_post_srq_recv(3), ibv_post_recv(3), ibv_post_send(3) at, below and above max_wr, in whatever
// order the completions are polled.
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
int post_shared(Bench& bench, ibv_srq* srq, std::uint64_t id, std::uint32_t bytes = 8) {
  ibv_sge into = bench.b.sge(0, bytes);
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = id, wr.sg_list = &into, wr.num_sge = 1;
  const int error = ibv_post_srq_recv(srq, &wr, &bad);
  bench.checks->holds("*bad_wr", error ? bad == &wr : !bad);
  return error;
}

// Receivers of one SRQ, each with a CQ of its own.
class Shared {
 public:
  Shared(Bench& bench, std::uint32_t max_wr) : bench_(bench) {
    ibv_srq_init_attr wanted{};
    wanted.attr = {max_wr, 1, 0};
    srq = ibv_create_srq(bench.b.pd, &wanted);
    entries = wanted.attr.max_wr;
    for (std::size_t i = 0; i < cqs.size(); ++i) {
      cqs[i] = ibv_create_cq(bench.b.context, 64, nullptr, nullptr, 0);
      ibv_qp_init_attr made = bench.b.wanted_qp(IBV_QPT_RC);
      made.recv_cq = cqs[i], made.srq = srq;
      to[i] = ibv_create_qp(bench.b.pd, &made), from[i] = bench.a.make_qp(IBV_QPT_RC);
      bench.checks->equal("they are connected", connect(from[i], bench.a, to[i], bench.b), 0);
    }
  }
  ~Shared() {
    int error = 0;
    for (std::size_t i = 0; i < cqs.size(); ++i)
      error |= ibv_destroy_qp(from[i]) | ibv_destroy_qp(to[i]) | ibv_destroy_cq(cqs[i]);
    bench_.checks->equal("destroyed", error | ibv_destroy_srq(srq), 0);
  }
  Shared(const Shared&) = delete;
  void send(std::size_t which, std::uint32_t bytes = 8) {
    ibv_sge data = bench_.a.sge(0, bytes);
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    bench_.checks->equal("a SEND is posted", post(from[which], wr), 0);
  }
  void sent() {
    bench_.checks->equal("a SEND is done", bench_.a.next_completion().status, IBV_WC_SUCCESS);
  }
  // The id of the receive that is polled.
  long long received(std::size_t which) {
    ibv_wc wc{};
    for (int i = 0; i < 1'000'000; ++i)
      if (ibv_poll_cq(cqs[which], 1, &wc) == 1) return (long long)wc.wr_id;
    return -1;
  }
  ibv_srq* srq;
  std::uint32_t entries;
  std::array<ibv_cq*, 2> cqs{};
  std::array<ibv_qp*, 2> from{}, to{};

 private:
  Bench& bench_;
};

// The first receive is complete and never polled: all others go round and round beside it.
void check_never_polled(Bench& bench) {
  Checks& checks = *bench.checks;
  Shared shared(bench, 4);
  std::uint64_t id = 0;
  for (std::uint32_t i = 0; i < shared.entries; ++i)
    checks.equal("below max_wr", post_shared(bench, shared.srq, id++), 0);
  checks.equal("above max_wr", post_shared(bench, shared.srq, id), ENOMEM);
  shared.send(0), shared.sent();
  checks.equal("a receive that is complete is outstanding until it is polled",
               post_shared(bench, shared.srq, id), ENOMEM);
  long long wanted = 1;
  for (int lap = 0; lap < 40; ++lap) {
    shared.send(1), shared.sent();
    checks.equal("the next one's id", shared.received(1), wanted++);
    checks.equal("at max_wr again", post_shared(bench, shared.srq, id++), 0);
    checks.equal("and not above it", post_shared(bench, shared.srq, id), ENOMEM);
  }
  checks.equal("the one that was not polled", shared.received(0), 0);
  checks.equal("another in its place", post_shared(bench, shared.srq, id++), 0);
  for (std::uint32_t i = 0; i < shared.entries; ++i) {
    shared.send(i % 2), shared.sent();
    checks.equal("the rest's ids", shared.received(i % 2), wanted++);
  }
}

// A message of a slow sender is received all the while: many a short one passes it.
void check_slow_message(Bench& bench) {
  Checks& checks = *bench.checks;
  Shared shared(bench, 4);
  ibv_qp_attr reset{};
  for (ibv_qp* qp : {shared.from[0], shared.to[0]}) ibv_modify_qp(qp, &reset, IBV_QP_STATE);
  Path path = path_to(IBV_QPT_RC, bench.a, bench.b, shared.to[0]->qp_num);
  path.rtr.ah_attr.static_rate = IBV_RATE_2_5_GBPS;  // 8192 bytes take 26 us
  ibv_modify_qp(shared.from[0], &path.init, path.init_mask);
  ibv_modify_qp(shared.from[0], &path.rtr, path.rtr_mask);
  ibv_modify_qp(shared.from[0], &path.rts, path.rts_mask);
  Path back = path_to(IBV_QPT_RC, bench.b, bench.a, shared.from[0]->qp_num);
  ibv_modify_qp(shared.to[0], &back.init, back.init_mask);
  checks.equal("the slow one is ready", ibv_modify_qp(shared.to[0], &back.rtr, back.rtr_mask), 0);
  for (std::uint32_t i = 0; i < shared.entries; ++i)
    checks.equal("receives", post_shared(bench, shared.srq, i, kBytes), 0);
  shared.send(0, kBytes);
  const timespec moment{0, 3'000};
  nanosleep(&moment, nullptr);
  for (int i = 0; i < 14; ++i) {
    shared.send(1);
    shared.received(1);
    checks.equal("below max_wr", post_shared(bench, shared.srq, 100 + i, kBytes), 0);
  }
  for (int i = 0; i < 15; ++i) shared.sent();
  checks.equal("the long one", shared.received(0), 0);
  ibv_srq_attr is{};
  checks.equal("ibv_query_srq", ibv_query_srq(shared.srq, &is), 0);
  checks.equal("max_wr is what it was", is.max_wr, shared.entries);
  ibv_srq_attr fewer{3, 0, 0};
  checks.equal("ibv_modify_srq", ibv_modify_srq(shared.srq, &fewer, IBV_SRQ_MAX_WR), 0);
}

// Of the queues of a queue pair: what is complete and not polled has its room.
void check_depths(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_qp_attr is{};
  ibv_qp_init_attr made{};
  ibv_query_qp(pair.a, &is, IBV_QP_CAP, &made);
  for (unsigned i = 0; i < is.cap.max_recv_wr; ++i)
    checks.equal("receives below max_recv_wr", post_receive(pair.b, bench.b.sge(0, 8)), 0);
  checks.equal("above", post_receive(pair.b, bench.b.sge(0, 8)), ENOMEM);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND, &data), *bad = nullptr;
  for (unsigned i = 0; i < is.cap.max_send_wr; ++i)
    checks.equal("sends below max_send_wr", post(pair.a, wr), 0);
  checks.equal("above", ibv_post_send(pair.a, &wr, &bad), ENOMEM);
  checks.holds("*bad_wr", bad == &wr);
  for (unsigned i = 0; i < is.cap.max_send_wr; ++i) {
    checks.equal("a SEND is done", bench.a.next_completion().status, IBV_WC_SUCCESS);
    checks.equal("is received", bench.b.next_completion().status, IBV_WC_SUCCESS);
    checks.equal("room for one receive", post_receive(pair.b, bench.b.sge(0, 8)), 0);
    checks.equal("and no more", post_receive(pair.b, bench.b.sge(0, 8)), ENOMEM);
  }
}
}  // namespace

void check_shared(Bench& bench) {
  check_never_polled(bench);
  check_slow_message(bench);
  check_depths(bench);
}
}  // namespace cases
