// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/verbs_library/cases/table.h"

namespace cases {
namespace {
ibv_srq* srq_of(ibv_pd* pd) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {kDepth, 2, 0};
  return ibv_create_srq(pd, &wanted);
}
ibv_ah* ah_of(ibv_pd* pd, const End& to) {
  ibv_ah_attr path = address_of(to);
  return ibv_create_ah(pd, &path);
}
}  // namespace

Things::Things(Bench& ends) : bench(ends), a(ends.a), b(ends.b) {
  other_pd = ibv_alloc_pd(a.context);
  other_mr = ibv_reg_mr(other_pd, a.buffer.data(), 64, kAllAccess);
  plain_mr = ibv_reg_mr(a.pd, a.buffer.data(), 64, int{IBV_ACCESS_LOCAL_WRITE});
  type_1 = ibv_alloc_mw(a.pd, IBV_MW_TYPE_1), type_2 = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
  foreign_window = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
  srq = srq_of(a.pd), foreign_srq = srq_of(b.pd);
  channel = ibv_create_comp_channel(a.context);
  foreign_channel = ibv_create_comp_channel(b.context);
  cq = ibv_create_cq(a.context, kDepth, nullptr, channel, 0);
  ah = ah_of(a.pd, b), foreign_ah = ah_of(b.pd, a);
  reset = a.make_qp(IBV_QPT_RC), init = a.make_qp(IBV_QPT_RC), rts = a.make_qp(IBV_QPT_RC);
  ud = a.make_qp(IBV_QPT_UD), uc = a.make_qp(IBV_QPT_UC), peer = b.make_qp(IBV_QPT_RC);
  int error = to_init(init, a) | connect(rts, a, peer, b);
  for (ibv_qp* qp : {ud, uc}) {
    Path path = path_to(qp->qp_type, a, b, peer->qp_num);
    error |= ibv_modify_qp(qp, &path.init, path.init_mask);
    error |= ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
    error |= ibv_modify_qp(qp, &path.rts, path.rts_mask);
  }
  bench.checks->equal("all is made", error, 0);
}
Things::~Things() {
  int error = 0;
  for (ibv_qp* qp : {reset, init, rts, ud, uc, peer}) error |= ibv_destroy_qp(qp);
  for (ibv_ah* one : {ah, foreign_ah}) error |= ibv_destroy_ah(one);
  error |= ibv_destroy_cq(cq);
  for (ibv_comp_channel* one : {channel, foreign_channel}) error |= ibv_destroy_comp_channel(one);
  for (ibv_srq* one : {srq, foreign_srq}) error |= ibv_destroy_srq(one);
  for (ibv_mw* mw : {type_1, type_2, foreign_window}) error |= ibv_dealloc_mw(mw);
  for (ibv_mr* mr : {other_mr, plain_mr}) error |= ibv_dereg_mr(mr);
  bench.checks->equal("all is destroyed", error | ibv_dealloc_pd(other_pd), 0);
}

void check_table(Bench& bench) {
  Things things(bench);
  check_object_verbs(things);
  check_queue_verbs(things);
  check_work_verbs(things);
}
}  // namespace cases
