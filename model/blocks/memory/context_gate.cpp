// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/context_gate.h"

#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/work_rules.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
using namespace proto;

namespace {
template <class Item>
void need_sges(const device::Contexts& contexts, const u8* sges, u32 count,
               ContextGate<Item>& gate) {
  for (u32 i = 0; i < count; ++i) {
    const auto sge = decode<Sge>(sges + i * kSgeBytes);
    if (sge.bytes && sge.lkey != kReservedLkey)
      need_memory(contexts, sge.lkey, sge.va, sge.bytes, gate);
  }
}
}  // namespace

void PacketGate::tick() {
  if (in.can_pop() && !gate.full()) {
    Packet* packet = in.pop();
    gate.enter(packet);
    note(packet);
  }
  gate.move();
  if (gate.ready(now())) out->deliver(now() + 1, left_++, gate.pop());
  if (gate.ready(now()) || in.can_pop()) wake_at(now() + 1);
}

// A frame that is not whole, or of no queue pair, needs nothing: it is dropped.
void PacketGate::note(Packet* p) {
  const PortAttributes& port = contexts_.ports[port_];
  ParsedPacket parsed;
  const LinkLayer link = framing_row(Framing(port.framing)).link;
  if (parse(p->on_link(), link, parsed) != PacketVerdict::Good) return;
  if (!contexts_.find_qp(parsed.bth.dest_qp)) return;
  gate.need(ContextKind::Qp, parsed.bth.dest_qp);
  if (!parsed.opcode || !parsed.opcode->is_request) return;
  const u32 key = remote_key(parsed);
  if (!key) return;
  const RemoteBytes named = remote_bytes(parsed);
  need_memory(contexts_, key, named.va, named.bytes, gate);
}

void note_queue_pair(const device::Contexts&, Turn* const& turn, ContextGate<Turn*>& gate) {
  if (turn->flush) return;
  gate.need(ContextKind::Qp, turn->qpn);
  if (turn->again) gate.need_wqes(turn, false);
}

void note_turn(const device::Contexts& contexts, Turn* const& turn, ContextGate<Turn*>& gate) {
  if (turn->flush || turn->unreadable) return;
  gate.need(ContextKind::Qp, turn->qpn);
  const QpConfig* qp = contexts.find_qp(turn->qpn);
  if (!qp) return;
  if (qp->reliable && !turn->cached) gate.need_wqes(turn, true);
  for (u32 i = 0; i < turn->count; ++i) {
    const u8* bytes = turn->wqes.data() + i * qp->sq.stride();
    const auto wqe = decode<SendWqe>(bytes);
    if (check_send_wqe(wqe, turn->first + i, *qp) != WcStatus::Success || wqe.inline_data) continue;
    need_sges(contexts, bytes + segments_offset(proto::row_of(wqe), qp->service), wqe.sge_count,
              gate);
  }
}

void note_batch(const device::Contexts& contexts, ReceiveBatch* const& batch,
                ContextGate<ReceiveBatch*>& gate) {
  const bool is_shared = batch->source.is_shared();
  const SharedQueue* const shared = contexts.find_shared(batch->source);
  const QpConfig* const qp = is_shared ? nullptr : contexts.find_qp(batch->qpn);
  if (batch->unreadable || (is_shared ? !shared : !qp)) return;
  const u32 stride = (is_shared ? shared->wqes : qp->rq).stride();
  const u32 most = (stride - kReceiveWqeBytes) / kSgeBytes;
  for (u32 i = 0; i < batch->count; ++i) {
    const u8* bytes = batch->wqes.data() + i * stride;
    need_sges(contexts, bytes + kReceiveWqeBytes,
              std::min<u32>(decode<ReceiveWqe>(bytes).sge_count, most), gate);
  }
}

// A response without a waiting message needs nothing: it is dropped.
void note_response(const device::Contexts& contexts, const Acknowledgement& response,
                   ContextGate<Acknowledgement>& gate) {
  const SendState& s = contexts.send_of(response.qpn);
  const auto need = [&](u32 index) {
    gate.need(ContextKind::Wqe, wqe_number(response.qpn, index));
  };
  if (response.packet && response::awaits_response(s))
    for (u32 index = s.awaited; index != s.started; ++index) {
      const SentMessage& m = contexts.message(contexts.connection_of(response.qpn), index);
      if (!has_response(m.answer) || psns_between(m.first_psn, response.psn) >= m.packets) continue;
      need(index);
      break;
    }
  if (!gate.cache().looks_up_acknowledged() || !s.is_outstanding(response.psn)) return;
  // The earlier ones are in the gate already, or were.
  u32& next = gate.acknowledged(response.qpn);
  if (next - s.completed > s.started - s.completed) next = s.completed;
  // A NAK acknowledges everything before its PSN.
  const u32 not_acked = syndrome_kind(response.syndrome) == SyndromeKind::Ack ? 0 : 1;
  for (; next != s.started; ++next) {
    const SentMessage& m = contexts.message(contexts.connection_of(response.qpn), next);
    const u32 behind = psns_between(m.first_psn, response.psn);
    if (behind >= kPsnWindow || behind + 1 < m.packets + not_acked) return;
    if (!has_response(m.answer)) need(next);
  }
}

void note_completion(const device::Contexts&, const Completed& completed,
                     ContextGate<Completed>& gate) {
  if (completed.cqn != kNoCq) gate.need(ContextKind::Cq, completed.cqn);
}
}  // namespace hca::blocks
