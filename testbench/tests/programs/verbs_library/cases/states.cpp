// SPDX-License-Identifier: Apache-2.0
// ibv_modify_qp(3), ibv_query_qp(3): what a change of state needs, and what it may not have.
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
const char* name_of(ibv_qp_type type) {
  return type == IBV_QPT_RC ? "RC " : type == IBV_QPT_UC ? "UC " : "UD ";
}

// Each attribute that is missing fails the whole; then it goes well.
void check_needed(Bench& bench, ibv_qp* qp, ibv_qp_attr attributes, int mask, const char* to) {
  const ibv_qp_state before = state_of(qp);
  const std::string what = std::string(name_of(qp->qp_type)) + to;
  for (int bit = IBV_QP_STATE << 1; bit <= mask; bit <<= 1) {
    if (!(mask & bit)) continue;
    bench.checks->equal(what + " without attribute " + std::to_string(bit),
                        ibv_modify_qp(qp, &attributes, mask & ~bit), EINVAL);
    bench.checks->equal(what + ": it stays where it was", state_of(qp), before);
  }
  bench.checks->equal(what, ibv_modify_qp(qp, &attributes, mask), 0);
  bench.checks->equal(what + ": it is there", state_of(qp), attributes.qp_state);
  bench.checks->equal(what + ": the structure says so", qp->state, attributes.qp_state);
}

void check_way(Bench& bench, ibv_qp_type type) {
  ibv_qp* const qp = bench.a.make_qp(type);
  const std::string what = name_of(type);
  Path path = path_to(type, bench.a, bench.b, 77);
  bench.checks->equal(what + "Reset to RTR", ibv_modify_qp(qp, &path.rtr, path.rtr_mask), EINVAL);
  bench.checks->equal(what + "Reset to RTS", ibv_modify_qp(qp, &path.rts, path.rts_mask), EINVAL);
  check_needed(bench, qp, path.init, path.init_mask, "Reset to Init");
  bench.checks->equal(what + "Init to RTS", ibv_modify_qp(qp, &path.rts, path.rts_mask), EINVAL);
  if (type != IBV_QPT_UD && bench.a.port.link_layer == IBV_LINK_LAYER_ETHERNET) {
    ibv_qp_attr local = path.rtr;
    local.ah_attr.is_global = 0;
    bench.checks->equal(what + "Init to RTR by a LID on Ethernet",
                        ibv_modify_qp(qp, &local, path.rtr_mask), EINVAL);
  }
  check_needed(bench, qp, path.rtr, path.rtr_mask, "Init to RTR");
  bench.checks->equal(what + "RTR to Init", ibv_modify_qp(qp, &path.init, path.init_mask), EINVAL);
  path.rts.cur_qp_state = IBV_QPS_INIT;
  bench.checks->equal(what + "RTR to RTS where it is not",
                      ibv_modify_qp(qp, &path.rts, path.rts_mask | IBV_QP_CUR_STATE), EINVAL);
  check_needed(bench, qp, path.rts, path.rts_mask, "RTR to RTS");
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_SQE;
  bench.checks->equal(what + "to SQE", ibv_modify_qp(qp, &to, IBV_QP_STATE), EINVAL);
  for (const ibv_qp_state state : {IBV_QPS_ERR, IBV_QPS_RESET}) {
    to.qp_state = state;
    bench.checks->equal(what + "to Error and to Reset", ibv_modify_qp(qp, &to, IBV_QP_STATE), 0);
    bench.checks->equal(what + "is there", state_of(qp), state);
  }
  ibv_destroy_qp(qp);
}

// A value that is out of its range.
struct ValueRow {
  const char* what;
  void (*change)(Path&);
};
constexpr std::array kInitValues{
    ValueRow{"port 0", [](Path& p) { p.init.port_num = 0; }},
    ValueRow{"a port beyond the last", [](Path& p) { p.init.port_num = 2; }},
    ValueRow{"a P_Key beyond the table", [](Path& p) { p.init.pkey_index = 4000; }},
    ValueRow{"rights that a queue pair does not give",
             [](Path& p) { p.init.qp_access_flags = IBV_ACCESS_MW_BIND; }},
    ValueRow{"rights that there are not", [](Path& p) { p.init.qp_access_flags = 1 << 19; }},
};
constexpr std::array kRtrValues{
    ValueRow{"no MTU", [](Path& p) { p.rtr.path_mtu = ibv_mtu(0); }},
    ValueRow{"an MTU beyond 4096", [](Path& p) { p.rtr.path_mtu = ibv_mtu(6); }},
    ValueRow{"an RNR timer code of 6 bits", [](Path& p) { p.rtr.min_rnr_timer = 32; }},
    ValueRow{"more responder resources than the device has",
             [](Path& p) { p.rtr.max_dest_rd_atomic = 255; }},
    ValueRow{"a GID beyond the table",
             [](Path& p) { p.rtr.ah_attr.is_global = 1, p.rtr.ah_attr.grh.sgid_index = 200; }},
    ValueRow{"an entry of the GID table without a GID",
             [](Path& p) { p.rtr.ah_attr.is_global = 1, p.rtr.ah_attr.grh.sgid_index = 1; }},
    ValueRow{"a rate that is none", [](Path& p) { p.rtr.ah_attr.static_rate = 200; }},
    ValueRow{"a path from port 2", [](Path& p) { p.rtr.ah_attr.port_num = 2; }},
};
constexpr std::array kRtsValues{
    ValueRow{"a timeout of 6 bits", [](Path& p) { p.rts.timeout = 32; }},
    ValueRow{"8 retries", [](Path& p) { p.rts.retry_cnt = 8; }},
    ValueRow{"8 retries of receivers that are not ready", [](Path& p) { p.rts.rnr_retry = 8; }},
    ValueRow{"more READs than the device has", [](Path& p) { p.rts.max_rd_atomic = 255; }},
};

template <std::size_t kRows>
void check_values(Bench& bench, ibv_qp* qp, const std::array<ValueRow, kRows>& rows,
                  ibv_qp_attr Path::*attributes, int Path::*mask) {
  for (const ValueRow& row : rows) {
    Path path = path_to(IBV_QPT_RC, bench.a, bench.b, 77);
    row.change(path);
    bench.checks->equal(row.what, ibv_modify_qp(qp, &(path.*attributes), path.*mask), EINVAL);
  }
  Path path = path_to(IBV_QPT_RC, bench.a, bench.b, 77);
  bench.checks->equal("good values", ibv_modify_qp(qp, &(path.*attributes), path.*mask), 0);
}

void check_ranges(Bench& bench) {
  ibv_qp* const qp = bench.a.make_qp(IBV_QPT_RC);
  check_values(bench, qp, kInitValues, &Path::init, &Path::init_mask);
  check_values(bench, qp, kRtrValues, &Path::rtr, &Path::rtr_mask);
  check_values(bench, qp, kRtsValues, &Path::rts, &Path::rts_mask);
  // What a state does not have, or no state of this service.
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS, attributes.path_mtu = IBV_MTU_256;
  for (const int not_here : {IBV_QP_PATH_MTU, IBV_QP_QKEY, IBV_QP_PORT, IBV_QP_DEST_QPN})
    bench.checks->equal("an attribute that RTS does not change",
                        ibv_modify_qp(qp, &attributes, IBV_QP_STATE | not_here), EINVAL);
  for (const int not_offered : {IBV_QP_ALT_PATH, IBV_QP_PATH_MIG_STATE, IBV_QP_CAP})
    bench.checks->holds("what the device does not offer",
                        ibv_modify_qp(qp, &attributes, IBV_QP_STATE | not_offered) != 0);
  ibv_destroy_qp(qp);
}

// Attributes that no queue pair has at that point, and those that this device has not.
struct MaskRow {
  const char* what;
  ibv_qp_type type;
  ibv_qp_attr Path::*attributes;
  int Path::*mask;
  int more, wanted;
};
constexpr std::array kMasks{
    // clang-format off
    MaskRow{"capabilities to RTR",            IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, IBV_QP_CAP,            EINVAL},
    MaskRow{"a bit that is no attribute's",   IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, 1 << 30,               EINVAL},
    MaskRow{"a rate limit to RTR",            IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, IBV_QP_RATE_LIMIT,     EINVAL},
    MaskRow{"a state of migration to RTR",    IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, IBV_QP_PATH_MIG_STATE, EINVAL},
    MaskRow{"an alternate path of UD",        IBV_QPT_UD, &Path::rtr, &Path::rtr_mask, IBV_QP_ALT_PATH,       EINVAL},
    MaskRow{"a timeout to RTR",               IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, IBV_QP_TIMEOUT,        EINVAL},
    MaskRow{"an alternate path, to RTR",      IBV_QPT_RC, &Path::rtr, &Path::rtr_mask, IBV_QP_ALT_PATH,       EOPNOTSUPP},
    MaskRow{"an alternate path, to RTS",      IBV_QPT_UC, &Path::rts, &Path::rts_mask, IBV_QP_ALT_PATH,       EOPNOTSUPP},
    MaskRow{"a state of migration to RTS",    IBV_QPT_RC, &Path::rts, &Path::rts_mask, IBV_QP_PATH_MIG_STATE, EOPNOTSUPP},
    MaskRow{"a rate limit to RTS",            IBV_QPT_RC, &Path::rts, &Path::rts_mask, IBV_QP_RATE_LIMIT,     EOPNOTSUPP},
    // clang-format on
};
void check_masks(Bench& bench) {
  for (const MaskRow& row : kMasks) {
    ibv_qp* const qp = bench.a.make_qp(row.type);
    Path path = path_to(row.type, bench.a, bench.b, 77);
    ibv_modify_qp(qp, &path.init, path.init_mask);
    if (row.attributes == &Path::rts) ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
    bench.checks->equal(row.what,
                        ibv_modify_qp(qp, &(path.*row.attributes), path.*row.mask | row.more),
                        row.wanted);
    bench.checks->equal("without it", ibv_modify_qp(qp, &(path.*row.attributes), path.*row.mask),
                        0);
    ibv_destroy_qp(qp);
  }
}

// Of numbers of 24 bits the upper ones are not looked at, as with the providers of most devices.
void check_wide_numbers(Bench& bench) {
  ibv_qp* const qp = bench.a.make_qp(IBV_QPT_RC);
  Path path = path_to(IBV_QPT_RC, bench.a, bench.b, 0x1200'0077);
  path.rtr.rq_psn = 0x3400'0011, path.rts.sq_psn = 0x5600'0022;
  ibv_modify_qp(qp, &path.init, path.init_mask);
  bench.checks->equal("wide numbers to RTR", ibv_modify_qp(qp, &path.rtr, path.rtr_mask), 0);
  bench.checks->equal("and to RTS", ibv_modify_qp(qp, &path.rts, path.rts_mask), 0);
  ibv_qp_attr is{};
  ibv_qp_init_attr made{};
  ibv_query_qp(qp, &is, IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_SQ_PSN, &made);
  bench.checks->equal("dest_qp_num", is.dest_qp_num, 0x77);
  bench.checks->equal("rq_psn", is.rq_psn, 0x11);
  bench.checks->equal("sq_psn", is.sq_psn, 0x22);
  ibv_destroy_qp(qp);
}

// A path's rate comes back, and is kept.
void check_rate(Bench& bench) {
  Checks& checks = *bench.checks;
  for (const ibv_rate rate : {IBV_RATE_MAX, IBV_RATE_2_5_GBPS, IBV_RATE_56_GBPS}) {
    ibv_qp* const qp = bench.a.make_qp(IBV_QPT_RC);
    Path path = path_to(IBV_QPT_RC, bench.a, bench.b, 77);
    path.rtr.ah_attr.static_rate = std::uint8_t(rate);
    ibv_modify_qp(qp, &path.init, path.init_mask);
    checks.equal("a rate", ibv_modify_qp(qp, &path.rtr, path.rtr_mask), 0);
    ibv_qp_attr is{};
    ibv_qp_init_attr made{};
    ibv_query_qp(qp, &is, IBV_QP_AV, &made);
    checks.equal("static_rate", is.ah_attr.static_rate, rate);
    ibv_destroy_qp(qp);
  }
}

// ns between the completions of two WRITEs of a queue pair whose path has this rate.
std::uint64_t time_of_write(Bench& bench, ibv_rate rate) {
  Checks& checks = *bench.checks;
  ibv_cq_init_attr_ex timed{};
  timed.cqe = kDepth, timed.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  ibv_cq_ex* const cq = ibv_create_cq_ex(bench.a.context, &timed);
  ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
  wanted.send_cq = ibv_cq_ex_to_cq(cq);
  ibv_qp* const a = ibv_create_qp(bench.a.pd, &wanted);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  ibv_qp_attr reset{};
  ibv_modify_qp(a, &reset, IBV_QP_STATE);
  Path path = path_to(IBV_QPT_RC, bench.a, bench.b, b->qp_num);
  path.rtr.ah_attr.static_rate = std::uint8_t(rate);
  ibv_modify_qp(a, &path.init, path.init_mask);
  ibv_modify_qp(a, &path.rtr, path.rtr_mask);
  checks.equal("with a rate", ibv_modify_qp(a, &path.rts, path.rts_mask), 0);
  ibv_sge data = bench.a.sge(0, kBytes);
  std::array<ibv_send_wr, 2> list{work(IBV_WR_RDMA_WRITE, &data), work(IBV_WR_RDMA_WRITE, &data)};
  for (ibv_send_wr& wr : list) set_remote(wr, bench.b);
  list[0].next = &list[1];
  ibv_send_wr* bad = nullptr;
  ibv_post_send(a, list.data(), &bad);
  std::array<std::uint64_t, 2> times{};
  for (std::uint64_t& time : times) {
    ibv_poll_cq_attr none{};
    int error;
    while ((error = ibv_start_poll(cq, &none)) == ENOENT) continue;
    checks.equal("a completion", error, 0);
    checks.equal("its status", cq->status, IBV_WC_SUCCESS);
    time = ibv_wc_read_completion_ts(cq);
    ibv_end_poll(cq);
  }
  checks.equal("destroyed",
               ibv_destroy_qp(a) | ibv_destroy_qp(b) | ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
  return times[1] - times[0];
}
// 8 KiB at 2.5 Gb/s take 26 us.
void check_slow(Bench& bench) {
  constexpr std::uint64_t kSlow = kBytes * 8 * 10 / 25;
  bench.checks->holds("a WRITE at 2.5 Gb/s", time_of_write(bench, IBV_RATE_2_5_GBPS) >= kSlow);
  bench.checks->holds("at any rate", time_of_write(bench, IBV_RATE_MAX) < kSlow / 4);
}

// A query returns what was set.
void check_query(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  const Path path = path_to(IBV_QPT_RC, bench.a, bench.b, pair.b->qp_num);
  ibv_qp_attr is{};
  ibv_qp_init_attr made{};
  Checks& checks = *bench.checks;
  checks.equal("ibv_query_qp", ibv_query_qp(pair.a, &is, (1 << 21) - 1, &made), 0);
  checks.equal("qp_state", is.qp_state, IBV_QPS_RTS);
  checks.equal("cur_qp_state", is.cur_qp_state, IBV_QPS_RTS);
  checks.equal("path_mtu", is.path_mtu, path.rtr.path_mtu);
  checks.equal("dest_qp_num", is.dest_qp_num, pair.b->qp_num);
  checks.equal("qp_access_flags", is.qp_access_flags, path.init.qp_access_flags);
  checks.equal("dlid", is.ah_attr.dlid, path.rtr.ah_attr.dlid);
  checks.equal("is_global", is.ah_attr.is_global, path.rtr.ah_attr.is_global);
  checks.equal("ah_attr.port_num", is.ah_attr.port_num, 1);
  checks.equal("port_num", is.port_num, 1);
  checks.equal("timeout", is.timeout, path.rts.timeout);
  checks.equal("retry_cnt", is.retry_cnt, path.rts.retry_cnt);
  checks.equal("rnr_retry", is.rnr_retry, path.rts.rnr_retry);
  checks.equal("min_rnr_timer", is.min_rnr_timer, path.rtr.min_rnr_timer);
  checks.equal("max_rd_atomic", is.max_rd_atomic, path.rts.max_rd_atomic);
  checks.equal("max_dest_rd_atomic", is.max_dest_rd_atomic, path.rtr.max_dest_rd_atomic);
  checks.holds("cap", is.cap.max_send_wr >= kDepth && is.cap.max_send_sge >= 2);
  checks.holds("the CQs", made.send_cq == bench.a.cq && made.recv_cq == bench.a.cq);
  checks.equal("qp_type", made.qp_type, IBV_QPT_RC);
}
}  // namespace

void check_states(Bench& bench) {
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}) check_way(bench, type);
  check_ranges(bench);
  check_masks(bench);
  check_wide_numbers(bench);
  check_rate(bench);
  check_slow(bench);
  check_query(bench);
}
}  // namespace cases
