// SPDX-License-Identifier: Apache-2.0
// ibv_open_xrcd(3), ibv_create_qp_ex(3), ibv_create_srq_ex(3), ibv_open_qp(3): what can be made of a
// domain, and in which order it goes.
#include <fcntl.h>

#include "testbench/tests/programs/verbs_library/cases/xrc.h"

namespace cases {
namespace {
int domain_error(Bench& bench, int fd, int oflags) {
  return error_of(open_domain(bench.a.context, fd, oflags), ibv_close_xrcd);
}
int masked_error(Bench& bench, std::uint32_t mask) {
  ibv_xrcd_init_attr wanted{};
  wanted.comp_mask = mask, wanted.fd = -1, wanted.oflags = O_CREAT;
  return error_of(ibv_open_xrcd(bench.a.context, &wanted), ibv_close_xrcd);
}
constexpr std::array kDomains{
    // clang-format off
    CallRow{"a domain without a file",             0,          [](Bench& b) { return domain_error(b, -1, 0); }},
    CallRow{"of no open file",                     EBADF,      [](Bench& b) { return domain_error(b, 12345, O_CREAT); }},
    CallRow{"of a file, without O_CREAT",          EAGAIN,     [](Bench& b) { NamelessFile file; return domain_error(b, file.fd, 0); }},
    CallRow{"of a file, O_CREAT",                  0,          [](Bench& b) { NamelessFile file; return domain_error(b, file.fd, O_CREAT); }},
    CallRow{"of a file, O_CREAT and O_EXCL",       0,          [](Bench& b) { NamelessFile file; return domain_error(b, file.fd, O_CREAT | O_EXCL); }},
    CallRow{"without the member fd",               EINVAL,     [](Bench& b) { return masked_error(b, IBV_XRCD_INIT_ATTR_OFLAGS); }},
    CallRow{"without the member oflags",           EINVAL,     [](Bench& b) { return masked_error(b, IBV_XRCD_INIT_ATTR_FD); }},
    CallRow{"with a member that there is not",     EOPNOTSUPP, [](Bench& b) { return masked_error(b, IBV_XRCD_INIT_ATTR_RESERVED); }},
    // clang-format on
};

// A second opening of the same file has the same domain, until both are closed.
void check_same_file(Bench& bench) {
  Checks& checks = *bench.checks;
  const NamelessFile file;
  ibv_xrcd* const first = open_domain(bench.a.context, file.fd, O_CREAT);
  checks.holds("a domain", first && first->context == bench.a.context);
  checks.equal("O_EXCL while it is there", domain_error(bench, file.fd, O_CREAT | O_EXCL), EINVAL);
  ibv_xrcd* const second = open_domain(bench.a.context, file.fd);
  checks.holds("the same once more", second && second != first);
  ibv_qp* const target = make_target(bench.a.context, first);
  ibv_qp* const same = open_target(bench.a.context, second, target->qp_num);
  checks.holds("a target of the one is opened by the other", same && same != target);
  checks.holds("it has the number", same && same->qp_num == target->qp_num);
  const bool other_device = bench.a.context->device != bench.b.context->device;
  if (other_device)
    checks.equal("the other HCA has no domain of this file",
                 error_of(open_domain(bench.b.context, file.fd), ibv_close_xrcd), EAGAIN);
  checks.equal("closed with a target", ibv_close_xrcd(first), EBUSY);
  checks.equal("the target", ibv_destroy_qp(target), 0);
  checks.equal("closed", ibv_close_xrcd(first), 0);
  checks.equal("the other with its target", ibv_close_xrcd(second), EBUSY);
  checks.equal("its target", ibv_destroy_qp(same), 0);
  checks.equal("O_EXCL while one is there", domain_error(bench, file.fd, O_CREAT | O_EXCL), EINVAL);
  checks.equal("the other", ibv_close_xrcd(second), 0);
  checks.equal("O_EXCL when it is gone", domain_error(bench, file.fd, O_CREAT | O_EXCL), 0);
}

// ---- What is made of a domain
template <class Change>
int qp_error(Bench& bench, ibv_qp_type type, Change change) {
  ibv_xrcd* const domain = open_domain(bench.a.context);
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_type = type;
  wanted.comp_mask = type == IBV_QPT_XRC_SEND ? IBV_QP_INIT_ATTR_PD : IBV_QP_INIT_ATTR_XRCD;
  wanted.pd = bench.a.pd, wanted.xrcd = domain, wanted.send_cq = bench.a.cq;
  wanted.cap = {kDepth, kDepth, 1, 1, 0};
  change(wanted);
  const int error = error_of(ibv_create_qp_ex(bench.a.context, &wanted), ibv_destroy_qp);
  return error ? error : ibv_close_xrcd(domain);
}
template <class Change>
int srq_error(Bench& bench, Change change) {
  ibv_xrcd* const domain = open_domain(bench.a.context);
  ibv_srq_init_attr_ex wanted{};
  wanted.attr = {kDepth, 1, 0};
  wanted.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  wanted.srq_type = IBV_SRQT_XRC, wanted.pd = bench.a.pd, wanted.xrcd = domain;
  wanted.cq = bench.a.cq;
  change(wanted);
  const int error = error_of(ibv_create_srq_ex(bench.a.context, &wanted), ibv_destroy_srq);
  return error ? error : ibv_close_xrcd(domain);
}
int open_error(Bench& bench, std::uint32_t mask, ibv_qp_type type, bool same_domain, bool target) {
  ibv_xrcd* const domain = open_domain(bench.a.context);
  ibv_xrcd* const other = open_domain(bench.a.context);
  ibv_qp* const qp = target ? make_target(bench.a.context, domain) : make_initiator(bench.a);
  ibv_qp_open_attr wanted{};
  wanted.comp_mask = mask, wanted.qp_num = qp->qp_num, wanted.qp_type = type;
  wanted.xrcd = same_domain ? domain : other;
  const int error = error_of(ibv_open_qp(bench.a.context, &wanted), ibv_destroy_qp);
  const int left = ibv_destroy_qp(qp) | ibv_close_xrcd(domain) | ibv_close_xrcd(other);
  return left ? left : error;
}
constexpr std::uint32_t kOpened =
    IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
constexpr ibv_qp_type kSend = IBV_QPT_XRC_SEND, kReceive = IBV_QPT_XRC_RECV;
constexpr std::array kMade{
    // clang-format off
    CallRow{"an initiator",                        0,          [](Bench& b) { return qp_error(b, kSend, [](auto&) {}); }},
    CallRow{"with a receive CQ, which it ignores", 0,          [](Bench& b) { return qp_error(b, kSend, [](auto& w) { w.recv_cq = w.send_cq; }); }},
    CallRow{"without a PD",                        EINVAL,     [](Bench& b) { return qp_error(b, kSend, [](auto& w) { w.comp_mask = 0; }); }},
    CallRow{"without a send CQ",                   EINVAL,     [](Bench& b) { return qp_error(b, kSend, [](auto& w) { w.send_cq = nullptr; }); }},
    CallRow{"a target",                            0,          [](Bench& b) { return qp_error(b, kReceive, [](auto&) {}); }},
    CallRow{"without a domain",                    EINVAL,     [](Bench& b) { return qp_error(b, kReceive, [](auto& w) { w.comp_mask = 0; }); }},
    CallRow{"of no domain",                        EINVAL,     [](Bench& b) { return qp_error(b, kReceive, [](auto& w) { w.xrcd = nullptr; }); }},
    CallRow{"a target for ibv_wr_*",               EOPNOTSUPP, [](Bench& b) { return qp_error(b, kReceive, [](auto& w) { w.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS; w.send_ops_flags = IBV_QP_EX_WITH_SEND; }); }},
    CallRow{"an SRQ",                              0,          [](Bench& b) { return srq_error(b, [](auto&) {}); }},
    CallRow{"without a PD",                        EINVAL,     [](Bench& b) { return srq_error(b, [](auto& w) { w.comp_mask &= ~IBV_SRQ_INIT_ATTR_PD; }); }},
    CallRow{"without a domain",                    EINVAL,     [](Bench& b) { return srq_error(b, [](auto& w) { w.comp_mask &= ~IBV_SRQ_INIT_ATTR_XRCD; }); }},
    CallRow{"without a CQ",                        EINVAL,     [](Bench& b) { return srq_error(b, [](auto& w) { w.comp_mask &= ~IBV_SRQ_INIT_ATTR_CQ; }); }},
    CallRow{"of another device's CQ",              EINVAL,     [](Bench& b) { return srq_error(b, [&](auto& w) { w.cq = b.b.cq; }); }},
    CallRow{"of tag matching",                     EOPNOTSUPP, [](Bench& b) { return srq_error(b, [](auto& w) { w.srq_type = IBV_SRQT_TM; }); }},
    CallRow{"a plain one with a domain",           EOPNOTSUPP, [](Bench& b) { return srq_error(b, [](auto& w) { w.srq_type = IBV_SRQT_BASIC; }); }},
    CallRow{"a target opened",                     0,          [](Bench& b) { return open_error(b, kOpened, kReceive, true, true); }},
    CallRow{"as an initiator",                     EINVAL,     [](Bench& b) { return open_error(b, kOpened, kSend, true, true); }},
    CallRow{"without its type",                    EINVAL,     [](Bench& b) { return open_error(b, kOpened & ~IBV_QP_OPEN_ATTR_TYPE, kReceive, true, true); }},
    CallRow{"with what there is not",              EOPNOTSUPP, [](Bench& b) { return open_error(b, kOpened | IBV_QP_OPEN_ATTR_RESERVED, kReceive, true, true); }},
    CallRow{"of another domain",                   EINVAL,     [](Bench& b) { return open_error(b, kOpened, kReceive, false, true); }},
    CallRow{"an initiator opened",                 EINVAL,     [](Bench& b) { return open_error(b, kOpened, kReceive, true, false); }},
    // clang-format on
};

// What is in use stays.
void check_order(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_pd* const pd = ibv_alloc_pd(bench.a.context);
  ibv_xrcd* const domain = open_domain(bench.a.context);
  ibv_cq* const cq = ibv_create_cq(bench.a.context, kDepth, nullptr, nullptr, 0);
  ibv_srq* const srq = make_xrc_srq(bench.a, domain, cq);
  checks.holds("an SRQ has a number", srq && number_of(srq));
  ibv_srq_attr its{};
  checks.equal("ibv_query_srq", ibv_query_srq(srq, &its), 0);
  checks.equal("its size", its.max_wr, kDepth);
  checks.equal("the CQ of an SRQ", ibv_destroy_cq(cq), EBUSY);
  checks.equal("the domain of an SRQ", ibv_close_xrcd(domain), EBUSY);
  ibv_qp_init_attr plain = bench.a.wanted_qp(IBV_QPT_RC);
  plain.srq = srq;
  checks.equal("a queue pair of RC with an SRQ of XRC",
               error_of(ibv_create_qp(bench.a.pd, &plain), ibv_destroy_qp), EINVAL);
  checks.equal("in order", ibv_destroy_srq(srq) | ibv_destroy_cq(cq) | ibv_close_xrcd(domain), 0);
  checks.equal("the PD", ibv_dealloc_pd(pd), 0);
}

// A queue pair has the queue of its side only.
void check_sides(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_xrcd* const domain = open_domain(bench.a.context);
  ibv_qp *const initiator = make_initiator(bench.a), *const target =
                                                         make_target(bench.a.context, domain);
  checks.equal("they are connected", connect(initiator, bench.a, target, bench.a), 0);
  ibv_qp_attr other_side{};
  other_side.qp_state = IBV_QPS_RTS, other_side.rnr_retry = 1;
  checks.equal("a target has no RNR retries, and ignores them",
               ibv_modify_qp(target, &other_side, IBV_QP_STATE | IBV_QP_RNR_RETRY), 0);
  checks.equal("an initiator has no RNR timer, and ignores it",
               ibv_modify_qp(initiator, &other_side, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  checks.equal("a target sends nothing", post(target, wr), EINVAL);
  for (ibv_qp* qp : {initiator, target})
    checks.equal("neither side has a receive queue", post_receive(qp, data), EINVAL);
  ibv_qp_attr its{};
  ibv_qp_init_attr made{};
  checks.equal("ibv_query_qp", ibv_query_qp(target, &its, IBV_QP_CAP, &made), 0);
  checks.equal("a target's type", made.qp_type, IBV_QPT_XRC_RECV);
  checks.holds("a target has no sends", !its.cap.max_send_wr && !its.cap.max_recv_wr);
  checks.equal("ibv_query_qp", ibv_query_qp(initiator, &its, IBV_QP_CAP, &made), 0);
  checks.holds("an initiator has no receives", its.cap.max_send_wr && !its.cap.max_recv_wr);
  checks.equal("RTS", its.qp_state, IBV_QPS_RTS);
  checks.equal("destroyed", ibv_destroy_qp(initiator) | ibv_destroy_qp(target), 0);
  checks.equal("closed", ibv_close_xrcd(domain), 0);
}
}  // namespace

void check_xrc(Bench& bench) {
  bench.checks->holds("IBV_DEVICE_XRC", bench.a.device.device_cap_flags & IBV_DEVICE_XRC);
  walk(bench, kDomains);
  check_same_file(bench);
  walk(bench, kMade);
  check_order(bench);
  check_sides(bench);
}
}  // namespace cases
