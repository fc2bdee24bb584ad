// SPDX-License-Identifier: Apache-2.0
// CQs, SRQs, queue pairs.
#include "testbench/tests/programs/verbs_library/cases/table.h"

namespace cases {
namespace {
// ---- CQs
long cq_of(Things& t, int entries, int vector, ibv_comp_channel* channel = nullptr) {
  return made(ibv_create_cq(t.a.context, entries, nullptr, channel, vector), ibv_destroy_cq);
}
long cq_ex_of(Things& t, void (*change)(ibv_cq_init_attr_ex&)) {
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = kDepth;
  change(wanted);
  ibv_cq_ex* const cq = ibv_create_cq_ex(t.a.context, &wanted);
  return made(cq ? ibv_cq_ex_to_cq(cq) : nullptr, ibv_destroy_cq);
}
long modify_cq(Things& t, std::uint32_t mask, std::uint16_t count) {
  ibv_modify_cq_attr change{mask, {count, 0}};
  return ibv_modify_cq(t.cq, &change);
}
constexpr std::array kCqs{
    // clang-format off
    VerbRow{"ibv_create_cq",    "-1 entries",               kNothing, EINVAL, [](Things& t) { return cq_of(t, -1, 0); }},
    VerbRow{"ibv_create_cq",    "0 entries",                kNothing, EINVAL, [](Things& t) { return cq_of(t, 0, 0); }},
    VerbRow{"ibv_create_cq",    "1 entry",                  kMade, 0,         [](Things& t) { return cq_of(t, 1, 0); }},
    VerbRow{"ibv_create_cq",    "max_cqe entries",          kMade, 0,         [](Things& t) { return cq_of(t, t.a.device.max_cqe, 0); }},
    VerbRow{"ibv_create_cq",    "one more",                 kNothing, EINVAL, [](Things& t) { return cq_of(t, t.a.device.max_cqe + 1, 0); }},
    VerbRow{"ibv_create_cq",    "vector -1",                kNothing, EINVAL, [](Things& t) { return cq_of(t, 1, -1); }},
    VerbRow{"ibv_create_cq",    "the last vector",          kMade, 0,         [](Things& t) { return cq_of(t, 1, t.a.context->num_comp_vectors - 1); }},
    VerbRow{"ibv_create_cq",    "a vector beyond the last", kNothing, EINVAL, [](Things& t) { return cq_of(t, 1, t.a.context->num_comp_vectors); }},
    VerbRow{"ibv_create_cq",    "another device's channel", kNothing, EINVAL, [](Things& t) { return cq_of(t, 1, 0, t.foreign_channel); }},
    VerbRow{"ibv_create_cq_ex", "0 entries",                kNothing, EINVAL, [](Things& t) { return cq_ex_of(t, [](auto& w) { w.cqe = 0; }); }},
    VerbRow{"ibv_create_cq_ex", "2^32 - 1 entries",         kNothing, EINVAL, [](Things& t) { return cq_ex_of(t, [](auto& w) { w.cqe = ~0u; }); }},
    VerbRow{"ibv_create_cq_ex", "what is not known",        kNothing, EOPNOTSUPP, [](Things& t) { return cq_ex_of(t, [](auto& w) { w.comp_mask = 1 << 5; }); }},
    VerbRow{"ibv_create_cq_ex", "fields that are not",      kNothing, EOPNOTSUPP, [](Things& t) { return cq_ex_of(t, [](auto& w) { w.wc_flags = std::uint64_t{1} << 40; }); }},
    VerbRow{"ibv_create_cq_ex", "flags that are not",       kNothing, EOPNOTSUPP, [](Things& t) { return cq_ex_of(t, [](auto& w) { w.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, w.flags = 1 << 9; }); }},
    VerbRow{"ibv_resize_cq",    "-1 entries",               EINVAL, EINVAL,   [](Things& t) { return long(ibv_resize_cq(t.cq, -1)); }},
    VerbRow{"ibv_resize_cq",    "0 entries",                EINVAL, EINVAL,   [](Things& t) { return long(ibv_resize_cq(t.cq, 0)); }},
    VerbRow{"ibv_resize_cq",    "1 entry",                  0, 0,             [](Things& t) { return long(ibv_resize_cq(t.cq, 1)); }},
    VerbRow{"ibv_resize_cq",    "max_cqe entries",          0, 0,             [](Things& t) { return long(ibv_resize_cq(t.cq, t.a.device.max_cqe)); }},
    VerbRow{"ibv_resize_cq",    "one more",                 EINVAL, EINVAL,   [](Things& t) { return long(ibv_resize_cq(t.cq, t.a.device.max_cqe + 1)); }},
    VerbRow{"ibv_modify_cq",    "nothing",                  EINVAL, EINVAL,   [](Things& t) { return modify_cq(t, 0, 0); }},
    VerbRow{"ibv_modify_cq",    "what is not known",        EINVAL, EINVAL,   [](Things& t) { return modify_cq(t, 2, 0); }},
    VerbRow{"ibv_modify_cq",    "moderation",               0, 0,             [](Things& t) { return modify_cq(t, IBV_CQ_ATTR_MODERATE, 2); }},
    VerbRow{"ibv_req_notify_cq", "a CQ without a channel",  0, 0,             [](Things& t) { return long(ibv_req_notify_cq(t.a.cq, 0)); }},
    VerbRow{"ibv_poll_cq",      "0 entries",                0, 0,             [](Things& t) { ibv_wc wc; return long(ibv_poll_cq(t.cq, 0, &wc)); }},
    // clang-format on
};

// ---- SRQs
long srq_of(Things& t, std::uint32_t wrs, std::uint32_t sges) {
  ibv_srq_init_attr wanted{};
  wanted.attr = {wrs, sges, 0};
  return made(ibv_create_srq(t.a.pd, &wanted), ibv_destroy_srq);
}
long srq_ex_of(Things& t, void (*change)(Things&, ibv_srq_init_attr_ex&)) {
  ibv_srq_init_attr_ex wanted{};
  wanted.attr = {kDepth, 1, 0}, wanted.pd = t.a.pd;
  wanted.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  wanted.srq_type = IBV_SRQT_BASIC;
  change(t, wanted);
  return made(ibv_create_srq_ex(t.a.context, &wanted), ibv_destroy_srq);
}
long modify_srq(Things& t, std::uint32_t wrs, std::uint32_t limit, int mask) {
  ibv_srq_attr change{wrs, 0, limit};
  return ibv_modify_srq(t.srq, &change, mask);
}
std::uint32_t most_wrs(Things& t) { return std::uint32_t(t.a.device.max_srq_wr); }
std::uint32_t most_sges(Things& t) { return std::uint32_t(t.a.device.max_srq_sge); }
constexpr std::array kSrqs{
    // clang-format off
    VerbRow{"ibv_create_srq",    "0 receives",              kNothing, EINVAL, [](Things& t) { return srq_of(t, 0, 1); }},
    VerbRow{"ibv_create_srq",    "1 receive",               kMade, 0,         [](Things& t) { return srq_of(t, 1, 1); }},
    VerbRow{"ibv_create_srq",    "max_srq_wr",              kMade, 0,         [](Things& t) { return srq_of(t, most_wrs(t), 1); }},
    VerbRow{"ibv_create_srq",    "one more",                kNothing, EINVAL, [](Things& t) { return srq_of(t, most_wrs(t) + 1, 1); }},
    VerbRow{"ibv_create_srq",    "2^32 - 1",                kNothing, EINVAL, [](Things& t) { return srq_of(t, ~0u, 1); }},
    VerbRow{"ibv_create_srq",    "max_srq_sge",             kMade, 0,         [](Things& t) { return srq_of(t, 1, most_sges(t)); }},
    VerbRow{"ibv_create_srq",    "one more",                kNothing, EINVAL, [](Things& t) { return srq_of(t, 1, most_sges(t) + 1); }},
    VerbRow{"ibv_create_srq_ex", "a plain one",             kMade, 0,         [](Things& t) { return srq_ex_of(t, [](Things&, auto&) {}); }},
    VerbRow{"ibv_create_srq_ex", "no domain",               kNothing, EINVAL, [](Things& t) { return srq_ex_of(t, [](Things&, auto& w) { w.pd = nullptr; }); }},
    VerbRow{"ibv_create_srq_ex", "of XRC",                  kNothing, EOPNOTSUPP, [](Things& t) { return srq_ex_of(t, [](Things&, auto& w) { w.srq_type = IBV_SRQT_XRC; }); }},
    VerbRow{"ibv_create_srq_ex", "what is not known",       kNothing, EOPNOTSUPP, [](Things& t) { return srq_ex_of(t, [](Things&, auto& w) { w.comp_mask |= 1 << 20; }); }},
    VerbRow{"ibv_modify_srq",    "0 receives",              EINVAL, EINVAL,   [](Things& t) { return modify_srq(t, 0, 0, IBV_SRQ_MAX_WR); }},
    VerbRow{"ibv_modify_srq",    "one beyond max_srq_wr",   EINVAL, EINVAL,   [](Things& t) { return modify_srq(t, most_wrs(t) + 1, 0, IBV_SRQ_MAX_WR); }},
    VerbRow{"ibv_modify_srq",    "2^32 - 1",                EINVAL, EINVAL,   [](Things& t) { return modify_srq(t, ~0u, 0, IBV_SRQ_MAX_WR); }},
    VerbRow{"ibv_modify_srq",    "the limit of max_wr",     0, 0,             [](Things& t) { return modify_srq(t, 0, kDepth, IBV_SRQ_LIMIT); }},
    VerbRow{"ibv_modify_srq",    "a limit above it",        EINVAL, EINVAL,   [](Things& t) { return modify_srq(t, 0, kDepth + 1, IBV_SRQ_LIMIT); }},
    VerbRow{"ibv_modify_srq",    "nothing",                 0, 0,             [](Things& t) { return modify_srq(t, 0, 0, 0); }},
    VerbRow{"ibv_modify_srq",    "what is not known",       EINVAL, EINVAL,   [](Things& t) { return modify_srq(t, 1, 0, 4); }},
    VerbRow{"ibv_get_srq_num",   "its number",              0, 0,             [](Things& t) { std::uint32_t n; return long(ibv_get_srq_num(t.srq, &n)); }},
    // clang-format on
};

// ---- Queue pairs
long qp_of(Things& t, void (*change)(Things&, ibv_qp_init_attr&)) {
  ibv_qp_init_attr wanted = t.a.wanted_qp(IBV_QPT_RC);
  change(t, wanted);
  return made(ibv_create_qp(t.a.pd, &wanted), ibv_destroy_qp);
}
long qp_ex_of(Things& t, void (*change)(Things&, ibv_qp_init_attr_ex&)) {
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = t.a.cq, wanted.qp_type = IBV_QPT_RC, wanted.pd = t.a.pd;
  wanted.cap = {1, 1, 1, 1, 0}, wanted.comp_mask = IBV_QP_INIT_ATTR_PD;
  change(t, wanted);
  return made(ibv_create_qp_ex(t.a.context, &wanted), ibv_destroy_qp);
}
std::uint32_t most(int of_device) { return std::uint32_t(of_device); }
constexpr std::array kQps{
    // clang-format off
    VerbRow{"ibv_create_qp",    "max_qp_wr",                kMade, 0,         [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.cap.max_send_wr = w.cap.max_recv_wr = most(u.a.device.max_qp_wr); }); }},
    VerbRow{"ibv_create_qp",    "one more to send",         kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.cap.max_send_wr = most(u.a.device.max_qp_wr) + 1; }); }},
    VerbRow{"ibv_create_qp",    "one more to receive",      kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.cap.max_recv_wr = most(u.a.device.max_qp_wr) + 1; }); }},
    VerbRow{"ibv_create_qp",    "2^32 - 1",                 kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things&, auto& w) { w.cap.max_send_wr = ~0u; }); }},
    VerbRow{"ibv_create_qp",    "none to send or receive",  kMade, 0,         [](Things& t) { return qp_of(t, [](Things&, auto& w) { w.cap = {}; }); }},
    VerbRow{"ibv_create_qp",    "one SGE too many to send", kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.cap.max_send_sge = most(u.a.device.max_sge) + 1; }); }},
    VerbRow{"ibv_create_qp",    "one too many to receive",  kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.cap.max_recv_sge = most(u.a.device.max_sge) + 1; }); }},
    VerbRow{"ibv_create_qp",    "no send CQ",               kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things&, auto& w) { w.send_cq = nullptr; }); }},
    VerbRow{"ibv_create_qp",    "no receive CQ",            kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things&, auto& w) { w.recv_cq = nullptr; }); }},
    VerbRow{"ibv_create_qp",    "another device's send CQ", kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.send_cq = u.b.cq; }); }},
    VerbRow{"ibv_create_qp",    "its receive CQ",           kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.recv_cq = u.b.cq; }); }},
    VerbRow{"ibv_create_qp",    "its SRQ",                  kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.srq = u.foreign_srq; }); }},
    VerbRow{"ibv_create_qp",    "UC on an SRQ",             kNothing, EINVAL, [](Things& t) { return qp_of(t, [](Things& u, auto& w) { w.qp_type = IBV_QPT_UC, w.srq = u.srq; }); }},
    VerbRow{"ibv_create_qp",    "a type that is none",      kNothing, EOPNOTSUPP, [](Things& t) { return qp_of(t, [](Things&, auto& w) { w.qp_type = ibv_qp_type(77); }); }},
    VerbRow{"ibv_create_qp_ex", "another device's domain",  kNothing, EINVAL, [](Things& t) { return qp_ex_of(t, [](Things& u, auto& w) { w.pd = u.b.pd; }); }},
    VerbRow{"ibv_create_qp_ex", "no domain",                kNothing, EINVAL, [](Things& t) { return qp_ex_of(t, [](Things&, auto& w) { w.comp_mask = 0; }); }},
    VerbRow{"ibv_create_qp_ex", "creation flags",           kNothing, EOPNOTSUPP, [](Things& t) { return qp_ex_of(t, [](Things&, auto& w) { w.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS, w.create_flags = 1 << 31; }); }},
    VerbRow{"ibv_create_qp_ex", "what is not known",        kNothing, EOPNOTSUPP, [](Things& t) { return qp_ex_of(t, [](Things&, auto& w) { w.comp_mask |= 1 << 25; }); }},
    // clang-format on
};

// ---- ibv_modify_qp() of one that is in RTS
long modify(ibv_qp* qp, int mask, void (*change)(ibv_qp_attr&)) {
  ibv_qp_attr to{};
  change(to);
  return ibv_modify_qp(qp, &to, mask);
}
constexpr std::array kChanges{
    // clang-format off
    VerbRow{"ibv_modify_qp", "nothing",                    0, 0,           [](Things& t) { return modify(t.rts, 0, [](auto&) {}); }},
    VerbRow{"ibv_modify_qp", "a state that is none",       EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE, [](auto& to) { to.qp_state = ibv_qp_state(9); }); }},
    VerbRow{"ibv_modify_qp", "state -1",                   EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE, [](auto& to) { to.qp_state = ibv_qp_state(-1); }); }},
    VerbRow{"ibv_modify_qp", "RTS to Init",                EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE, [](auto& to) { to.qp_state = IBV_QPS_INIT; }); }},
    VerbRow{"ibv_modify_qp", "Reset to RTS",               EINVAL, EINVAL, [](Things& t) { return modify(t.reset, IBV_QP_STATE, [](auto& to) { to.qp_state = IBV_QPS_RTS; }); }},
    VerbRow{"ibv_modify_qp", "from where it is not",       EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE | IBV_QP_CUR_STATE, [](auto& to) { to.qp_state = IBV_QPS_RTS, to.cur_qp_state = IBV_QPS_SQD; }); }},
    VerbRow{"ibv_modify_qp", "the last RNR timer code",    0, 0,           [](Things& t) { return modify(t.rts, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER, [](auto& to) { to.qp_state = IBV_QPS_RTS, to.min_rnr_timer = 31; }); }},
    VerbRow{"ibv_modify_qp", "one beyond",                 EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER, [](auto& to) { to.qp_state = IBV_QPS_RTS, to.min_rnr_timer = 32; }); }},
    VerbRow{"ibv_modify_qp", "rights that there are not",  EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, [](auto& to) { to.qp_state = IBV_QPS_RTS, to.qp_access_flags = 1 << 19; }); }},
    VerbRow{"ibv_modify_qp", "an attribute that is none",  EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE | 1 << 30, [](auto& to) { to.qp_state = IBV_QPS_RTS; }); }},
    VerbRow{"ibv_modify_qp", "a Q_Key of RC",              EINVAL, EINVAL, [](Things& t) { return modify(t.rts, IBV_QP_STATE | IBV_QP_QKEY, [](auto& to) { to.qp_state = IBV_QPS_RTS; }); }},
    VerbRow{"ibv_modify_qp", "a Q_Key of UD",              0, 0,           [](Things& t) { return modify(t.ud, IBV_QP_STATE | IBV_QP_QKEY, [](auto& to) { to.qp_state = IBV_QPS_RTS, to.qkey = 0x1234; }); }},
    VerbRow{"ibv_modify_qp", "a P_Key beyond the table",   EINVAL, EINVAL, [](Things& t) { return modify(t.init, IBV_QP_STATE | IBV_QP_PKEY_INDEX, [](auto& to) { to.qp_state = IBV_QPS_INIT, to.pkey_index = 0xffff; }); }},
    VerbRow{"ibv_modify_qp", "port 0",                     EINVAL, EINVAL, [](Things& t) { return modify(t.init, IBV_QP_STATE | IBV_QP_PORT, [](auto& to) { to.qp_state = IBV_QPS_INIT; }); }},
    // clang-format on
};
}  // namespace

void check_queue_verbs(Things& things) {
  walk(things, kCqs);
  walk(things, kSrqs);
  walk(things, kQps);
  walk(things, kChanges);
}
}  // namespace cases
