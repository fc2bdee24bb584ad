// SPDX-License-Identifier: Apache-2.0
// The responder: a frame from the wire is judged and executed. Its answers: responder_answers.cpp.
#include <algorithm>

#include "model/functional/functional_hca.h"
#include "model/proto/transport/congestion_rules.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/wire/datagram.h"

namespace hca::functional {
using namespace proto;

void FunctionalHca::receive(std::span<const u8> frame, u32 port, bool at_once) {
  row_ += !at_once;
  take_frame(frame, port);
  fail_if_fatal();
}

void FunctionalHca::take_frame(std::span<const u8> frame, u32 port) {
  const PortAttributes& own = contexts_.ports[port - 1];
  ++port_counters_[port - 1].received;
  if (is_down(own)) return counts_.drop(port, &DropCounters::port_down);
  ParsedPacket packet;
  const PacketVerdict form = check_frame(frame, framing_row(Framing(own.framing)).link, packet);
  if (form != PacketVerdict::Good) return counts_.drop(port, counter_of(form));
  if (is_of_rd(packet) && has(contexts_.options, Capability::Rd))
    return receive_rd(packet, frame, port);
  const QpConfig* qp = contexts_.find_qp(packet.bth.dest_qp);
  if (!qp && packet.bth.dest_qp == kMulticastQp)
    return receive_multicast(packet, frame, port, kAnyQp);
  auto dropped = port_drop(own, port, frame.data(), packet, qp);
  const bool is_for_qp = !dropped || dropped == &DropCounters::wrong_port;
  if (qp && is_for_qp && qp->path_mig != PathMigState::Migrated) {
    if (refuses_path(qp->qpn, packet, frame, port)) return;
    dropped = port_drop(own, port, frame.data(), packet, qp);
  }
  if (dropped) return counts_.drop(port, dropped);
  if (packet.opcode && !packet.opcode->is_request) return receive_answer(*qp, packet, frame);
  receive_request(qp->qpn, packet, frame);
}

// A copy for each queue pair of the group, judged as any other datagram (G25.2).
void FunctionalHca::receive_multicast(const ParsedPacket& packet, std::span<const u8> frame,
                                      u32 port, u32 sender) {
  std::vector<u32> receivers;
  const auto is_attached = [&](const Gid& dgid) {
    contexts_.each_receiver(port, dgid, frame.data(), packet, sender,
                            [&](u32 qpn) { receivers.push_back(qpn); });
    return !receivers.empty();
  };
  if (const auto dropped =
          multicast_drop(contexts_.ports[port - 1], frame.data(), packet, is_attached))
    return counts_.drop(port, dropped);
  for (const u32 qpn : receivers) receive_request(qpn, packet, frame);
}

// G25.3: a datagram that this queue pair sends to a group, for the members at its own port.
void FunctionalHca::turn(const QpConfig& qp, std::span<const u8> sent) {
  const std::vector<u8> frame(sent.begin(), sent.end());
  ParsedPacket packet;
  const auto link = framing_row(Framing(contexts_.ports[qp.port - 1u].framing)).link;
  if (check_frame(frame, link, packet) != PacketVerdict::Good || packet.framing == Framing::IbLocal)
    return;
  bool any = false;
  const Gid dgid = addressing_of(frame.data(), packet).destination_gid;
  contexts_.each_receiver(qp.port, dgid, frame.data(), packet, qp.qpn, [&](u32) { any = true; });
  if (!any) return;
  ++counters(qp).received;
  receive_multicast(packet, frame, qp.port, qp.qpn);
}

void FunctionalHca::notify_congestion(const QpConfig& qp, const ParsedPacket& packet,
                                      std::span<const u8> frame) {
  if (qp.service == Service::Ud || !draws_cnp(frame.data(), packet)) return;
  if (now_ < progress(qp.qpn).next_cnp) return;
  progress(qp.qpn).next_cnp = now_ + kCnpIntervalNs;
  transmit(qp, *opcode_row(kCnpOpcode), cnp_bth(qp), {}, 0);
}

void FunctionalHca::send_cn(const QpConfig& qp, const ParsedPacket& packet,
                            std::span<const u8> frame) {
  const CnPlan plan = plan_cn(qp, frame.data(), packet);
  transmit(qp, plan.path, *opcode_row(kCnOpcode), plan.bth, {}, 0);
}

// G29.3: work takes no time, but responses leave after the frames that came at once.
u32 FunctionalHca::reads_unfinished(u32 qpn) {
  Progress& s = progress(qpn);
  const u32 accepted = contexts_.receive_of(qpn).reads_accepted;
  if (std::exchange(s.row, row_) != row_) s.reads_finished = accepted;
  return accepted - s.reads_finished;
}

void FunctionalHca::receive_request(u32 qpn, const ParsedPacket& packet,
                                    std::span<const u8> frame) {
  judge(qpn, packet, frame);
  // Kept requests follow, if they are expected now.
  for (auto next = take_kept(qpn); !next.empty(); next = take_kept(qpn)) {
    ParsedPacket kept;
    const auto link =
        framing_row(Framing(contexts_.ports[contexts_.qps[qpn].port - 1u].framing)).link;
    check_frame(next, link, kept);
    judge(qpn, kept, next);
  }
}

void FunctionalHca::judge(u32 qpn, const ParsedPacket& packet, std::span<const u8> frame) {
  const QpConfig& qp = receiver(qpn);
  ReceiveState& state = contexts_.receive_of(qpn);
  const device::ReceiveQueue queue = contexts_.receive_queue_of(qp, packet);
  SharedQueue* const shared = contexts_.find_shared(queue);
  if (shared) look_at(state, *shared);
  const bool of_ee = device::is_ee(qpn);
  const QpConfig* const named = of_ee ? contexts_.find_qp(packet.bth.dest_qp) : nullptr;
  ReceiveState* const taken = of_ee && qp.served ? &contexts_.receive_of(qp.served) : nullptr;
  if (of_ee) look_at(state, taken ? *taken : ReceiveState{});
  RequestVerdict verdict =
      judge_request({packet, frame, qp, state, contexts_.find_region(remote_key(packet)),
                     reads_unfinished(qpn), &contexts_.ports[qp.port - 1u], shared, named});
  const bool marked = may_draw_cnp(verdict.cause) && draws_cnp(frame.data(), packet);
  if (marked) notify_congestion(qp, packet, frame);
  const bool draws = !marked && draws_cn(qp, packet, verdict);
  if (draws) send_cn(qp, packet, frame);
  const bool reads = packet.opcode && packet.opcode->traits().is_saved();
  const bool passed = verdict.action == RequestAction::Execute;
  if (passed && qp.service == Service::Ud) return receive_datagram(qpn, packet, frame);
  if (passed && !reads) verdict = find_place(qpn, packet);
  if (keeps_ahead(state, packet, qp, verdict)) verdict = kKeptAhead;
  count(qp, verdict);
  counts_.drop(qp.port, counter_of(verdict.cause, qp, frame.data(), packet));
  if (qp.service == Service::Ud) counts_.drop(qp.port, counter_without_place(verdict.cause));
  const bool reliable = qp.reliable;
  const bool breaks = shared && abandons_send(state, packet, qp, verdict);
  if (of_ee) prepare_rd(qpn, packet, verdict);
  RequestEffect effect = apply(state, packet, qp, verdict);
  if (taken) take_from(*taken, state, packet, verdict, effect);
  effect.congested &= !draws;
  if (is_kept(verdict)) {
    tell_kept(effect, state, packet);
    keep(qpn, packet.bth.psn, frame);
  }
  if (shared) {
    if (breaks) {
      const bool begins = begins_message(packet.opcode->position);
      abandon_shared(qpn, state.shared_wqe, begins ? RequestCause::BadSequence : verdict.cause);
      if (verdict.action == RequestAction::Fail) state.message = InMessage::None;
    }
    if (take_from(*shared, state, packet, qp, verdict, passed, effect))
      raise(EventType::SrqLimitReached, queue.srqn());
    if (effect.takes_shared && verdict.action == RequestAction::Abandon)
      abandon_shared(qpn, state.shared_wqe, verdict.cause);
  }
  progress(qpn).congested |= effect.congested;
  if (verdict.action != RequestAction::Drop && qp.state == QpState::Rtr &&
      take_established(state)) {
    if (of_ee)
      raise(EventType::EecCommEst, device::eecn_of(qpn));
    else
      raise(EventType::CommEst, qpn);
  }
  switch (verdict.action) {
    case RequestAction::Drop:
    case RequestAction::Abandon:
      return;
    case RequestAction::Fail:
      return fail_receive(qpn, packet, verdict);
    case RequestAction::Repeat:
      limit_repeated_read(effect, qp, state.epsn);
      return repeat_read(qpn, packet, effect);
    case RequestAction::Execute:
      if (reads) return execute_read(qpn, packet, effect, frame);
      if (!reliable && !shared) take_receive(state, packet, effect);
      execute(qpn, packet, effect, frame.subspan(packet.payload_offset, packet.payload_bytes));
      if (taken && !request::is_new_resync(packet, verdict) &&
          contexts_.qps[qp.served].state == QpState::Error)
        return;  // class G
      if (packet.bth.ack_req && reliable && qp.state != QpState::Error)
        answer(qp, verdict, effect);  // G4.1
      return;
    case RequestAction::NakAndFail:
      answer(qp, verdict, effect);
      return of_ee ? fail_queue_pair(qpn, packet, verdict) : fail_receive(qpn, packet, verdict);
    case RequestAction::NakAndEnd:
      answer(qp, verdict, effect);
      return end_refused(qpn, packet, verdict);
    default:
      answer(qp, verdict, effect);
  }
}

// A delivered datagram begins with its network header.
void FunctionalHca::receive_datagram(u32 qpn, ParsedPacket packet, std::span<const u8> frame) {
  const QpConfig& qp = contexts_.qps[qpn];
  ReceiveState& state = contexts_.receive_of(qpn);
  RequestEffect header;
  std::copy(frame.begin(), frame.end(), datagram_.begin());
  prepend_header(datagram_.data(), packet.payload_bytes, packet, header);
  const RequestVerdict verdict = find_place(qpn, packet);
  count(qp, verdict);
  RequestEffect effect = apply(state, packet, qp, verdict);
  const device::ReceiveQueue queue = contexts_.receive_queue_of(qp, packet);
  SharedQueue* const shared = contexts_.find_shared(queue);
  if (shared && take_from(*shared, state, packet, qp, verdict, true, effect))
    raise(EventType::SrqLimitReached, queue.srqn());
  effect.slid = header.slid;
  effect.sl = header.sl;
  if (qp.state == QpState::Rtr && take_established(state)) raise(EventType::CommEst, qpn);
  if (is_silent(verdict.action)) {
    if (shared) abandon_shared(qpn, state.shared_wqe, verdict.cause);
    return counts_.drop(qp.port, counter_without_place(verdict.cause));
  }
  if (verdict.action == RequestAction::Fail) return fail_receive(qpn, packet, verdict);
  if (!shared) take_receive(state, packet, effect);
  execute(qpn, packet, effect, {datagram_.data() + packet.payload_offset, packet.payload_bytes});
}

// Judges the place of the payload, by the rules of its service.
RequestVerdict FunctionalHca::find_place(u32 qpn, const ParsedPacket& packet) {
  const Service service = receiver(qpn).service;
  if (is_reliable(service)) return on_service(find_own_place(qpn, packet), service);
  const ReceiveState& r = contexts_.receive_of(qpn);
  if (!uses_srq(contexts_.qps[qpn]) && request::takes_receive_wqe(*packet.opcode) &&
      r.rq_posted == r.rq_consumed)
    return on_service(kNoReceiveWqe, service);
  return on_service(find_own_place(qpn, packet), service);
}

// The receive WQE of a SEND, the key of a WRITE in progress.
RequestVerdict FunctionalHca::find_own_place(u32 qpn, const ParsedPacket& packet) {
  const QpConfig& qp = receiver(qpn);
  const OpcodeRow& row = *packet.opcode;
  const auto find = [this](u32 key) { return contexts_.find_region(key); };
  const device::ReceiveQueue queue = contexts_.receive_queue_of(qp, packet);
  const SharedQueue* const shared = contexts_.find_shared(queue);
  if (row.operation == Operation::Send) {
    if (request::takes_receive_wqe(row))
      if (const RequestVerdict v = read_receive_wqe(qpn, queue); v.action != RequestAction::Execute)
        return v;
    return judge_scatter(progress(qpn).scatter, progress(qpn).received, packet.payload_bytes, qp,
                         shared, find);
  }
  const ReceiveState& state = contexts_.receive_of(qpn);
  if (!begins_message(row.position) &&
      write_key_is_gone(find(state.write_rkey), state, remote_accessor(qp, shared)))
    return kKeyGone;
  return {};
}

RequestVerdict FunctionalHca::read_receive_wqe(u32 qpn, device::ReceiveQueue queue) {
  const QpConfig& qp = receiver(qpn);
  const SharedQueue* const shared = contexts_.find_shared(queue);
  const u32 index = shared ? shared->head() : contexts_.receive_of(qpn).rq_consumed;
  const WorkQueue& ring = ring_of(qp, shared);
  std::array<u8, kReceiveWqeBytes> raw;
  if (!io_.read(ring.slot(index), raw)) {
    if (shared) fail_shared(queue.srqn());
    return kUnreadableReceiveWqe;
  }
  const auto wqe = decode<ReceiveWqe>(raw.data());
  if (!receive_wqe_is_good(wqe, index, ring.stride())) return kBadReceiveWqe;
  progress(qpn).scatter = read_sges(ring.slot(index) + kReceiveWqeBytes, wqe.sge_count);
  progress(qpn).received = 0;
  return {};
}

// SRQ-11: only the first failure raises the event.
void FunctionalHca::fail_shared(u32 srqn) {
  SharedQueue* const queue = contexts_.find_srq(srqn);
  if (queue && !std::exchange(queue->failed, true)) raise(EventType::SrqErr, srqn);
}

// Completes a receive WQE to the CQ of its queue.
void FunctionalHca::complete_of(const QpConfig& qp, device::ReceiveQueue queue, Cqe cqe) {
  const SharedQueue* const shared = contexts_.find_shared(queue);
  const bool xrc = qp.service == Service::Xrc;
  if (xrc && !shared) return;  // the SRQ was destroyed, and perhaps its CQ
  if (xrc) cqe.srqn = queue.srqn();
  complete(receive_cq_of(qp, shared), cqe);
}

void FunctionalHca::execute(u32 qpn, const ParsedPacket& packet, const RequestEffect& effect,
                            std::span<const u8> payload) {
  const OpcodeRow& row = *packet.opcode;
  if (row.operation == Operation::Send)
    scatter(progress(qpn), payload);
  else if (!payload.empty()) {
    write_memory(effect.rkey, effect.va, payload);
  }
  if (effect.completes_message && makes_receive_cqe(row)) complete_receive(qpn, packet, effect);
}

void FunctionalHca::scatter(Progress& s, std::span<const u8> payload) {
  u32 skip = s.received;
  s.received += u32(payload.size());
  for (const Sge& sge : s.scatter) {
    if (payload.empty()) return;
    if (skip >= sge.bytes) {
      skip -= sge.bytes;
      continue;
    }
    const std::size_t n = std::min<std::size_t>(sge.bytes - skip, payload.size());
    write_memory(sge.lkey, sge.va + skip, payload.first(n));
    payload = payload.subspan(n);
    skip = 0;
  }
}

void FunctionalHca::complete_receive(u32 qpn, const ParsedPacket& packet,
                                     const RequestEffect& effect) {
  const bool send = packet.opcode->operation == Operation::Send;
  const QpConfig& qp = receiver(qpn);
  const device::ReceiveQueue queue = contexts_.held_queue_of(qp);
  if (packet.has(Ext::Ieth)) {
    const u32 key = packet.ieth.rkey;
    const Accessor who = remote_accessor(qp, contexts_.find_shared(queue));
    if (!device::invalidate_key(contexts_, key, who)) return fail_invalidate(qpn, effect);
  }
  Cqe cqe{};
  cqe.opcode = send ? CqeOpcode::Receive : CqeOpcode::ReceiveRdmaImmediate;
  cqe.with_immediate = packet.has(Ext::ImmDt);
  cqe.solicited = packet.bth.solicited;
  cqe.qpn = queue_pair_of(qp);
  cqe.wqe_index = u16(effect.receive_wqe);
  cqe.byte_len = send ? progress(qpn).received : effect.byte_len;
  cqe.with_invalidate = packet.has(Ext::Ieth);
  if (cqe.with_immediate) cqe.immediate = packet.imm_dt.data;
  if (cqe.with_invalidate) cqe.immediate = packet.ieth.rkey;
  if (qp.service == Service::Rd) cqe.src_qp = packet.deth.src_qp;
  if (qp.service == Service::Ud)
    tell_datagram(cqe, packet, effect, qp, contexts_.ports[qp.port - 1u]);
  complete_of(qp, queue, cqe);
}

// Classes J and M: no NAK, the receive WQE ends in error (G10.2, G10.3).
void FunctionalHca::fail_invalidate(u32 qpn, const RequestEffect& effect) {
  Cqe cqe{};
  cqe.opcode = CqeOpcode::Receive;
  cqe.status = failure_of(RequestCause::BadInvalidate).status;
  cqe.qpn = qpn;
  cqe.wqe_index = u16(effect.receive_wqe);
  count(contexts_.qps[qpn], {RequestAction::Fail, RequestCause::BadInvalidate, {}, {}});
  contexts_.qps[qpn].state = QpState::Error;
  const QpConfig& qp = contexts_.qps[qpn];
  complete_of(qp, contexts_.held_queue_of(qp), cqe);
  enter_error(qpn);
}

// Classes A, C and K: the receive WQE in use completes in error, or an event is raised; then all is
// flushed.
void FunctionalHca::fail_receive(u32 qpn, const ParsedPacket& packet, const RequestVerdict& v) {
  const FailureRow failure = failure_of(v.cause);
  ReceiveState& r = contexts_.receive_of(qpn);
  contexts_.qps[qpn].state = QpState::Error;
  r.nak_sent = false;
  const QpConfig& qp = contexts_.qps[qpn];
  const bool takes = failure_takes_receive_wqe(qp, packet, v);
  const bool fails_wqe = takes || holds_receive_wqe(qp, r);
  if (fails_wqe) {
    const device::ReceiveQueue queue =
        takes ? contexts_.receive_queue_of(qp, packet) : contexts_.held_queue_of(qp);
    r.rq_consumed += takes && !uses_srq(qp);
    r.message = InMessage::None;
    Cqe cqe{};
    cqe.opcode = CqeOpcode::Receive;
    cqe.status = failure.status;
    cqe.qpn = qpn;
    cqe.wqe_index = u16(uses_srq(qp) ? r.shared_wqe : r.rq_consumed - 1);
    complete_of(qp, queue, cqe);
  }
  if (!fails_wqe || tells_failure_twice(qp)) {
    const bool named = names_receive_wqe(v.cause);
    const u32 index = uses_srq(qp) ? r.shared_wqe : r.rq_consumed;
    raise(kAsyncEq, {failure.event, qpn, EventPart::Nothing, named ? u16(index) : u16{0}});
  }
  enter_error(qpn);
}

// G9.2: the WQE of an SRQ that was taken for a message which is not delivered.
void FunctionalHca::abandon_shared(u32 qpn, u32 index, RequestCause cause) {
  Cqe cqe{};
  cqe.opcode = CqeOpcode::Receive;
  cqe.status = status_of_abandoned(cause);
  cqe.qpn = qpn;
  cqe.wqe_index = u16(index);
  complete(contexts_.qps[qpn].receive_cq, cqe);
}
}  // namespace hca::functional
