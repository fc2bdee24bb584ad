// SPDX-License-Identifier: Apache-2.0
// Work requests into rings: ibv_post_*.
#include <endian.h>

#include <algorithm>
#include <cstring>

#include "model/proto/transport/work_rules.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

namespace hca::verbs_library {
bool may_send(ibv_qp_state state) {
  return state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_SQE ||
         state == IBV_QPS_ERR;
}

namespace {
bool is_atomic(proto::WorkOpcode opcode) {
  return proto::work_row(opcode)->operands == proto::Operands::Atomic;
}
bool may_be_inline(proto::WorkOpcode opcode) { return proto::work_row(opcode)->may_be_inline(); }
bool is_local(proto::WorkOpcode opcode) { return proto::work_row(opcode)->is_local(); }

// The data of an inline work request; errno's values.
int gather(const ibv_send_wr& wr, u32 room, WorkRequest& work) {
  u32 bytes = 0;
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    if (sge.length > room - bytes) return EINVAL;
    std::memcpy(work.data.data() + bytes, reinterpret_cast<const void*>(sge.addr), sge.length);
    bytes += sge.length;
  }
  work.head.inline_data = true;
  work.head.inline_bytes = bytes;
  return 0;
}

void set_remote(const ibv_send_wr& wr, WorkRequest& work) {
  if (is_atomic(work.head.opcode)) {
    work.head.remote_va = wr.wr.atomic.remote_addr;
    work.head.rkey = wr.wr.atomic.rkey;
    work.atomic = proto::atomic_operands(*proto::work_row(work.head.opcode),
                                         wr.wr.atomic.compare_add, wr.wr.atomic.swap);
  } else {
    work.head.remote_va = wr.wr.rdma.remote_addr;
    work.head.rkey = wr.wr.rdma.rkey;
  }
}

int set_data(const Qp& qp, const ibv_send_wr& wr, WorkRequest& work) {
  if (wr.send_flags & IBV_SEND_INLINE) {
    if (!may_be_inline(work.head.opcode)) return EINVAL;
    return gather(wr, std::min<u32>(qp.send.max_inline, WorkRequest::kMostInline), work);
  }
  if (is_local(work.head.opcode)) return 0;
  if (wr.num_sge < 0 || u32(wr.num_sge) > qp.send.max_sge) return EINVAL;
  work.head.sge_count = u8(wr.num_sge);
  for (int i = 0; i < wr.num_sge; ++i)
    work.sges[std::size_t(i)] = {wr.sg_list[i].addr, wr.sg_list[i].lkey, wr.sg_list[i].length};
  return 0;
}

int work_of(const Qp& qp, const ibv_send_wr& wr, WorkRequest& work) {
  const WorkWord* row = find_row(kWork, &WorkWord::word, wr.opcode);
  if (!row || qp.side == proto::QpSide::Target ||
      !may_send(qp.service, context_of(qp.qp_base.context).info.attributes, row->opcode))
    return EINVAL;
  work.wr_id = wr.wr_id;
  work.binds = false;
  work.head = {};
  work.head.opcode = row->opcode;
  work.head.signaled = wr.send_flags & IBV_SEND_SIGNALED;
  work.head.solicited = wr.send_flags & IBV_SEND_SOLICITED;
  work.head.fence = wr.send_flags & IBV_SEND_FENCE;
  const bool invalidates = row->opcode == proto::WorkOpcode::SendInvalidate ||
                           row->opcode == proto::WorkOpcode::LocalInvalidate;
  work.head.immediate = invalidates ? wr.invalidate_rkey : be32toh(wr.imm_data);
  if (row->opcode == proto::WorkOpcode::BindMw) {
    const auto& bind = wr.bind_mw;
    if (const int error = set_bind_2(qp, work, bind.mw, bind.rkey, bind.bind_info)) return error;
  } else if (qp.service == proto::Service::Ud) {
    if (!wr.wr.ud.ah || wr.wr.ud.ah->context != qp.qp_base.context) return EINVAL;
    work.path = static_cast<Ah*>(wr.wr.ud.ah)->path;
    work.path.dest_qpn = wr.wr.ud.remote_qpn & 0xff'ffff;
    work.path.qkey = wr.wr.ud.remote_qkey;
  } else {
    set_remote(wr, work);
    if (qp.service == proto::Service::Xrc)
      work.head.remote_srqn = wr.qp_type.xrc.remote_srqn & 0xff'ffff;
  }
  return set_data(qp, wr, work);
}

// With a limit of 0 its turn would never come.
bool waits_for_ever(const Qp& qp, proto::WorkOpcode opcode) {
  const ibv_qp_state state = qp.qp_base.state;
  return !qp.max_rd_atomic && proto::has_response(proto::work_row(opcode)->answer) &&
         (state == IBV_QPS_RTS || state == IBV_QPS_SQD);
}
// The window has the key that its bind gives.
void note_bind(const WorkRequest& work, const ibv_send_wr& wr) {
  if (work.head.opcode == proto::WorkOpcode::BindMw && work.head.rkey)
    wr.bind_mw.mw->rkey = work.head.rkey;
}
}  // namespace

int write_work(Context& context, Qp& qp, const WorkRequest& work) {
  Queue& queue = qp.send;
  if (waits_for_ever(qp, work.head.opcode)) return EINVAL;
  if (queue.posted - queue.completed >= queue.entries()) return ENOMEM;
  const u32 slot = queue.slot(queue.posted);
  u8* at = context.shared + queue.offset + (u64{slot} << queue.log_stride);
  proto::SendWqe head = work.head;
  head.index = u16(queue.posted);
  proto::encode(head, at);
  at += proto::kSendWqeBytes;
  if (is_atomic(head.opcode)) {
    proto::encode(work.atomic, at);
    at += proto::bytes_of<proto::AtomicOperands>();
  }
  if (head.opcode == proto::WorkOpcode::BindMw) proto::encode(work.memory, at);
  if (qp.service == proto::Service::Ud) {
    proto::encode(work.path, at);
    at += proto::kAddressHandleBytes;
  }
  if (head.inline_data) std::memcpy(at, work.data.data(), head.inline_bytes);
  for (u32 i = 0; i < head.sge_count; ++i) proto::encode(work.sges[i], at + i * proto::kSgeBytes);
  queue.wr_ids[slot] = work.wr_id;
  queue.binds[slot] = work.binds;
  ++queue.posted;
  return 0;
}

void spend_on_sends(u32 count) {
  clock::spend(&attach::HostCosts::post_send, count);
  if (count) clock::spend(&attach::HostCosts::doorbell);
}

void ring_send(Context& context, Qp& qp) {
  ring(context, proto::BarOffset::SendDoorbell,
       proto::QueueDoorbell{qp.qp_base.qp_num, u16(qp.send.posted)}, qp.send.rings_at());
}

int post_send(ibv_qp* plain, ibv_send_wr* wr, ibv_send_wr** bad) {
  Qp& qp = qp_of(plain);
  Context& context = context_of(plain->context);
  if (is_inherited(plain->context)) {
    *bad = wr;
    return told(EPERM);
  }
  if (qp.send.lock.is_mine()) {
    *bad = wr;
    return told(EBUSY);
  }
  if (const int error = failure_of(context, attach::FailVerb::PostSend)) {
    *bad = wr;
    return told(error);
  }
  clock::catch_up();
  const std::lock_guard guard(qp.send.lock);
  int error = 0;
  const u32 before = qp.send.posted;
  WorkRequest work;
  for (; wr; wr = wr->next) {
    error = may_send(plain->state) ? work_of(qp, *wr, work) : EINVAL;
    if (!error) error = write_work(context, qp, work);
    if (error) break;
    note_bind(work, *wr);
  }
  if (error) *bad = wr;
  if (qp.send.posted != before) ring_send(context, qp);
  spend_on_sends(qp.send.posted - before);
  return told(error);
}

int post_receives(Context& context, Queue& queue, ibv_recv_wr* wr, ibv_recv_wr** bad, Srq* srq) {
  for (; wr; wr = wr->next) {
    const u32 slot = queue.slot(queue.posted);
    const bool full =
        srq ? srq->outstanding >= srq->max_wr || srq->unpolled.contains(u16(queue.posted))
            : queue.posted - queue.completed >= queue.entries();
    const bool too_long = wr->num_sge < 0 || u32(wr->num_sge) > queue.max_sge;
    const bool taken = srq && !full && queue.in_use[slot];
    if (full || too_long || taken) {
      *bad = wr;
      return too_long ? EINVAL : taken ? EAGAIN : ENOMEM;
    }
    u8* const at = context.shared + queue.offset + (u64{slot} << queue.log_stride);
    proto::encode(proto::ReceiveWqe{u8(wr->num_sge), u16(queue.posted)}, at);
    for (int i = 0; i < wr->num_sge; ++i)
      proto::encode(proto::Sge{wr->sg_list[i].addr, wr->sg_list[i].lkey, wr->sg_list[i].length},
                    at + proto::kReceiveWqeBytes + std::size_t(i) * proto::kSgeBytes);
    queue.wr_ids[slot] = wr->wr_id;
    ++queue.posted;
    if (srq) ++srq->outstanding, queue.in_use[slot] = true;
  }
  return 0;
}

int post_recv(ibv_qp* plain, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  Qp& qp = qp_of(plain);
  Context& context = context_of(plain->context);
  if (is_inherited(plain->context)) {
    *bad = wr;
    return told(EPERM);
  }
  if (plain->state == IBV_QPS_RESET || plain->srq || qp.side != proto::QpSide::Both) {
    *bad = wr;
    return told(EINVAL);
  }
  if (qp.receive.lock.is_mine()) {
    *bad = wr;
    return told(EBUSY);
  }
  if (const int error = failure_of(context, attach::FailVerb::PostRecv)) {
    *bad = wr;
    return told(error);
  }
  clock::catch_up();
  const std::lock_guard guard(qp.receive.lock);
  const u32 before = qp.receive.posted;
  const int error = post_receives(context, qp.receive, wr, bad, nullptr);
  if (qp.receive.posted != before)
    ring(context, proto::BarOffset::ReceiveDoorbell,
         proto::QueueDoorbell{plain->qp_num, u16(qp.receive.posted)}, qp.receive.rings_at());
  clock::spend(&attach::HostCosts::post_recv, qp.receive.posted - before);
  return told(error);
}

int post_srq_recv(ibv_srq* plain, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  Srq& srq = srq_of(plain);
  Context& context = context_of(plain->context);
  if (is_inherited(plain->context)) {
    *bad = wr;
    return told(EPERM);
  }
  if (srq.queue.lock.is_mine()) {
    *bad = wr;
    return told(EBUSY);
  }
  if (const int error = failure_of(context, attach::FailVerb::PostSrqRecv)) {
    *bad = wr;
    return told(error);
  }
  clock::catch_up();
  std::unique_lock guard(srq.queue.lock);
  int error = 0;
  do {
    const u32 before = srq.queue.posted;
    error = post_receives(context, srq.queue, wr, &wr, &srq);
    if (srq.queue.posted != before)
      ring(context, proto::BarOffset::SharedDoorbell,
           proto::QueueDoorbell{srq.number, u16(srq.queue.posted)}, srq.queue.rings_at());
    clock::spend(&attach::HostCosts::post_recv, srq.queue.posted - before);
  } while (error == EAGAIN && !(error = free_slot(srq, guard)));
  if (error) *bad = wr;
  return told(error);
}
}  // namespace hca::verbs_library
