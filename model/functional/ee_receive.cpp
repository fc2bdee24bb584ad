// SPDX-License-Identifier: Apache-2.0
// RD, responder side: a packet names its EE context, which is the connection, and a queue pair, which
// has the receive queue, the rights and the PD (T8, G13).
#include "model/functional/functional_hca.h"

namespace hca::functional {
using namespace proto;

void FunctionalHca::receive_rd(ParsedPacket& packet, std::span<const u8> frame, u32 port) {
  read_rd_headers(packet, frame);
  const u32 ee = device::ee_number(packet.rdeth.ee_context);
  const QpConfig* const context = contexts_.find_number(ee);
  auto dropped = port_drop(contexts_.ports[port - 1], port, frame.data(), packet, context);
  if (dropped == &DropCounters::unknown_qp) dropped = &DropCounters::bad_ee_context;
  if (dropped) return counts_.drop(port, dropped);
  if (packet.opcode && !packet.opcode->is_request)
    return receive_rd_answer(*context, packet, frame);
  contexts_.qps[device::receiver_number(ee)] =
      receiver_for(*context, packet, contexts_.find_qp(packet.bth.dest_qp));
  receive_request(ee, packet, frame);
}

// o9-23.2.1: an answer to a queue pair that cannot take it is dropped; that to a RESYNC is for the EE
// context alone.
void FunctionalHca::receive_rd_answer(const QpConfig& context, const ParsedPacket& packet,
                                      std::span<const u8> frame) {
  const Progress& p = progress(context.qpn);
  const QpConfig* const qp = contexts_.find_qp(packet.bth.dest_qp);
  const bool resyncs = p.resync != Resync::None;
  const RequestView view{packet, frame, context, contexts_.receive_of(context.qpn), nullptr};
  if (judge_response_header(view) == RequestCause::Good) {
    if (const auto counter = answer_drop(qp, resyncs)) return counts_.drop(context.port, counter);
    if (is_ghost(context, packet.bth.dest_qp))
      return void(++counters(context).unexpected_answers);  // T9-22
  }
  receive_answer(context, packet, frame);
}

// Before a verdict is applied: a RESYNC ends the message in progress (RSY-3); VAL-10.
void FunctionalHca::prepare_rd(u32 ee, const ParsedPacket& packet, const RequestVerdict& v) {
  QpConfig& qp = contexts_.qps[device::receiver_number(ee)];
  if (request::is_new_resync(packet, v)) {
    const bool completes = completes_ended(qp, packet, v);
    abort_received(ee, completes ? std::optional(aborted_status()) : std::nullopt);
  }
  qp.pkey = answer_pkey(qp, packet, v.cause);
}

// The message in progress ends. Its receive WQE completes with a status, or returns to its queue.
void FunctionalHca::abort_received(u32 ee, std::optional<WcStatus> status) {
  ReceiveState& r = contexts_.receive_of(ee);
  if (std::exchange(r.message, InMessage::None) != InMessage::Send) return;
  if (!status && put_back(contexts_.receive_of(r.owner), r.held_wqe)) return;
  complete_taken(r.owner, r.held_wqe, status.value_or(aborted_status()));
}

void FunctionalHca::complete_taken(u32 qpn, u32 index, WcStatus status) {
  Cqe cqe{};
  cqe.opcode = CqeOpcode::Receive;
  cqe.status = status;
  cqe.qpn = qpn;
  cqe.wqe_index = u16(index);
  complete(contexts_.qps[qpn].receive_cq, cqe);
}

// Classes B and F: queue pair and EE context go on (o9-162.1.1, ERR-30).
void FunctionalHca::end_refused(u32 ee, const ParsedPacket& packet, const RequestVerdict& v) {
  const QpConfig& qp = receiver(ee);
  const bool completes = completes_ended(qp, packet, v);
  const WcStatus status = failure_of(v.cause).status;
  const bool takes = completes && failure_takes_receive_wqe(qp, packet, v);
  abort_received(ee, completes ? std::optional(status) : std::nullopt);
  if (takes) complete_taken(qp.served, take_head(contexts_.receive_of(qp.served)), status);
}

// Class A: only the queue pair enters Error.
void FunctionalHca::fail_queue_pair(u32 ee, const ParsedPacket& packet, const RequestVerdict& v) {
  const QpConfig& qp = receiver(ee);
  const u32 qpn = qp.served;
  const FailureRow failure = failure_of(v.cause);
  ReceiveState& r = contexts_.receive_of(ee);
  ReceiveState& queue = contexts_.receive_of(qpn);
  contexts_.qps[qpn].state = QpState::Error;
  if (failure_takes_receive_wqe(qp, packet, v))
    complete_taken(qpn, take_head(queue), failure.status);
  else if (r.message == InMessage::Send)
    complete_taken(qpn, r.held_wqe, failure.status);
  else
    raise(kAsyncEq, {failure.event, qpn, EventPart::Nothing, u16(queue.rq_consumed)});
  r.message = InMessage::None;
  enter_error(qpn);
}

// The message in progress for a queue pair that took its receive WQE first; nullptr: there is none.
ReceiveState* FunctionalHca::oldest_received(u32 qpn) {
  ReceiveState* oldest = nullptr;
  for (const device::EeContext& context : contexts_.ee_contexts) {
    if (!context.allocated) continue;
    const auto eecn = u32(&context - contexts_.ee_contexts.data());
    ReceiveState& r = contexts_.receive_of(device::ee_number(eecn));
    if (r.owner != qpn || r.message == InMessage::None) continue;
    if (!oldest || s32(r.held_wqe - oldest->held_wqe) < 0) oldest = &r;
  }
  return oldest;
}

// A queue pair is flushed, reset or destroyed: the messages that arrive for it end, in the order of
// their receive WQEs (G20.2).
void FunctionalHca::forget_received(u32 qpn, bool completes) {
  while (ReceiveState* const r = oldest_received(qpn)) {
    const bool holds = std::exchange(r->message, InMessage::None) == InMessage::Send;
    if (completes && holds) complete_taken(qpn, r->held_wqe, flush_status());
  }
}
}  // namespace hca::functional
