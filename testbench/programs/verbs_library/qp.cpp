// SPDX-License-Identifier: Apache-2.0
// Queue pairs: created, changed, queried, destroyed.
#include <endian.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

#include "model/proto/transport/alternate_path.h"
#include "model/proto/transport/work_rules.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/paths.h"
#include "testbench/programs/verbs_library/tables.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

int make_queue(Context& context, Queue& queue, u32 wrs, u32 bytes, proto::Strides strides) {
  queue.log_entries = u8(std::bit_width(std::max(wrs, 1u) - 1));
  queue.log_stride = std::max(strides.least, u8(std::bit_width(bytes - 1)));
  if (queue.log_entries > context.info.attributes.max_log_work_entries ||
      queue.log_stride > strides.most)
    return EINVAL;
  const StateGuard guard(context.mutex);
  queue.offset = context.rings.take(queue.bytes());
  if (!queue.offset) return ENOMEM;
  queue.wr_ids.resize(queue.entries());
  queue.in_use.resize(queue.entries()), queue.binds.resize(queue.entries());
  return 0;
}

void free_queue(Context& context, Queue& queue) {
  const StateGuard guard(context.mutex);
  if (queue.offset) context.rings.give_back(queue.offset, queue.bytes());
  queue.offset = 0;
}

namespace {
u32 send_head_bytes(proto::Service service) {
  const bool datagram = service == proto::Service::Ud;
  return proto::kSendWqeBytes + (datagram ? proto::kAddressHandleBytes : 0);
}

// Room for the requested sizes; returns the actual sizes.
int make_queues(Context& context, Qp& qp, ibv_qp_cap& cap, bool shared) {
  const u32 head = send_head_bytes(qp.service);
  const u32 receive_sges = shared ? 1 : cap.max_recv_sge;  // of an SRQ: ignored
  if (cap.max_send_sge > WorkRequest::kMostSges || receive_sges > WorkRequest::kMostSges ||
      cap.max_inline_data > WorkRequest::kMostInline)
    return EINVAL;
  const u32 parts = std::max(cap.max_send_sge * proto::kSgeBytes, cap.max_inline_data);
  if (const int error =
          make_queue(context, qp.send, cap.max_send_wr, head + parts, proto::kSendStrides))
    return error;
  const u32 receive_bytes = proto::kReceiveWqeBytes + receive_sges * proto::kSgeBytes;
  if (const int error = make_queue(context, qp.receive, shared ? 1 : cap.max_recv_wr, receive_bytes,
                                   proto::kReceiveStrides))
    return error;
  const u32 room = (1u << qp.send.log_stride) - head;
  qp.send.max_sge = std::max(cap.max_send_sge, 1u), qp.send.max_inline = room;
  qp.receive.max_sge = std::max(receive_sges, 1u);
  cap.max_send_wr = qp.send.entries(), cap.max_inline_data = room;
  cap.max_send_sge = qp.send.max_sge;
  cap.max_recv_wr = shared ? 0 : qp.receive.entries();
  cap.max_recv_sge = shared ? 0 : qp.receive.max_sge;
  return 0;
}

u32 created_with(const ibv_qp_init_attr_ex& a) {
  return a.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? a.create_flags : 0;
}

int create_at_server(Context& context, Qp& qp, const ibv_qp_init_attr_ex& attributes) {
  attach::Request request;
  request.names = {attributes.pd->handle, attributes.send_cq->handle, attributes.recv_cq->handle,
                   attributes.srq ? attributes.srq->handle : 0};
  request.cookie = qp.cookie = give_cookie(context, &qp);
  const proto::QpCreate create{.service = u8(qp.service),
                               .signal_all = qp.signal_all,
                               .pd = 0,
                               .send_cq = 0,
                               .receive_cq = 0,
                               .sq_address = qp.send.offset,
                               .rq_address = qp.receive.offset,
                               .sq_log_entries = qp.send.log_entries,
                               .rq_log_entries = qp.receive.log_entries,
                               .sq_log_stride = qp.send.log_stride,
                               .rq_log_stride = qp.receive.log_stride,
                               .blocks_self = created_with(attributes) != 0};
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::CreateQp, request, create, reply)) {
    take_cookie(context, qp.cookie);
    return error;
  }
  qp.qp_base.qp_num = reply.number, qp.qp_base.handle = reply.handle;
  const StateGuard guard(context.mutex);
  context.qps.insert(&qp);
  const std::lock_guard numbers(context.numbers);
  context.by_number[reply.number] = &qp;
  return 0;
}

// The work requests of a service, as flags of the extended API.
u64 work_flags(proto::Service service, const proto::DeviceAttributes& device) {
  u64 flags = 0;
  for (const WorkWord& row : kWork)
    if (may_send(service, device, row.opcode)) flags |= row.flag;
  return flags;
}
u64 wanted_work(const ibv_qp_init_attr_ex& a) {
  return a.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? a.send_ops_flags : 0;
}

// errno's values.
int check(ibv_context* context, const ibv_qp_init_attr_ex& a) {
  constexpr u32 kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (a.comp_mask & ~kKnown) return EOPNOTSUPP;
  if (created_with(a) & ~u32{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}) return EOPNOTSUPP;
  if (created_with(a) && a.qp_type != IBV_QPT_UD) return EINVAL;
  const ServiceWord* word = find_row(kServices, &ServiceWord::type, a.qp_type);
  if (!word || (wanted_work(a) & ~work_flags(word->service, context_of(context).info.attributes)))
    return EOPNOTSUPP;
  const auto is_here = [&](const auto* object) { return object && object->context == context; };
  const bool may_share = a.qp_type == IBV_QPT_RC || a.qp_type == IBV_QPT_UD;
  if (a.srq && (!may_share || !is_here(a.srq))) return EINVAL;
  const bool has_all = (a.comp_mask & IBV_QP_INIT_ATTR_PD) && is_here(a.pd) && is_here(a.send_cq) &&
                       is_here(a.recv_cq);
  return has_all ? 0 : EINVAL;
}
}  // namespace

ibv_qp* create_qp_ex(ibv_context* plain, ibv_qp_init_attr_ex* attributes) {
  if (const int error = check(plain, *attributes)) return fail(error);
  Context& context = context_of(plain);
  auto made = std::make_unique<Qp>();
  made->service = find_row(kServices, &ServiceWord::type, attributes->qp_type)->service;
  made->signal_all = attributes->sq_sig_all;
  ibv_qp_cap cap = attributes->cap;
  int error = make_queues(context, *made, cap, attributes->srq != nullptr);
  if (!error) error = create_at_server(context, *made, *attributes);
  if (error) {
    free_queue(context, made->send), free_queue(context, made->receive);
    return fail(error);
  }
  attributes->cap = cap;
  made->init = {
      attributes->qp_context, attributes->send_cq,   attributes->recv_cq, attributes->srq, cap,
      attributes->qp_type,    attributes->sq_sig_all};
  ibv_qp& qp = made->qp_base;
  qp.context = plain, qp.qp_context = attributes->qp_context, qp.pd = attributes->pd;
  qp.send_cq = attributes->send_cq, qp.recv_cq = attributes->recv_cq, qp.srq = attributes->srq;
  qp.qp_type = attributes->qp_type, qp.state = IBV_QPS_RESET;
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
  made->extended = attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  set_work_functions(*made, wanted_work(*attributes));
  use(qp.pd);
  return &made.release()->qp_base;
}

// ---- Attributes
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

// Attributes that the device does not have, or only with path migration, and whether the change to RTR or RTS of a connected
// queue pair could carry them.
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

// Resets the rings of the queue pair.
void forget_work(Qp& qp) {
  for (Queue* queue : {&qp.send, &qp.receive}) {
    const std::lock_guard guard(queue->lock);
    queue->posted = queue->completed = 0;
  }
  for (ibv_cq* cq : {qp.qp_base.send_cq, qp.qp_base.recv_cq}) forget_completions(cq_of(cq), qp);
}
}  // namespace
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  if (!pd) return fail(EINVAL);
  ibv_qp_init_attr_ex all{};
  all.qp_context = attributes->qp_context;
  all.send_cq = attributes->send_cq, all.recv_cq = attributes->recv_cq, all.srq = attributes->srq;
  all.cap = attributes->cap, all.qp_type = attributes->qp_type;
  all.sq_sig_all = attributes->sq_sig_all;
  all.comp_mask = IBV_QP_INIT_ATTR_PD, all.pd = pd;
  ibv_qp* const made = create_qp_ex(pd->context, &all);
  if (made) attributes->cap = all.cap;
  return made;
}
// nullptr: it was not made for that.
HCA_VERB ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return qp_of(qp).extended ? &qp_of(qp) : nullptr;
}

HCA_VERB int ibv_modify_qp(ibv_qp* plain, ibv_qp_attr* attributes, int words) {
  Qp& qp = qp_of(plain);
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

namespace {
// errno's values.
int destroy_at_server(Context& context, Qp& qp) {
  ibv_qp* const plain = &qp.qp_base;
  if (qp.send.lock.is_mine()) return told(EBUSY);
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::DestroyQp, plain->handle, reply))
    return error;
  take_cookie(context, qp.cookie);
  await_acknowledged(*plain, plain->events_completed, qp.async_events);
  {
    const StateGuard guard(context.mutex);
    context.qps.erase(&qp);
    const std::lock_guard numbers(context.numbers);
    context.by_number.erase(plain->qp_num);
  }
  forget_work(qp);
  free_queue(context, qp.send), free_queue(context, qp.receive);
  leave(plain->pd);
  return 0;
}
}  // namespace
HCA_VERB int ibv_destroy_qp(ibv_qp* plain) {
  Qp& qp = qp_of(plain);
  const int error =
      is_inherited(plain->context) ? 0 : destroy_at_server(context_of(plain->context), qp);
  if (!error) delete &qp;
  return error;
}
HCA_VERB int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, u32) { return 0; }
HCA_VERB int ibv_set_ece(ibv_qp*, ibv_ece* ece) { return ece->vendor_id ? told(EOPNOTSUPP) : 0; }
HCA_VERB int ibv_query_ece(ibv_qp*, ibv_ece* ece) {
  *ece = {};
  return 0;
}
