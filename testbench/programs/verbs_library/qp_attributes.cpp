// SPDX-License-Identifier: Apache-2.0
// The attributes of queue pairs: changed and queried.
#include <bit>
#include <optional>

#include "model/proto/transport/alternate_path.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/paths.h"
#include "testbench/programs/verbs_library/tables.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

namespace {
// One attribute of ibv_qp_attr, the bit of its mask here and there, and how it goes over.
struct AttributeRow {
  int word;
  u32 mask;
  void (*to_device)(const ibv_qp_attr&, proto::QpAttributes&);
};
constexpr u32 kSmallestMtu = 128;  // shifted by IBV_MTU_256 and so on

constexpr std::array kAttributes{
    // clang-format off
    AttributeRow{IBV_QP_CUR_STATE,           proto::kQpCurState,         [](auto& a, auto& qp) { qp.cur_state = proto::QpState(a.cur_qp_state); }},
    AttributeRow{IBV_QP_EN_SQD_ASYNC_NOTIFY, proto::kQpSqdNotify,        [](auto& a, auto& qp) { qp.sqd_notify = proto::SqdNotify(a.en_sqd_async_notify != 0); }},
    AttributeRow{IBV_QP_ACCESS_FLAGS,        proto::kQpAccess,           [](auto& a, auto& qp) { qp.access = access_of(a.qp_access_flags).value_or(0); }},
    AttributeRow{IBV_QP_PKEY_INDEX,          proto::kQpPkeyIndex,        [](auto& a, auto& qp) { qp.pkey_index = a.pkey_index; }},
    AttributeRow{IBV_QP_QKEY,                proto::kQpQkey,             [](auto& a, auto& qp) { qp.qkey = a.qkey; }},
    AttributeRow{IBV_QP_AV,                  proto::kQpPath,             path_to_device},
    AttributeRow{IBV_QP_PORT,                proto::kQpPort,             [](auto& a, auto& qp) { qp.port = a.port_num; }},  // after the path
    AttributeRow{IBV_QP_PATH_MTU,            proto::kQpPathMtu,          [](auto& a, auto& qp) { qp.path_mtu = kSmallestMtu << a.path_mtu; }},
    AttributeRow{IBV_QP_TIMEOUT,             proto::kQpTimeout,          [](auto& a, auto& qp) { qp.timeout = a.timeout; }},
    AttributeRow{IBV_QP_RETRY_CNT,           proto::kQpRetryCount,       [](auto& a, auto& qp) { qp.retry_count = a.retry_cnt; }},
    AttributeRow{IBV_QP_RNR_RETRY,           proto::kQpRnrRetry,         [](auto& a, auto& qp) { qp.rnr_retry = a.rnr_retry; }},
    AttributeRow{IBV_QP_RQ_PSN,              proto::kQpRqPsn,            [](auto& a, auto& qp) { qp.rq_psn = a.rq_psn & 0xff'ffff; }},
    AttributeRow{IBV_QP_MAX_QP_RD_ATOMIC,    proto::kQpMaxRdAtomic,      [](auto& a, auto& qp) { qp.max_rd_atomic = a.max_rd_atomic; }},
    AttributeRow{IBV_QP_MIN_RNR_TIMER,       proto::kQpMinRnrTimer,      [](auto& a, auto& qp) { qp.min_rnr_timer = a.min_rnr_timer; }},
    AttributeRow{IBV_QP_SQ_PSN,              proto::kQpSqPsn,            [](auto& a, auto& qp) { qp.sq_psn = a.sq_psn & 0xff'ffff; }},
    AttributeRow{IBV_QP_MAX_DEST_RD_ATOMIC,  proto::kQpMaxDestRdAtomic,  [](auto& a, auto& qp) { qp.max_dest_rd_atomic = a.max_dest_rd_atomic; }},
    AttributeRow{IBV_QP_ALT_PATH,            proto::kQpAltPath,          alternate_to_device},
    AttributeRow{IBV_QP_PATH_MIG_STATE,      proto::kQpPathMigState,     [](auto& a, auto& qp) { qp.path_mig_state = proto::PathMigState(a.path_mig_state); }},
    AttributeRow{IBV_QP_DEST_QPN,            proto::kQpDestQpn,          [](auto& a, auto& qp) { qp.dest_qpn = a.dest_qp_num & 0xff'ffff; }},
    // clang-format on
};

// Attributes that the device does not have, or only with path migration, and whether the change to
// RTR or RTS of a connected queue pair could carry them.
struct AbsentRow {
  int word;
  bool to_rtr, to_rts;
};
constexpr std::array kAbsent{AbsentRow{IBV_QP_ALT_PATH, true, true},
                             AbsentRow{IBV_QP_PATH_MIG_STATE, false, true},
                             AbsentRow{IBV_QP_RATE_LIMIT, false, true}};
// errno's values.
int refuse_rest(const Qp& qp, const proto::QpAttributes& change, int words) {
  const bool connected = qp.service != proto::Service::Ud;
  for (const AbsentRow& row : kAbsent) {
    const bool may_be = (change.state == proto::QpState::Rtr && row.to_rtr) ||
                        (change.state == proto::QpState::Rts && row.to_rts);
    if (connected && may_be) words &= ~row.word;
  }
  return words ? EINVAL : EOPNOTSUPP;
}

// errno's values.
int to_device(const Qp& qp, const ibv_qp_attr& a, int words, proto::QpAttributes& out) {
  const bool migrates = context_of(qp.qp_base.context).info.attributes.apm;
  if ((words & IBV_QP_AV) && !path_is_good(qp.qp_base.context, a.ah_attr, a.ah_attr.port_num))
    return EINVAL;
  if (migrates && (words & IBV_QP_ALT_PATH) &&
      !path_is_good(qp.qp_base.context, a.alt_ah_attr, a.alt_port_num))
    return EINVAL;
  out.mask = proto::kQpState;
  out.state = proto::QpState(words & IBV_QP_STATE ? a.qp_state : qp.qp_base.state);
  words &= ~IBV_QP_STATE;
  for (const AttributeRow& row : kAttributes) {
    if (!(words & row.word) || (!migrates && row.mask & proto::kMigrationAttributes)) continue;
    row.to_device(a, out);
    out.mask |= row.mask, words &= ~row.word;
  }
  if ((out.mask & proto::kQpAccess) && !access_of(a.qp_access_flags)) return EINVAL;
  out.access = with_atomic_write(out.access, context_of(qp.qp_base.context).info.attributes);
  return words ? refuse_rest(qp, out, words) : 0;
}

}  // namespace
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

namespace {
// Attributes of the other side of XRC, which programs give to both.
int ignored_words(proto::QpSide side) {
  if (side == proto::QpSide::Initiator) return IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  if (side == proto::QpSide::Target)
    return IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
  return 0;
}

// Another program may have changed a shared queue pair. Returns an errno value.
int see_state(Qp& qp) {
  if (qp.side != proto::QpSide::Target) return 0;
  attach::Reply reply;
  const int error =
      command(context_of(qp.qp_base.context), CommandOpcode::QueryQp, qp.qp_base.handle, reply);
  if (!error)
    qp.qp_base.state = ibv_qp_state(proto::decode<proto::QpAttributes>(reply.body.data()).state);
  return error;
}
}  // namespace
HCA_VERB int ibv_modify_qp(ibv_qp* plain, ibv_qp_attr* attributes, int words) {
  Qp& qp = qp_of(plain);
  words &= ~ignored_words(qp.side);
  if (!(words & IBV_QP_STATE))
    if (const int error = see_state(qp)) return error;
  proto::QpAttributes change{};
  if (const int error = to_device(qp, *attributes, words, change)) return told(error);
  if (change.state == proto::QpState::Reset && qp.send.lock.is_mine()) return told(EBUSY);
  attach::Request request;
  request.object = plain->handle;
  attach::Reply reply;
  if (const int error =
          command(context_of(plain->context), CommandOpcode::ModifyQp, request, change, reply))
    return error;
  plain->state = ibv_qp_state(change.state);
  if (words & IBV_QP_MAX_QP_RD_ATOMIC) qp.max_rd_atomic = attributes->max_rd_atomic;
  if (change.state == proto::QpState::Reset) qp.max_rd_atomic = 0, forget_work(qp);
  return 0;
}

HCA_VERB int ibv_query_qp(ibv_qp* plain, ibv_qp_attr* out, int, ibv_qp_init_attr* init) {
  Qp& qp = qp_of(plain);
  attach::Reply reply;
  if (const int error =
          command(context_of(plain->context), CommandOpcode::QueryQp, plain->handle, reply))
    return error;
  const auto a = proto::decode<proto::QpAttributes>(reply.body.data());
  *out = {};
  out->qp_state = out->cur_qp_state = plain->state = ibv_qp_state(a.state);
  out->path_mtu = ibv_mtu(std::bit_width(a.path_mtu / kSmallestMtu) - (a.path_mtu ? 1 : 0));
  out->path_mig_state = ibv_mig_state(a.path_mig_state);
  out->qkey = a.qkey, out->rq_psn = a.rq_psn, out->sq_psn = a.sq_psn;
  out->dest_qp_num = a.dest_qpn, out->qp_access_flags = flags_of(a.access);
  out->cap = qp.init.cap;
  paths_from_device(a, *out);
  out->pkey_index = a.pkey_index, out->port_num = a.port;
  out->sq_draining = a.sq_draining;
  out->max_rd_atomic = a.max_rd_atomic, out->max_dest_rd_atomic = a.max_dest_rd_atomic;
  out->min_rnr_timer = a.min_rnr_timer, out->timeout = a.timeout;
  out->retry_cnt = a.retry_count, out->rnr_retry = a.rnr_retry;
  *init = qp.init;
  return 0;
}
