// SPDX-License-Identifier: Apache-2.0
// The effect of a judged request on the responder's state, and its answer (G2, G3, G5 to G8, G14).
#pragma once
#include <utility>

#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/syndrome.h"

namespace hca::proto {
// The effect of a request on the responder's state, and the values that the later stages need.
struct RequestEffect {
  u64 va = 0;  // WRITE: destination of the payload; READ, ATOMIC: address to read
  u32 rkey = 0;
  u32 receive_wqe = 0;  // the WQE that it takes or belongs to
  u32 byte_len = 0;     // WRITE with Immediate: DMALen of the message; READ: requested bytes
  u32 ack_psn = 0, msn = 0;
  u32 packets = 0;        // READ: packets of its response; 0: a duplicate that requests too many
  u32 free_receives = 0;  // free receive WQEs: the credits of the answer
  u32 rq_posted = 0;      // unreliable services: value on arrival
  bool unreliable = false;
  bool takes_shared = false;  // it took a WQE of its SRQ
  bool completes_message = false;
  bool congested = false;  // G26.1: the next answer has BECN 1
  // For a datagram: the values of its LRH, and whether its network header precedes its payload.
  u8 sl = 0;
  bool has_header = false;
  u16 slid = 0;
};

static_assert(sizeof(RequestEffect) == 48);

namespace request {
// READ, ATOMIC and similar requests, new or repeated: the memory to read, write or flush. Only a
// new one changes the state.
[[gnu::noinline]] inline void accept_read(ReceiveState& s, const ParsedPacket& packet, u32 path_mtu,
                                          bool is_new, RequestEffect& e) {
  const bool reads = packet.opcode->traits().answer == Answer::Read;
  const RemoteBytes named = remote_bytes(packet);
  e.va = named.va;
  e.rkey = remote_key(packet);
  e.byte_len = u32(named.bytes);
  e.packets = reads ? psns_of(e.byte_len, path_mtu) : 1;
  if (packet.has(Ext::Eoeth) && !extended::good_range(packet)) e.packets = 0;
  if (!is_new) return;
  s.epsn = psn_add(s.epsn, e.packets);  // G2.2
  s.msn = psn_add(s.msn, 1);            // G5.2
  s.nak_sent = false;
  ++s.reads_accepted;
}
// A RESYNC is no message: the MSN does not count it (G5.2).
inline bool is_new_resync(const ParsedPacket& packet, const RequestVerdict& v) {
  return v.action == RequestAction::Execute && packet.opcode->operation == Operation::Resync;
}
// A packet of a WRITE or PUT: its destination starts at the end of the previous packet.
inline void accept_write(ReceiveState& s, const ParsedPacket& packet, RequestEffect& e) {
  if (packet.opcode->has(Ext::Reth) && begins_message(packet.opcode->position)) {
    s.write_va = packet.reth.va;
    s.write_rkey = packet.reth.rkey;
    s.write_left = packet.reth.dma_len;
    s.write_bytes = packet.reth.dma_len;
  }
  e.va = s.write_va;
  e.rkey = s.write_rkey;
  e.byte_len = s.write_bytes;
  s.write_left -= packet.payload_bytes;
  s.write_va += packet.payload_bytes;
}
}  // namespace request

// T15-COMM_EST: true once, for the first packet that a queue pair in RTR takes.
inline bool take_established(ReceiveState& s) { return !std::exchange(s.established, true); }

// The same without answers (G14.2): later packets are judged by their own PSN. take_receive() takes
// receive WQEs afterwards.
[[gnu::noinline]] inline RequestEffect apply_unreliable(ReceiveState& s, const ParsedPacket& packet,
                                                        const RequestVerdict& v) {
  RequestEffect e;
  e.unreliable = true;
  e.rq_posted = s.rq_posted;
  if (v.action == RequestAction::Drop) return e;
  if (packet.opcode && packet.has(Ext::Deth)) {  // G15.1: its PSN has no meaning
    s.failing |= v.action == RequestAction::Fail;
    e.completes_message = v.action == RequestAction::Execute;
    return e;
  }
  s.epsn = packet.bth.psn;
  s.failing |= v.action == RequestAction::Fail;
  if (s.failing) return e;  // the message in progress may hold a WQE of an SRQ
  s.message = InMessage::None;
  s.epsn = psn_add(s.epsn, 1);
  if (v.action != RequestAction::Execute) return e;
  const OpcodeRow& row = *packet.opcode;
  if (row.traits().places_payload()) request::accept_write(s, packet, e);
  e.completes_message = ends_message(row.position);
  if (!e.completes_message) s.message = row.traits().message;
  return e;
}

// G14.4: only the last packet of a message consumes a receive WQE. `e`: of a packet that is
// executed.
inline void take_receive(ReceiveState& s, const ParsedPacket& packet, RequestEffect& e) {
  e.receive_wqe = s.rq_consumed;
  const OpcodeRow& row = *packet.opcode;
  s.rq_consumed += e.completes_message && row.ends_receive();
}

// Applies a verdict (G2.2, G2.3, G5.2) and fills `e` with its effect.
inline void apply(ReceiveState& s, const ParsedPacket& packet, const QpConfig& qp,
                  const RequestVerdict& v, RequestEffect& e) {
  if (!qp.reliable) [[unlikely]] {
    e = apply_unreliable(s, packet, v);
    return;
  }
  e = {};  // in place: not copied out of half-written cache lines
  e.ack_psn = packet.bth.psn;
  e.congested =
      packet.bth.fecn && v.action != RequestAction::Drop && (qp.options.congestion_control);
  const bool reads = packet.opcode && packet.opcode->traits().is_saved();
  if (reads && (v.action == RequestAction::Execute || v.action == RequestAction::Repeat)) {
    request::accept_read(s, packet, qp.path_mtu, v.action == RequestAction::Execute, e);
  } else if (request::is_new_resync(packet, v)) [[unlikely]] {
    s.epsn = psn_add(packet.bth.psn, 1);  // RSY-2
    s.message = InMessage::None;
    s.nak_sent = false;
    e.completes_message = true;
  } else if (v.action == RequestAction::Execute) [[likely]] {
    const OpcodeRow& row = *packet.opcode;
    const bool last = ends_message(row.position);
    if (row.traits().places_payload()) request::accept_write(s, packet, e);
    if (request::takes_receive_wqe(row)) ++s.rq_consumed;
    s.message = last ? InMessage::None : row.traits().message;
    s.epsn = psn_add(s.epsn, 1);
    s.nak_sent = false;
    if (last) s.msn = (s.msn + 1) & kPsnMask;
    e.completes_message = last;
  } else if (v.action == RequestAction::Acknowledge) {
    e.ack_psn = psn_sub(s.epsn, 1);  // ePSN - 1 (G3.1)
  } else if (v.cause == RequestCause::PsnAhead) {
    e.ack_psn = s.epsn;  // G7.1
    s.nak_sent = true;
  } else if (v.action == RequestAction::RnrNak) {
    s.nak_sent = qp.options.gap_after_rnr == GapAfterRnr::Drop;  // G2.5
  }
  s.failing |= v.action == RequestAction::NakAndFail;
  if (qp.side == QpSide::EeContext) [[unlikely]] {
    s.failing = false;  // class A: the queue pair alone fails
    s.nak_sent |= is_nak(v.action);
  }
  e.receive_wqe = s.rq_consumed - 1;
  e.free_receives = s.rq_posted - s.rq_consumed;
  e.msn = s.msn;
}
inline RequestEffect apply(ReceiveState& s, const ParsedPacket& packet, const QpConfig& qp,
                           const RequestVerdict& v) {
  RequestEffect e;
  apply(s, packet, qp, v, e);
  return e;
}

// The AETH of the answer (T5). With the option `credits` it advertises the free receive WQEs,
// otherwise credit code 31 (not counted, G6.1).
inline u8 answer_syndrome(const RequestVerdict& v, const RequestEffect& e, const QpConfig& qp) {
  if (v.action == RequestAction::RnrNak) return rnr_syndrome(qp.min_rnr_timer);
  if (is_nak(v.action)) return nak_syndrome(v.nak);
  return ack_syndrome(qp.options.credits ? credit_code(e.free_receives) : kCreditsUnused);
}
}  // namespace hca::proto
