// SPDX-License-Identifier: Apache-2.0
// ibv_wr_post(3): work requests piece by piece. Unsupported operations: EOPNOTSUPP.
#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr std::uint64_t kOps = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                               IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                               IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                               IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
                               IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;

ibv_qp* make_extended(End& end, std::uint64_t ops, ibv_qp_type type = IBV_QPT_RC) {
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = end.cq, wanted.qp_type = type;
  wanted.cap = {kDepth, kDepth, 2, 2, 64};
  wanted.pd = end.pd, wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.send_ops_flags = ops;
  return ibv_create_qp_ex(end.context, &wanted);
}

// One operation from a to b; `received`: the opcode of the receive's completion, if it has one.
struct OperationRow {
  const char* what;
  void (*begin)(ibv_qp_ex*, const End& to);
  ibv_wc_opcode sent;
  int received = -1;
};
std::uint64_t address(const End& end) {
  return reinterpret_cast<std::uintptr_t>(end.buffer.data());
}
constexpr std::array kOperations{
    // clang-format off
    OperationRow{"ibv_wr_send",           [](auto* qp, auto&) { ibv_wr_send(qp); },                                                     IBV_WC_SEND, IBV_WC_RECV},
    OperationRow{"ibv_wr_send_imm",       [](auto* qp, auto&) { ibv_wr_send_imm(qp, 5); },                                              IBV_WC_SEND, IBV_WC_RECV},
    OperationRow{"ibv_wr_rdma_write",     [](auto* qp, auto& to) { ibv_wr_rdma_write(qp, to.mr->rkey, address(to)); },                  IBV_WC_RDMA_WRITE},
    OperationRow{"ibv_wr_rdma_write_imm", [](auto* qp, auto& to) { ibv_wr_rdma_write_imm(qp, to.mr->rkey, address(to), 5); },           IBV_WC_RDMA_WRITE, IBV_WC_RECV_RDMA_WITH_IMM},
    OperationRow{"ibv_wr_rdma_read",      [](auto* qp, auto& to) { ibv_wr_rdma_read(qp, to.mr->rkey, address(to)); },                   IBV_WC_RDMA_READ},
    OperationRow{"ibv_wr_atomic_cmp_swp", [](auto* qp, auto& to) { ibv_wr_atomic_cmp_swp(qp, to.mr->rkey, address(to), 0, 1); },        IBV_WC_COMP_SWAP},
    OperationRow{"ibv_wr_atomic_fetch_add", [](auto* qp, auto& to) { ibv_wr_atomic_fetch_add(qp, to.mr->rkey, address(to), 1); },       IBV_WC_FETCH_ADD},
    // clang-format on
};

void check_operations(Bench& bench, ibv_qp* a, ibv_qp* b) {
  Checks& checks = *bench.checks;
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  std::uint64_t id = 100;
  for (const OperationRow& row : kOperations) {
    if (row.received >= 0) post_receive(b, bench.b.sge(0, 64), 7);
    ibv_wr_start(qp);
    qp->wr_id = ++id, qp->wr_flags = IBV_SEND_SIGNALED;
    row.begin(qp, bench.b);
    ibv_wr_set_sge(qp, bench.a.mr->lkey, address(bench.a), 8);
    checks.equal(row.what, ibv_wr_complete(qp), 0);
    const ibv_wc wc = bench.a.next_completion();
    checks.equal(row.what, wc.status, IBV_WC_SUCCESS);
    checks.equal(row.what, wc.opcode, row.sent);
    checks.equal(row.what, (long long)wc.wr_id, (long long)id);
    if (row.received < 0) continue;
    const ibv_wc got = bench.b.next_completion();
    checks.equal(row.what, got.status, IBV_WC_SUCCESS);
    checks.equal(row.what, got.opcode, row.received);
  }
}

void check_data(Bench& bench, ibv_qp* a) {
  Checks& checks = *bench.checks;
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  char first[] = "inline ", second[] = "data";
  const std::array<ibv_data_buf, 2> parts{ibv_data_buf{first, 7}, ibv_data_buf{second, 5}};
  ibv_wr_start(qp);
  qp->wr_id = 1, qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(qp, bench.b.mr->rkey, address(bench.b) + 512);
  ibv_wr_set_inline_data_list(qp, parts.size(), parts.data());
  // A second one in the same list, of two pieces of memory.
  const std::array<ibv_sge, 2> pieces{bench.a.sge(1024, 8), bench.a.sge(2048, 8)};
  std::memcpy(bench.a.buffer.data() + 1024, "two piec", 8);
  std::memcpy(bench.a.buffer.data() + 2048, "es of it", 8);
  qp->wr_id = 2;
  ibv_wr_rdma_write(qp, bench.b.mr->rkey, address(bench.b) + 600);
  ibv_wr_set_sge_list(qp, pieces.size(), pieces.data());
  checks.equal("two work requests", ibv_wr_complete(qp), 0);
  for (int id = 1; id <= 2; ++id) {
    const ibv_wc wc = bench.a.next_completion();
    checks.equal("one of two", wc.status, IBV_WC_SUCCESS);
    checks.equal("in order", (long long)wc.wr_id, id);
  }
  checks.equal("inline data", std::memcmp(bench.b.buffer.data() + 512, "inline data", 12), 0);
  checks.equal("two pieces", std::memcmp(bench.b.buffer.data() + 600, "two pieces of it", 16), 0);
}

void check_aborted(Bench& bench, ibv_qp* a) {
  Checks& checks = *bench.checks;
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  const auto write = [&](std::size_t pieces) {
    const std::array<ibv_sge, 3> sges{bench.a.sge(0, 8), bench.a.sge(0, 8), bench.a.sge(0, 8)};
    ibv_wr_start(qp);
    qp->wr_id = 3, qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, bench.b.mr->rkey, address(bench.b));
    ibv_wr_set_sge_list(qp, pieces, sges.data());
  };
  write(1);
  ibv_wr_abort(qp);
  checks.holds("what is aborted is not posted", !bench.a.has_completion_left());
  write(3);
  checks.equal("more pieces than max_send_sge", ibv_wr_complete(qp), EINVAL);
  checks.holds("nothing is posted", !bench.a.has_completion_left());
  write(1);
  checks.equal("the next is", ibv_wr_complete(qp), 0);
  checks.equal("posted", bench.a.next_completion().status, IBV_WC_SUCCESS);
  ibv_wr_start(qp);
  for (int i = 0; i <= kDepth; ++i) {
    qp->wr_id = 4, qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, bench.b.mr->rkey, address(bench.b));
    ibv_wr_set_sge(qp, bench.a.mr->lkey, address(bench.a), 8);
  }
  const int error = ibv_wr_complete(qp);
  int posted = 0;
  while (bench.a.has_completion_left()) ++posted;
  checks.holds("more than the queue has room for: all or nothing",
               error ? error == ENOMEM && posted == 0 : posted == kDepth + 1);
}

// What a service has is the table of ibv_wr_post(3); but for Send with Invalidate of UC, which the
// specification does not have.
struct ServiceRow {
  std::uint64_t flag;
  bool uc, ud;
};
constexpr std::array kServices{ServiceRow{IBV_QP_EX_WITH_SEND, true, true},
                               ServiceRow{IBV_QP_EX_WITH_SEND_WITH_IMM, true, true},
                               ServiceRow{IBV_QP_EX_WITH_SEND_WITH_INV, false, false},
                               ServiceRow{IBV_QP_EX_WITH_RDMA_WRITE, true, false},
                               ServiceRow{IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, true, false},
                               ServiceRow{IBV_QP_EX_WITH_RDMA_READ, false, false},
                               ServiceRow{IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, false, false},
                               ServiceRow{IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, false, false},
                               ServiceRow{IBV_QP_EX_WITH_LOCAL_INV, true, false},
                               ServiceRow{IBV_QP_EX_WITH_BIND_MW, true, false}};

void check_services(Bench& bench) {
  const auto error_of_making = [&](std::uint64_t ops, ibv_qp_type type) {
    ibv_qp* const made = make_extended(bench.a, ops, type);
    return made ? ibv_destroy_qp(made) : errno;
  };
  for (const ServiceRow& row : kServices) {
    const std::string what = "operation " + std::to_string(row.flag);
    bench.checks->equal(what + " of RC", error_of_making(row.flag, IBV_QPT_RC), 0);
    bench.checks->equal(what + " of UC", error_of_making(row.flag, IBV_QPT_UC),
                        row.uc ? 0 : EOPNOTSUPP);
    bench.checks->equal(what + " of UD", error_of_making(row.flag, IBV_QPT_UD),
                        row.ud ? 0 : EOPNOTSUPP);
  }
}

// Operations for which the queue pair was not made, in the midst of a list, take all of it back.
void check_not_made_for(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_qp* const a = make_extended(bench.a, IBV_QP_EX_WITH_RDMA_WRITE);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  checks.holds("one that is not made for it has no extended API", !ibv_qp_to_qp_ex(b));
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  const auto write = [&] {
    ibv_wr_rdma_write(qp, bench.b.mr->rkey, address(bench.b));
    ibv_wr_set_sge(qp, bench.a.mr->lkey, address(bench.a), 8);
  };
  for (const OperationRow& row : kOperations) {
    if (row.sent == IBV_WC_RDMA_WRITE && row.received < 0) continue;
    ibv_wr_start(qp);
    qp->wr_id = 1, qp->wr_flags = IBV_SEND_SIGNALED;
    write();
    row.begin(qp, bench.b);
    ibv_wr_set_sge(qp, bench.a.mr->lkey, address(bench.a), 8);
    write();
    checks.equal(row.what, ibv_wr_complete(qp), EOPNOTSUPP);
  }
  checks.holds("nothing is posted", !bench.a.has_completion_left());
  ibv_wr_start(qp);
  write();
  checks.equal("what it was made for", ibv_wr_complete(qp), 0);
  checks.equal("is done", bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("destroyed", ibv_destroy_qp(a) | ibv_destroy_qp(b), 0);
}

// A datagram without an address does not go where the last one went.
void check_address(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_qp* const a = make_extended(bench.a, IBV_QP_EX_WITH_SEND, IBV_QPT_UD);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_UD);
  checks.equal("they are ready", connect(a, bench.a, b, bench.b), 0);
  ibv_ah_attr path = address_of(bench.b);
  ibv_ah* const ah = ibv_create_ah(bench.a.pd, &path);
  ibv_qp_ex* const qp = ibv_qp_to_qp_ex(a);
  const auto send = [&](bool addressed) {
    ibv_wr_start(qp);
    qp->wr_id = 1, qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(qp);
    if (addressed) ibv_wr_set_ud_addr(qp, ah, b->qp_num, 0x1234);
    ibv_wr_set_sge(qp, bench.a.mr->lkey, address(bench.a), 8);
    return ibv_wr_complete(qp);
  };
  post_receive(b, bench.b.sge(0, 64)), post_receive(b, bench.b.sge(0, 64));
  checks.equal("a datagram", send(true), 0);
  checks.equal("is sent", bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("and received", bench.b.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("one without an address", send(false), EINVAL);
  checks.holds("is not posted", !bench.a.has_completion_left());
  checks.equal("destroyed", ibv_destroy_qp(a) | ibv_destroy_qp(b) | ibv_destroy_ah(ah), 0);
}

// ---- What the device has not
template <class Object>
int error_of(Object* made) {
  return made ? 0 : errno;
}
constexpr std::array kAbsent{
    // clang-format off
    CallRow{"ibv_alloc_dm",            EOPNOTSUPP, [](Bench& b) { ibv_alloc_dm_attr a{64, 0, 0}; return error_of(ibv_alloc_dm(b.a.context, &a)); }},
    CallRow{"ibv_alloc_null_mr",       EOPNOTSUPP, [](Bench& b) { return error_of(ibv_alloc_null_mr(b.a.pd)); }},
    CallRow{"ibv_open_xrcd",           EOPNOTSUPP, [](Bench& b) { ibv_xrcd_init_attr a{}; return error_of(ibv_open_xrcd(b.a.context, &a)); }},
    CallRow{"ibv_open_qp",             EOPNOTSUPP, [](Bench& b) { ibv_qp_open_attr a{}; return error_of(ibv_open_qp(b.a.context, &a)); }},
    CallRow{"ibv_create_wq",           EOPNOTSUPP, [](Bench& b) { ibv_wq_init_attr a{}; return error_of(ibv_create_wq(b.a.context, &a)); }},
    CallRow{"ibv_create_rwq_ind_table", EOPNOTSUPP, [](Bench& b) { ibv_rwq_ind_table_init_attr a{}; return error_of(ibv_create_rwq_ind_table(b.a.context, &a)); }},
    CallRow{"ibv_create_counters",     EOPNOTSUPP, [](Bench& b) { ibv_counters_init_attr a{}; return error_of(ibv_create_counters(b.a.context, &a)); }},
    CallRow{"ibv_create_flow_action_esp", EOPNOTSUPP, [](Bench& b) { ibv_flow_action_esp_attr a{}; return error_of(ibv_create_flow_action_esp(b.a.context, &a)); }},
    CallRow{"ibv_create_flow",         EOPNOTSUPP, [](Bench& b) { ibv_qp* qp = b.a.make_qp(IBV_QPT_UD); ibv_flow_attr a{}; const int error = error_of(ibv_create_flow(qp, &a)); ibv_destroy_qp(qp); return error; }},
    CallRow{"ibv_modify_qp_rate_limit", EOPNOTSUPP, [](Bench& b) { ibv_qp* qp = b.a.make_qp(IBV_QPT_RC); ibv_qp_rate_limit_attr a{}; const int error = ibv_modify_qp_rate_limit(qp, &a); ibv_destroy_qp(qp); return error; }},
    CallRow{"ibv_advise_mr",           EOPNOTSUPP, [](Bench& b) { ibv_sge sge = b.a.sge(0, 8); return ibv_advise_mr(b.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1); }},
    CallRow{"ibv_reg_dmabuf_mr",       EOPNOTSUPP, [](Bench& b) { return error_of(ibv_reg_dmabuf_mr(b.a.pd, 0, 64, 0, 0, 0)); }},
    CallRow{"ibv_import_device",       EOPNOTSUPP, [](Bench&) { return error_of(ibv_import_device(0)); }},
    CallRow{"ibv_import_pd",           EOPNOTSUPP, [](Bench& b) { return error_of(ibv_import_pd(b.a.context, 1)); }},
    CallRow{"ibv_import_mr",           EOPNOTSUPP, [](Bench& b) { return error_of(ibv_import_mr(b.a.pd, 1)); }},
    CallRow{"ibv_import_dm",           EOPNOTSUPP, [](Bench& b) { return error_of(ibv_import_dm(b.a.context, 1)); }},
    CallRow{"an operation that there is not", EOPNOTSUPP, [](Bench& b) { return error_of(make_extended(b.a, IBV_QP_EX_WITH_TSO)); }},
    CallRow{"ibv_fork_init",           0,          [](Bench&) { return ibv_fork_init(); }},
    CallRow{"ibv_is_fork_initialized", IBV_FORK_UNNEEDED, [](Bench&) { return int(ibv_is_fork_initialized()); }},
    // clang-format on
};

void check_ece(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_ece ece{1, 2, 3};
  checks.equal("ibv_query_ece", ibv_query_ece(pair.a, &ece), 0);
  checks.equal("of no vendor", ece.vendor_id | ece.options, 0);
  checks.equal("ibv_set_ece", ibv_set_ece(pair.a, &ece), 0);
  ece.vendor_id = 1;
  checks.equal("of another", ibv_set_ece(pair.a, &ece), EOPNOTSUPP);
}

void check_list(Bench& bench) {
  Checks& checks = *bench.checks;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  checks.equal("two devices", count, 2);
  for (int i = 0; i < count; ++i) {
    const std::string name = ibv_get_device_name(list[i]);
    checks.equal("ibv_get_device_name", name == "hca" + std::to_string(i), 1);
    checks.equal("ibv_get_device_index", ibv_get_device_index(list[i]), i);
    ibv_context* const context = ibv_open_device(list[i]);
    ibv_device_attr device{};
    ibv_query_device(context, &device);
    checks.holds("ibv_get_device_guid", ibv_get_device_guid(list[i]) == device.node_guid);
    ibv_close_device(context);
  }
  ibv_free_device_list(list);
}
}  // namespace

void check_extended(Bench& bench) {
  ibv_qp* const a = make_extended(bench.a, kOps);
  ibv_qp* const b = make_extended(bench.b, kOps);
  bench.checks->holds("queue pairs of the extended API", a && b);
  bench.checks->equal("are connected", connect(a, bench.a, b, bench.b), 0);
  check_operations(bench, a, b);
  check_data(bench, a);
  check_aborted(bench, a);
  bench.checks->equal("destroyed", ibv_destroy_qp(a) | ibv_destroy_qp(b), 0);
  check_services(bench);
  check_not_made_for(bench);
  check_address(bench);
  walk(bench, kAbsent);
  check_ece(bench);
  check_list(bench);
}
}  // namespace cases
