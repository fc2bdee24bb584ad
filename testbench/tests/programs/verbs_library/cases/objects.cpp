// SPDX-License-Identifier: Apache-2.0
// Objects that others are made of, handles that are none, what is of another device.
#include <utility>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
ibv_srq* make_srq(End& end) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {kDepth, 1, 0};
  return ibv_create_srq(end.pd, &wanted);
}

// An own domain in which something is made; it is given back when that is gone.
template <class Make, class Destroy>
void check_domain_of(Bench& bench, const char* what, Make make, Destroy destroy) {
  ibv_pd* const pd = ibv_alloc_pd(bench.a.context);
  auto* const made = make(pd);
  bench.checks->holds(std::string(what) + " is made", made);
  bench.checks->equal(std::string("the domain of ") + what, ibv_dealloc_pd(pd), EBUSY);
  bench.checks->equal(std::string(what) + " is destroyed", destroy(made), 0);
  bench.checks->equal(std::string("the domain that had ") + what, ibv_dealloc_pd(pd), 0);
}

void check_busy(Bench& bench) {
  End& a = bench.a;
  Checks& checks = *bench.checks;
  check_domain_of(
      bench, "a region", [&](ibv_pd* pd) { return ibv_reg_mr(pd, a.buffer.data(), 8, 0); },
      ibv_dereg_mr);
  check_domain_of(
      bench, "a window", [](ibv_pd* pd) { return ibv_alloc_mw(pd, IBV_MW_TYPE_2); },
      ibv_dealloc_mw);
  check_domain_of(
      bench, "an address handle",
      [&](ibv_pd* pd) {
        ibv_ah_attr path = address_of(bench.b);
        return ibv_create_ah(pd, &path);
      },
      ibv_destroy_ah);
  check_domain_of(
      bench, "an SRQ",
      [](ibv_pd* pd) {
        ibv_srq_init_attr wanted{};
        wanted.attr = {1, 1, 0};
        return ibv_create_srq(pd, &wanted);
      },
      ibv_destroy_srq);
  check_domain_of(
      bench, "a queue pair",
      [&](ibv_pd* pd) {
        ibv_qp_init_attr wanted = a.wanted_qp(IBV_QPT_RC);
        return ibv_create_qp(pd, &wanted);
      },
      ibv_destroy_qp);

  ibv_srq* const srq = make_srq(a);
  ibv_qp* const qp = a.make_qp(IBV_QPT_RC, srq);
  checks.equal("a CQ with a queue pair", ibv_destroy_cq(a.cq), EBUSY);
  checks.equal("an SRQ with a queue pair", ibv_destroy_srq(srq), EBUSY);
  checks.equal("the queue pair", ibv_destroy_qp(qp), 0);
  checks.equal("the SRQ without one", ibv_destroy_srq(srq), 0);

  ibv_comp_channel* const channel = ibv_create_comp_channel(a.context);
  ibv_cq* const cq = ibv_create_cq(a.context, 1, nullptr, channel, 0);
  checks.equal("a completion channel with a CQ", ibv_destroy_comp_channel(channel), EBUSY);
  checks.equal("the CQ", ibv_destroy_cq(cq), 0);
  checks.equal("the completion channel without one", ibv_destroy_comp_channel(channel), 0);
}

// A handle that was overwritten names nothing, and nothing happens to the object.
template <class Object, class Call>
void check_garbled(Bench& bench, const char* what, Object* object, Call call, int wanted) {
  const std::uint32_t handle = object->handle;
  for (const std::uint32_t garbled : {handle ^ 0x5a5a, 0u, ~0u}) {
    object->handle = garbled;
    bench.checks->equal(std::string(what) + " with a garbled handle", call(object), wanted);
  }
  object->handle = handle;
}

void check_handles(Bench& bench) {
  End& a = bench.a;
  ibv_srq* const srq = make_srq(a);
  ibv_qp* const qp = a.make_qp(IBV_QPT_RC);
  ibv_ah_attr path = address_of(bench.b);
  ibv_ah* const ah = ibv_create_ah(a.pd, &path);
  ibv_mw* const mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_2);
  check_garbled(bench, "ibv_dealloc_pd", a.pd, ibv_dealloc_pd, ENOENT);
  check_garbled(bench, "ibv_destroy_cq", a.cq, ibv_destroy_cq, ENOENT);
  check_garbled(bench, "ibv_dereg_mr", a.mr, ibv_dereg_mr, ENOENT);
  check_garbled(bench, "ibv_destroy_srq", srq, ibv_destroy_srq, ENOENT);
  check_garbled(bench, "ibv_destroy_qp", qp, ibv_destroy_qp, ENOENT);
  check_garbled(bench, "ibv_destroy_ah", ah, ibv_destroy_ah, ENOENT);
  check_garbled(bench, "ibv_dealloc_mw", mw, ibv_dealloc_mw, ENOENT);
  check_garbled(
      bench, "ibv_modify_qp", qp, [&](ibv_qp* q) { return to_init(q, a); }, ENOENT);
  check_garbled(
      bench, "ibv_query_qp", qp,
      [](ibv_qp* q) {
        ibv_qp_attr attributes;
        ibv_qp_init_attr init;
        return ibv_query_qp(q, &attributes, IBV_QP_STATE, &init);
      },
      ENOENT);
  check_garbled(
      bench, "ibv_query_srq", srq,
      [](ibv_srq* s) {
        ibv_srq_attr attributes;
        return ibv_query_srq(s, &attributes);
      },
      ENOENT);
  check_garbled(
      bench, "ibv_resize_cq", a.cq, [](ibv_cq* cq) { return ibv_resize_cq(cq, 300); }, ENOENT);
  // What is made of something is refused as a whole.
  const auto create_qp = [&](auto*) {
    ibv_qp_init_attr wanted = a.wanted_qp(IBV_QPT_RC);
    return error_of(ibv_create_qp(a.pd, &wanted), ibv_destroy_qp);
  };
  check_garbled(bench, "a queue pair of a domain", a.pd, create_qp, EINVAL);
  check_garbled(bench, "a queue pair on a CQ", a.cq, create_qp, EINVAL);
  check_garbled(
      bench, "a region of a domain", a.pd,
      [&](ibv_pd* pd) { return error_of(ibv_reg_mr(pd, a.buffer.data(), 8, 0), ibv_dereg_mr); },
      EINVAL);
  check_garbled(
      bench, "an address handle of a domain", a.pd,
      [&](ibv_pd* pd) { return error_of(ibv_create_ah(pd, &path), ibv_destroy_ah); }, EINVAL);
  // The handle of an object of another kind is none.
  const std::uint32_t handle = std::exchange(qp->handle, a.cq->handle);
  bench.checks->equal("a queue pair with a CQ's handle", ibv_destroy_qp(qp), ENOENT);
  qp->handle = handle;
  bench.checks->equal(
      "all is still there",
      ibv_destroy_qp(qp) | ibv_destroy_srq(srq) | ibv_destroy_ah(ah) | ibv_dealloc_mw(mw), 0);
}

// Of what a program has destroyed, or has of another device, nothing is made.
void check_foreign(Bench& bench) {
  End &a = bench.a, &b = bench.b;
  ibv_pd* const pd = ibv_alloc_pd(a.context);
  ibv_pd gone = *pd;
  bench.checks->equal("a domain", ibv_dealloc_pd(pd), 0);
  bench.checks->equal("a region of a domain that is gone",
                      error_of(ibv_reg_mr(&gone, a.buffer.data(), 8, 0), ibv_dereg_mr), EINVAL);
  ibv_srq* const srq = make_srq(b);
  ibv_qp_init_attr wanted = a.wanted_qp(IBV_QPT_RC);
  wanted.srq = srq;
  bench.checks->equal("a queue pair on an SRQ of another device",
                      error_of(ibv_create_qp(a.pd, &wanted), ibv_destroy_qp), EINVAL);
  ibv_destroy_srq(srq);
  ibv_comp_channel* const channel = ibv_create_comp_channel(b.context);
  bench.checks->equal("a CQ on a channel of another device",
                      error_of(ibv_create_cq(a.context, 1, nullptr, channel, 0), ibv_destroy_cq),
                      EINVAL);
  ibv_destroy_comp_channel(channel);
}

}  // namespace

// max_ah and max_pd are what there is.
void check_handles_left(Bench& bench) {
  ibv_ah_attr path = address_of(bench.b);
  std::vector<ibv_ah*> all;
  while (ibv_ah* made = ibv_create_ah(bench.a.pd, &path)) {
    all.push_back(made);
    if (int(all.size()) > bench.a.device.max_ah) break;
  }
  const int error = errno;
  bench.checks->equal("the address handle behind the last", error, ENOMEM);
  bench.checks->equal("address handles", int(all.size()), bench.a.device.max_ah);
  int errors = 0;
  for (ibv_ah* ah : all) errors |= ibv_destroy_ah(ah);
  bench.checks->equal("all address handles are given back", errors, 0);
}
void check_limits(Bench& bench) {
  check_handles_left(bench);
  std::vector<ibv_pd*> all;
  while (ibv_pd* made = ibv_alloc_pd(bench.a.context)) {
    all.push_back(made);
    if (int(all.size()) > bench.a.device.max_pd) break;
  }
  const int error = errno;
  bench.checks->equal("the domain behind the last", error, ENOMEM);
  // One is the end's own.
  bench.checks->equal("domains", int(all.size()), bench.a.device.max_pd - 1);
  int errors = 0;
  for (ibv_pd* pd : all) errors |= ibv_dealloc_pd(pd);
  bench.checks->equal("all domains are given back", errors, 0);
}

void check_objects(Bench& bench) {
  check_busy(bench);
  check_handles(bench);
  check_foreign(bench);
}
}  // namespace cases
