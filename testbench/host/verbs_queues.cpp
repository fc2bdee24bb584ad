// SPDX-License-Identifier: Apache-2.0
// The data path of the verbs: WQEs into rings, CQEs out of them.
#include <algorithm>
#include <bit>
#include <cstring>

#include "model/proto/transport/requester_rules.h"
#include "testbench/host/verbs.h"

namespace hca::testbench {
using proto::QpState;

namespace {
std::span<const u8> encoded(const auto& value, std::array<u8, 8>& buffer) {
  proto::encode(value, buffer.data());
  return buffer;
}

u8* append_sges(std::span<const SgeList> list, u8* at) {
  for (const SgeList& sge : list) {
    proto::encode(proto::Sge{sge.addr, sge.lkey, sge.length}, at);
    at += proto::kSgeBytes;
  }
  return at;
}

// The operands between the WQE and its SGEs.
proto::WorkOperands operands_of(const SendWr& wr, const proto::WorkRow& row) {
  proto::WorkOperands operands = wr.operands;
  if (row.operands == proto::Operands::Atomic)
    operands.set(proto::atomic_operands(row, wr.compare_add, wr.swap));
  if (row.operands == proto::Operands::Memory) {
    const MemoryInfo& m = wr.memory;
    operands.set(proto::MemorySegment{m.addr, m.length, m.physical, m.lkey, m.access, m.log_page});
  }
  return operands;
}

u64 total(std::span<const SgeList> list) {
  u64 bytes = 0;
  for (const SgeList& sge : list) bytes += sge.length;
  return bytes;
}
}  // namespace

u32 VerbsContext::free_send_slots(const Qp& qp) {
  return qp.cap.max_send_wr - (qp.sq_posted - qp.sq_completed);
}

Error VerbsContext::check_send(const Qp& qp, const SendWr& wr) const {
  const bool may_post = qp.state == QpState::Rts || qp.state == QpState::Sqd ||
                        qp.state == QpState::Sqe || qp.state == QpState::Error;
  if (!may_post || qp.cap.side == proto::QpSide::Target) return Error::Invalid;
  if (!free_send_slots(qp)) return Error::NoMemory;
  const proto::WorkRow* row = proto::work_row(wr.opcode);
  if (!row || ((wr.send_flags & kInline) && !row->may_be_inline())) return Error::Invalid;
  if (!proto::includes(row->services, qp.cap.service)) return Error::Invalid;  // T4
  if (wr.send_flags & kInline)
    return total(wr.sg_list) > qp.cap.max_inline_data ? Error::NoMemory : Error::None;
  return wr.sg_list.size() > qp.cap.max_send_sge ? Error::Invalid : Error::None;
}

u32 VerbsContext::write_send_wqe(Qp& qp, const SendWr& wr, u8* wqe) const {
  const bool is_inline = wr.send_flags & kInline;
  proto::SendWqe head{};
  head.opcode = wr.opcode;
  head.signaled = wr.send_flags & kSignaled;
  head.solicited = wr.send_flags & kSolicited;
  head.fence = wr.send_flags & kFence;
  head.inline_data = is_inline;
  head.sge_count = is_inline ? u8(0) : u8(wr.sg_list.size());
  head.index = u16(qp.sq_posted);
  head.remote_srqn = wr.remote_srqn;
  head.immediate = wr.imm_data;
  head.remote_va = wr.remote_addr;
  head.rkey = wr.rkey;
  head.inline_bytes = is_inline ? u32(total(wr.sg_list)) : 0;
  proto::encode(head, wqe);
  u8* at = wqe + proto::kSendWqeBytes;
  const proto::WorkRow* row = proto::work_row(wr.opcode);
  if (row && row->segment_bytes()) {
    std::memcpy(at, operands_of(wr, *row).bytes.data(), row->segment_bytes());
    at += row->segment_bytes();
  }
  if (qp.cap.service == proto::Service::Ud) proto::encode(wr.ah, at);
  if (qp.cap.service == proto::Service::Rd) proto::encode(wr.rd, at);
  at += proto::destination_bytes(qp.cap.service);
  if (!is_inline) return u32(append_sges(wr.sg_list, at) - wqe);
  for (const SgeList& sge : wr.sg_list) {
    memory_.read(sge.addr, at, sge.length);
    at += sge.length;
  }
  return u32(at - wqe);
}

void VerbsContext::ring_send(const Qp& qp, bool push, std::span<const u8> wqe) {
  std::array<u8, 8 + proto::kPushBytes> data;
  proto::encode(proto::QueueDoorbell{qp.qpn, u16(qp.sq_posted)}, data.data());
  if (!push) return mmio_write_(u32(proto::BarOffset::SendDoorbell), {data.data(), 8});
  std::copy(wqe.begin(), wqe.end(), data.begin() + 8);
  mmio_write_(u32(proto::BarOffset::PushBuffer), {data.data(), 8 + wqe.size()});
}

Error VerbsContext::post_send(Qp& qp, std::span<const SendWr> list, std::size_t* bad) {
  Error error = Error::None;
  std::array<u8, proto::kMaxSendWqeBytes> wqe;
  u32 bytes = 0;
  std::size_t posted = 0;
  for (; posted < list.size(); ++posted) {
    const SendWr& wr = list[posted];
    if (error = check_send(qp, wr); error != Error::None) break;
    bytes = write_send_wqe(qp, wr, wqe.data());
    const u32 slot = qp.sq_posted & u32(qp.send_ids.size() - 1);
    memory_.write(qp.sq_address + (u64{slot} << qp.sq_log_stride), wqe.data(), bytes);
    qp.send_ids[slot] = wr.wr_id;
    ++qp.sq_posted;
  }
  if (bad) *bad = posted;
  const bool pushes = posted == 1 && list[0].push && bytes <= proto::kPushBytes;
  if (posted) ring_send(qp, pushes, {wqe.data(), bytes});
  return error;
}

namespace {
// G23.2.
bool has_receive_queue(const Qp& qp) { return !qp.cap.srq && qp.cap.side == proto::QpSide::Both; }
}  // namespace

Error VerbsContext::post_recv(Qp& qp, std::span<const RecvWr> list, std::size_t* bad) {
  Error error = Error::None;
  std::size_t posted = 0;
  for (; posted < list.size(); ++posted) {
    const RecvWr& wr = list[posted];
    if (qp.state == QpState::Reset || !has_receive_queue(qp) ||
        wr.sg_list.size() > qp.cap.max_recv_sge)
      error = Error::Invalid;
    else if (qp.rq_posted - qp.rq_completed >= qp.cap.max_recv_wr)
      error = Error::NoMemory;
    if (error != Error::None) break;
    const u32 slots = u32(qp.recv_ids.size());
    write_receive_wqe(qp.rq_address, qp.rq_log_stride, slots, qp.rq_posted, wr);
    qp.recv_ids[qp.rq_posted++ & (slots - 1)] = wr.wr_id;
  }
  if (bad) *bad = posted;
  if (posted) ring_receive(proto::BarOffset::ReceiveDoorbell, qp.qpn, qp.rq_posted);
  return error;
}

u8 VerbsContext::receive_log_stride(u32 sges) {
  const u32 bytes = proto::kReceiveWqeBytes + sges * proto::kSgeBytes;
  return std::max(proto::kReceiveStrides.least, u8(std::bit_width(bytes - 1)));
}

// `index` runs freely over `slots`.
void VerbsContext::write_receive_wqe(u64 ring, u8 log_stride, u32 slots, u32 index,
                                     const RecvWr& wr) {
  std::array<u8, proto::kMaxReceiveWqeBytes> wqe;
  proto::encode(proto::ReceiveWqe{u8(wr.sg_list.size()), u16(index)}, wqe.data());
  const u8* end = append_sges(wr.sg_list, wqe.data() + proto::kReceiveWqeBytes);
  memory_.write(ring + (u64{index & (slots - 1)} << log_stride), wqe.data(), u64(end - wqe.data()));
}

void VerbsContext::ring_receive(proto::BarOffset bell, u32 number, u32 posted) {
  std::array<u8, 8> bytes;
  mmio_write_(u32(bell), encoded(proto::QueueDoorbell{number, u16(posted)}, bytes));
}

const u8* VerbsContext::find_cqe(const Cq& cq, u32 index) const {
  const u64 address = cq.address + u64{index & (cq.entries() - 1)} * proto::kCqeBytes;
  const u8* cqe = memory_.view(address, proto::kCqeBytes).data();  // whole: rings are aligned
  const bool there = bool(cqe[proto::kCqeBytes - 1] & 1) == !(index >> cq.log_entries & 1);
  return there ? cqe : nullptr;
}

bool VerbsContext::has_completion(const Cq& cq) const { return find_cqe(cq, cq.consumer); }

u32 VerbsContext::poll_cq(Cq& cq, std::span<Wc> out) {
  u32 found = 0;
  for (; found < out.size(); ++found, ++cq.consumer) {
    const u8* cqe = find_cqe(cq, cq.consumer);
    if (!cqe) break;
    take(proto::decode<proto::Cqe>(cqe), out[found]);
  }
  if (cq.consumer - cq.reported >= cq.entries() / 4) ring_cq(cq, proto::Arm::None);
  return found;
}

void VerbsContext::req_notify_cq(Cq& cq, bool solicited_only) {
  cq.armed = solicited_only ? proto::Arm::Solicited : proto::Arm::Next;
  ring_cq(cq, cq.armed);
}

void VerbsContext::ring_cq(Cq& cq, proto::Arm arm) {
  std::array<u8, 8> bell;
  mmio_write_(u32(proto::BarOffset::CqDoorbell),
              encoded(proto::CqDoorbell{arm, cq.cqn, cq.consumer}, bell));
  cq.reported = cq.consumer;
}

namespace {
// Receive WQEs of RD complete in any order; only class A ends their queue.
void take_rd(Qp& qp, proto::WcStatus status) {
  using enum proto::WcStatus;
  ++qp.rq_completed;
  if (status == LocQpOpErr || status == LocProtErr || status == WrFlushErr)
    qp.state = QpState::Error;
}
}  // namespace

// A completion of a send WQE also completes all earlier unsignalled ones. `wc` is filled in place.
void VerbsContext::take(const proto::Cqe& cqe, Wc& wc) {
  wc.wr_id = 0;
  wc.status = cqe.status;
  wc.opcode = cqe.opcode;
  wc.byte_len = cqe.byte_len;
  wc.imm_data = cqe.immediate;
  wc.qp_num = cqe.qpn;
  wc.src_qp = cqe.src_qp;
  wc.srqn = cqe.srqn;
  wc.with_imm = cqe.with_immediate;
  wc.with_invalidate = cqe.with_invalidate;
  wc.has_grh = cqe.has_grh;
  wc.slid = cqe.slid;
  wc.pkey_index = cqe.pkey_index;
  wc.sl = cqe.sl;
  Qp* qp = find_qp(cqe.qpn);
  Srq* srq = qp ? qp->cap.srq : nullptr;
  if (cqe.srqn) srq = find_srq(cqe.srqn);
  const bool receive = proto::is_of_receive(cqe.opcode);
  if (receive && srq) wc.wr_id = take_shared(*srq, cqe.wqe_index);
  if (!qp) return;
  if (receive && srq) {
    // Class E: in an unreliable service only the taken WQE completes (G9).
    const bool alone =
        !proto::is_reliable(qp->cap.service) &&
        (cqe.status == proto::WcStatus::LocLenErr || cqe.status == proto::WcStatus::RemAbortErr);
    if (cqe.status != proto::WcStatus::Success && !alone) qp->state = QpState::Error;
    return;
  }
  const std::vector<u64>& ids = receive ? qp->recv_ids : qp->send_ids;
  wc.wr_id = ids[cqe.wqe_index & u32(ids.size() - 1)];
  if (receive && qp->cap.service == proto::Service::Rd) return take_rd(*qp, cqe.status);
  u32& completed = receive ? qp->rq_completed : qp->sq_completed;
  completed = proto::widen_index(completed, u16(cqe.wqe_index + 1));
  if (cqe.status != proto::WcStatus::Success && qp->state != QpState::Error)
    qp->state = receive ? QpState::Error : proto::state_of_failed_sends(qp->cap.service);
}
}  // namespace hca::testbench
