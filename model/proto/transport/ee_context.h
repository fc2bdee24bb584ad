// SPDX-License-Identifier: Apache-2.0
// RD: an EE context works for one queue pair at a time as requester, and for the one that a packet
// names as responder (G13.1).
#pragma once
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/request_effect.h"
#include "model/proto/transport/requester_rules.h"
#include "model/proto/transport/work_rules.h"

namespace hca::proto {
// `context` gets the attributes of the queue pair that it serves from now on.
inline void serve(QpConfig& context, const QpConfig& queue_pair) {
  context.served = queue_pair.qpn;
  context.pd = queue_pair.pd;
  context.send_cq = queue_pair.send_cq;
  context.receive_cq = queue_pair.receive_cq;
  context.sq = queue_pair.sq;
  context.rq = queue_pair.rq;
  context.qkey = queue_pair.qkey;
  context.access = queue_pair.access;
  context.min_rnr_timer = queue_pair.min_rnr_timer;
  context.signal_all = queue_pair.signal_all;
  context.privileged = queue_pair.privileged;
}
// The receiver of an EE context gets its new attributes and keeps those of its queue pair.
inline void follow(QpConfig& receiver, const QpConfig& context) {
  const QpConfig before = receiver;
  receiver = context;
  serve(receiver, before);
  receiver.qpn = before.qpn;
  receiver.served = before.served;
  receiver.dest_qpn = before.dest_qpn;
}
// The next queue pair that asks may begin its message; in SQD none may (T13).
inline bool may_serve_next(const QpConfig& context, bool serves, bool any_asks) {
  return !serves && any_asks && context.state == QpState::Rts;
}
inline bool is_of_rd(const ParsedPacket& packet) {
  return packet.bth.opcode >> 5 == unsigned(Service::Rd);
}

// ---- Requester
// The destination that a work request names, after its operands.
inline u32 rd_address_offset(const WorkRow& row) { return kSendWqeBytes + row.segment_bytes(); }
// T14, T9-20: a work request of a queue pair may use this EE context (nullptr: there is none).
inline WcStatus check_ee_context(const QpConfig& queue_pair, const QpConfig* context) {
  if (!context) return WcStatus::InvEecnErr;
  if (!sends(context->state)) return WcStatus::InvEecStateErr;
  return context->rdd == queue_pair.rdd ? WcStatus::Success : WcStatus::LocRddViolErr;
}
inline Deth deth_of(const QpConfig& context, const RdAddress& address) {
  return {qkey_to_send(address.qkey, context.qkey), context.served};
}
// RSY-1: like a SEND Only without data. G13.3: its PSN is above all that the aborted message used.
inline PacketPlan plan_resync(Psn psn) {
  PacketPlan plan{};
  plan.row = opcode_row(Service::Rd, Operation::Resync, Position::Only);
  plan.psns = {psn, 1};
  plan.ack_requested = true;
  plan.last = true;
  return plan;
}
// The aborted message is replaced by the RESYNC, and all before it counts as acknowledged.
inline void begin_resync(SentMessage& m, SendState& s, const QpConfig& context) {
  m = {};
  m.first_psn = s.next_psn;
  m.packets = 1;
  s.start(m.first_psn);
  s.take(m.packets);
  s.reads_answered = s.reads_placed = s.reads_started;
  s.waits_restart = s.waits_rnr = false;
  s.retries_left = context.retry_count;
  s.rnr_retries_left = context.rnr_retry;
}
// T9-2, T9-4, T9-6: class D or B.
inline bool stops_ee_context(const QpConfig& context, WcStatus status) {
  return status == WcStatus::RetryExcErr && context.options.rd_retry_class == RdRetryClass::D;
}
// o9-23.2.1: the counter of an answer that the queue pair of its DestQP cannot take; nullptr: it can.
// That to a RESYNC is for the EE context alone (G13.3).
inline u64 DropCounters::*answer_drop(const QpConfig* queue_pair, bool resyncs) {
  using D = DropCounters;
  if (resyncs) return nullptr;
  if (!queue_pair) return &D::unknown_qp;
  if (queue_pair->service != Service::Rd) return &D::wrong_service;
  return takes_responses(queue_pair->state) ? nullptr : &D::bad_qp_state;
}
// T9-22: the EE context sends no message of the queue pair that the answer names.
inline bool is_ghost(const QpConfig& context, u32 dest_qp) { return dest_qp != context.served; }

// ---- Responder
// A packet of a reserved opcode has RDETH and DETH where any request has them; if the frame ends
// before, their fields are 0.
inline void read_rd_headers(ParsedPacket& packet, std::span<const u8> frame) {
  constexpr u32 kBytes = bytes_of<Rdeth>() + bytes_of<Deth>() + kIcrcBytes;
  if (packet.opcode) return;
  packet.rdeth = {};
  packet.deth = {};
  const u32 offset = packet.transport_offset + bytes_of<Bth>();
  if (frame.size() < offset + kBytes) return;
  const u8* const at = frame.data() + offset;
  packet.rdeth = decode<Rdeth>(at);
  packet.deth = decode<Deth>(at + bytes_of<Rdeth>());
}
// The EE context as the responder to a request; `named`: by DestQP, if there is such a queue pair.
inline QpConfig receiver_for(const QpConfig& context, const ParsedPacket& packet,
                             const QpConfig* named) {
  QpConfig receiver = context;
  receiver.dest_qpn = packet.deth.src_qp;  // G13.2
  receiver.served = 0;
  if (named && named->service == Service::Rd) serve(receiver, *named);
  return receiver;
}
// Shows the receive queue of the named queue pair to the EE context's state.
inline void look_at(ReceiveState& s, const ReceiveState& queue) {
  s.rq_posted = queue.rq_posted;
  s.rq_consumed = queue.rq_consumed;
}
// After apply(): what the request took of that queue. Messages that come over several EE contexts
// take WQEs of one queue pair.
inline void take_from(ReceiveState& queue, ReceiveState& s, const ParsedPacket& packet,
                      const RequestVerdict& v, RequestEffect& e) {
  if (v.action != RequestAction::Execute || request::is_new_resync(packet, v)) return;
  if (begins_message(packet.opcode->position)) s.owner = packet.bth.dest_qp;
  if (s.rq_consumed != queue.rq_consumed) s.held_wqe = queue.rq_consumed++;
  e.receive_wqe = s.held_wqe;
}
// RSY-3: of the receive WQE of a message that a RESYNC ends.
inline WcStatus aborted_status() { return WcStatus::RemAbortErr; }
// VAL-10: the P_Key of an answer.
inline u16 answer_pkey(const QpConfig& qp, const ParsedPacket& packet, RequestCause cause) {
  const bool copies = qp.options.rd_qkey_nak_pkey == RdQkeyNakPkey::Request;
  return cause == RequestCause::BadQkey && copies ? packet.bth.pkey : qp.pkey;
}
// True: the receive WQE of a message that `v` ends completes; otherwise it returns to its queue.
inline bool completes_ended(const QpConfig& qp, const ParsedPacket& packet,
                            const RequestVerdict& v) {
  if (request::is_new_resync(packet, v)) return qp.options.rd_abort == RdAbort::Complete;
  return qp.options.rd_error_class == RdErrorClass::F;
}
// The WQE at its head, for a request that fails with it.
inline u32 take_head(ReceiveState& queue) { return queue.rq_consumed++; }
// Class B: a WQE stays in its queue, if it is the newest that was taken.
inline bool put_back(ReceiveState& queue, u32 index) {
  const bool newest = queue.rq_consumed - 1 == index;
  queue.rq_consumed -= newest;
  return newest;
}
}  // namespace hca::proto
