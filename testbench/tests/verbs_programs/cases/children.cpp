// SPDX-License-Identifier: Apache-2.0
// fork(2): a child that gives back what it has inherited does not take it from its parent.
#include <sys/wait.h>
#include <unistd.h>

#include "testbench/tests/verbs_programs/cases/bench.h"

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
  }
  int destroy() {
    return ibv_dealloc_mw(mw) | ibv_destroy_ah(ah) | ibv_destroy_srq(srq) | ibv_destroy_cq(cq) |
           ibv_destroy_comp_channel(channel);
  }
  Pair pair;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_srq* srq;
  ibv_ah* ah;
  ibv_mw* mw;
};

// What the child ends with.
int give_back(Bench& bench, Everything& all) {
  if (ibv_alloc_pd(bench.a.context) || errno != EPERM) return 1;
  if (all.destroy() | ibv_destroy_qp(all.pair.a) | ibv_destroy_qp(all.pair.b)) return 2;
  for (End* end : {&bench.a, &bench.b}) {
    if (ibv_destroy_cq(end->cq) | ibv_dereg_mr(end->mr) | ibv_dealloc_pd(end->pd)) return 3;
    if (ibv_close_device(end->context)) return 4;
  }
  return 0;
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
}
}  // namespace cases
