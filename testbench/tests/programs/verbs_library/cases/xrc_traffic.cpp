// SPDX-License-Identifier: Apache-2.0
// Messages of XRC: each names its SRQ, whose CQ has its completion.
#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/xrc.h"

namespace cases {
namespace {
constexpr std::uint64_t kAllWork = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                                   IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;

// An initiator at `a`; at `b` its target and two SRQs, the second with a CQ of its own.
struct Crossed {
  explicit Crossed(Bench& ends) : bench(ends), domain(open_domain(ends.b.context)) {
    cq = ibv_create_cq(bench.b.context, kDepth, nullptr, nullptr, 0);
    first = make_xrc_srq(bench.b, domain, bench.b.cq);
    second = make_xrc_srq(bench.b, domain, cq);
    initiator = make_initiator(bench.a, kAllWork);
    target = make_target(bench.b.context, domain);
    bench.checks->equal("they are connected", connect(initiator, bench.a, target, bench.b), 0);
  }
  ~Crossed() {
    int error = ibv_destroy_qp(initiator) | ibv_destroy_qp(target);
    for (ibv_srq* srq : {first, second})
      if (srq) error |= ibv_destroy_srq(srq);
    bench.checks->equal("destroyed", error | ibv_destroy_cq(cq) | ibv_close_xrcd(domain), 0);
  }
  Crossed(const Crossed&) = delete;
  int send(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint64_t id = 1) {
    ibv_sge data = bench.a.sge(0, 64);
    ibv_send_wr wr = work(opcode, &data, id);
    if (opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ ||
        opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
      set_remote(wr, bench.b, 4096);
    if (opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
      wr.imm_data = htobe32(0x1234);
    wr.qp_type.xrc.remote_srqn = srqn;
    return post(initiator, wr);
  }
  Bench& bench;
  ibv_xrcd* domain;
  ibv_cq* cq;
  ibv_srq *first, *second;
  ibv_qp *initiator, *target;
};

struct OperationRow {
  const char* what;
  ibv_wr_opcode opcode;
  int sent, received;  // opcodes of the completions; -1: none
};
constexpr std::array kOperations{
    OperationRow{"SEND", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV},
    OperationRow{"SEND with immediate", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV},
    OperationRow{"WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, -1},
    OperationRow{"WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
                 IBV_WC_RECV_RDMA_WITH_IMM},
    OperationRow{"READ", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, -1},
};

void check_operations(Crossed& x) {
  Checks& checks = *x.bench.checks;
  std::uint64_t id = 10;
  for (const OperationRow& row : kOperations)
    for (ibv_srq* srq : {x.second, x.first}) {
      const std::string what = row.what;
      ibv_cq* const cq = srq == x.first ? x.bench.b.cq : x.cq;
      x.bench.a.buffer[0] = std::uint8_t(++id), x.bench.b.buffer[0] = 0;
      if (row.received >= 0)
        checks.equal(what + ": a receive", post_shared(srq, x.bench.b.sge(0, 64), id), 0);
      checks.equal(what, x.send(row.opcode, number_of(srq), id), 0);
      const ibv_wc sent = x.bench.a.next_completion();
      checks.equal(what + " is sent", sent.status, IBV_WC_SUCCESS);
      checks.equal(what + ", opcode", sent.opcode, row.sent);
      if (row.received < 0) continue;
      const ibv_wc wc = next_completion(cq);
      checks.equal(what + " is received", wc.status, IBV_WC_SUCCESS);
      checks.equal(what + ", its receive", (long long)wc.wr_id, (long long)id);
      checks.equal(what + ", the receive's opcode", wc.opcode, row.received);
      checks.equal(what + ", its queue pair is the target", wc.qp_num, x.target->qp_num);
      if (row.opcode == IBV_WR_SEND)
        checks.equal(what + ", its data", x.bench.b.buffer[0], x.bench.a.buffer[0]);
      if (wc.wc_flags & IBV_WC_WITH_IMM) checks.equal(what, be32toh(wc.imm_data), 0x1234);
      ibv_wc none;
      checks.equal(what + ": the other CQ has none",
                   ibv_poll_cq(srq == x.first ? x.cq : x.bench.b.cq, 1, &none), 0);
    }
}

// ibv_wr_set_xrc_srqn(3): each work request needs it.
void check_extended(Crossed& x) {
  Checks& checks = *x.bench.checks;
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(x.initiator);
  const auto begin = [&](bool named) {
    ibv_wr_start(qp);
    qp->wr_id = 7, qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(qp);
    if (named) ibv_wr_set_xrc_srqn(qp, number_of(x.second));
    ibv_wr_set_sge(qp, x.bench.a.mr->lkey, x.bench.a.sge(0, 8).addr, 8);
  };
  begin(false);
  checks.equal("without an SRQ", ibv_wr_complete(qp), EINVAL);
  checks.equal("a receive", post_shared(x.second, x.bench.b.sge(0, 64), 70), 0);
  begin(true);
  checks.equal("with an SRQ", ibv_wr_complete(qp), 0);
  checks.equal("is sent", x.bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("its receive", (long long)next_completion(x.cq).wr_id, 70);
}

// A limit is reached as with another SRQ; unread completions go with their SRQ.
void check_srq(Crossed& x) {
  Checks& checks = *x.bench.checks;
  for (std::uint64_t id = 0; id < 4; ++id)
    checks.equal("a receive", post_shared(x.second, x.bench.b.sge(0, 64), id), 0);
  ibv_srq_attr limit{};
  limit.srq_limit = 4;
  checks.equal("a limit", ibv_modify_srq(x.second, &limit, IBV_SRQ_LIMIT), 0);
  checks.equal("SEND", x.send(IBV_WR_SEND, number_of(x.second)), 0);
  checks.equal("is sent", x.bench.a.next_completion().status, IBV_WC_SUCCESS);
  int event = x.bench.b.next_event();
  while (event == IBV_EVENT_COMM_EST) event = x.bench.b.next_event();
  checks.equal("the limit is reached", event, IBV_EVENT_SRQ_LIMIT_REACHED);
  checks.equal("the SRQ goes", ibv_destroy_srq(x.second), 0);
  x.second = nullptr;
  ibv_wc none;
  checks.equal("and its completions", ibv_poll_cq(x.cq, 1, &none), 0);
}

// G24.2, G24.4: no SRQ, one of another domain.
void check_refused(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_xrcd* const other = open_domain(bench.b.context);
  ibv_srq* const foreign = make_xrc_srq(bench.b, other, bench.b.cq);
  for (const bool exists : {false, true}) {
    Crossed x(bench);
    const std::string what = exists ? "an SRQ of another domain" : "no SRQ";
    checks.equal(what, x.send(IBV_WR_SEND, exists ? number_of(foreign) : 0xffff), 0);
    const ibv_wc wc = bench.a.next_completion();
    checks.equal(what + " is refused", wc.status, IBV_WC_REM_INV_RD_REQ_ERR);
    checks.equal(what + ": the initiator", state_of(x.initiator), IBV_QPS_ERR);
    checks.equal(what + ": the target", state_of(x.target), IBV_QPS_ERR);
  }
  checks.equal("destroyed", ibv_destroy_srq(foreign) | ibv_close_xrcd(other), 0);
}
}  // namespace

void check_xrc_traffic(Bench& bench) {
  {
    Crossed x(bench);
    check_operations(x);
    check_extended(x);
    check_srq(x);
  }
  check_refused(bench);
}
}  // namespace cases
