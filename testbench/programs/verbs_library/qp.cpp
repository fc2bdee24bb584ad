// SPDX-License-Identifier: Apache-2.0
// Queue pairs: created, destroyed.
#include <endian.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

#include "model/proto/transport/work_rules.h"
#include "testbench/programs/verbs_library/library.h"
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

// Room for the requested sizes; returns the actual sizes. Queues that it does not have, by its side
// or because of an SRQ, are as small as can be.
int make_queues(Context& context, Qp& qp, ibv_qp_cap& cap, bool shared) {
  if (qp.side == proto::QpSide::Target) cap = {};
  shared |= qp.side != proto::QpSide::Both;
  const u32 head = send_head_bytes(qp.service);
  const u32 receive_sges = shared ? 1 : cap.max_recv_sge;
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
  if (qp.side == proto::QpSide::Target) {
    cap = {};
    return 0;
  }
  cap.max_recv_wr = shared ? 0 : qp.receive.entries();
  cap.max_recv_sge = shared ? 0 : qp.receive.max_sge;
  return 0;
}

u32 created_with(const ibv_qp_init_attr_ex& a) {
  return a.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? a.create_flags : 0;
}

// Enters it in the tables of its device. A target has no completions.
void enter(Context& context, Qp& qp) {
  if (qp.side == proto::QpSide::Target) return;
  const StateGuard guard(context.mutex);
  context.qps.insert(&qp);
  const std::lock_guard numbers(context.numbers);
  context.by_number[qp.qp_base.qp_num] = &qp;
}

template <class Object>
u32 handle_of(const Object* object) {
  return object ? object->handle : 0;
}
int create_at_server(Context& context, Qp& qp, const ibv_qp_init_attr_ex& attributes) {
  attach::Request request;
  request.names = {handle_of(attributes.pd), handle_of(attributes.send_cq),
                   handle_of(attributes.recv_cq), handle_of(attributes.srq),
                   handle_of(static_cast<const Xrcd*>(attributes.xrcd))};
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
                               .blocks_self = created_with(attributes) != 0,
                               .is_target = qp.side == proto::QpSide::Target};
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::CreateQp, request, create, reply)) {
    take_cookie(context, qp.cookie);
    return error;
  }
  qp.qp_base.qp_num = reply.number, qp.qp_base.handle = reply.handle;
  enter(context, qp);
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

// Without what the attributes do not have, by their mask, and what a side of XRC ignores.
ibv_qp_init_attr_ex without_ignored(ibv_qp_init_attr_ex a, proto::QpSide side) {
  if (!(a.comp_mask & IBV_QP_INIT_ATTR_PD)) a.pd = nullptr;
  if (!(a.comp_mask & IBV_QP_INIT_ATTR_XRCD)) a.xrcd = nullptr;
  if (side != proto::QpSide::Both) a.recv_cq = nullptr, a.srq = nullptr;
  if (side == proto::QpSide::Target)
    a.pd = nullptr, a.send_cq = nullptr;
  else
    a.xrcd = nullptr;
  return a;
}

// True: it has the objects that its side must have, and all are of this device.
bool has_objects(ibv_context* context, const ibv_qp_init_attr_ex& a, proto::QpSide side) {
  const auto is_here = [&](const auto* object) { return object && object->context == context; };
  if (side == proto::QpSide::Target) return is_here(a.xrcd);
  if (!is_here(a.pd) || !is_here(a.send_cq)) return false;
  return side == proto::QpSide::Initiator ||
         (is_here(a.recv_cq) && (!a.srq || (is_here(a.srq) && !srq_of(a.srq).cq)));
}

// errno's values.
int check(ibv_context* context, const ServiceWord* word, const ibv_qp_init_attr_ex& a) {
  constexpr u32 kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
                         IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (a.comp_mask & ~kKnown) return EOPNOTSUPP;
  if (created_with(a) & ~u32{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}) return EOPNOTSUPP;
  if (created_with(a) && a.qp_type != IBV_QPT_UD) return EINVAL;
  const proto::DeviceAttributes& device = context_of(context).info.attributes;
  if (!word || !proto::has(device, proto::capability_of(word->service))) return EOPNOTSUPP;
  const u64 flags = word->side == proto::QpSide::Target ? 0 : work_flags(word->service, device);
  if (wanted_work(a) & ~flags) return EOPNOTSUPP;
  if (word->side == proto::QpSide::Both && a.srq && !word->may_have_srq) return EINVAL;
  return has_objects(context, without_ignored(a, word->side), word->side) ? 0 : EINVAL;
}
}  // namespace

void set_up(Qp& made, ibv_context* context, const ibv_qp_init_attr& init) {
  made.init = init;
  ibv_qp& qp = made.qp_base;
  qp.context = context, qp.qp_context = init.qp_context;
  qp.send_cq = init.send_cq, qp.recv_cq = init.recv_cq, qp.srq = init.srq;
  qp.qp_type = init.qp_type, qp.state = IBV_QPS_RESET;
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
}

ibv_qp* create_qp_ex(ibv_context* plain, ibv_qp_init_attr_ex* attributes) {
  const ServiceWord* word = find_row(kServices, &ServiceWord::type, attributes->qp_type);
  if (const int error = check(plain, word, *attributes)) return fail(error);
  const ibv_qp_init_attr_ex used = without_ignored(*attributes, word->side);
  Context& context = context_of(plain);
  auto made = std::make_unique<Qp>();
  made->service = word->service, made->side = word->side;
  made->signal_all = used.sq_sig_all;
  ibv_qp_cap cap = used.cap;
  int error = make_queues(context, *made, cap, used.srq != nullptr);
  if (!error) error = create_at_server(context, *made, used);
  if (error) {
    free_queue(context, made->send), free_queue(context, made->receive);
    return fail(error);
  }
  attributes->cap = cap;
  set_up(
      *made, plain,
      {used.qp_context, used.send_cq, used.recv_cq, used.srq, cap, used.qp_type, used.sq_sig_all});
  made->qp_base.pd = used.pd;
  made->extended = used.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  set_work_functions(*made, wanted_work(used));
  if (used.pd) use(used.pd);
  return &made.release()->qp_base;
}

void forget_work(Qp& qp) {
  for (Queue* queue : {&qp.send, &qp.receive}) {
    const std::lock_guard guard(queue->lock);
    queue->posted = queue->completed = 0;
  }
  for (ibv_cq* cq : {qp.qp_base.send_cq, qp.qp_base.recv_cq})
    if (cq) forget_completions(cq_of(cq), qp);
}
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
  if (plain->pd) leave(plain->pd);
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
