// SPDX-License-Identifier: Apache-2.0
// The requester as pure functions: from a send WQE to packets. Responses are in response_rules.h.
#pragma once
#include <algorithm>

#include "model/proto/interface/work_rows.h"
#include "model/proto/memory/key.h"
#include "model/proto/transport/qp.h"

namespace hca::proto {
// ---- Messages
// READs and ATOMICs that are started, but whose data are not in memory (G29.1).
inline u32 reads_outstanding(const SendState& s) { return s.reads_started - s.reads_placed; }

// T13: the states in which send WQEs are executed, and those in which they are accepted: in Error
// and SQE they are flushed.
inline bool sends(QpState state) { return state == QpState::Rts || state == QpState::Sqd; }
inline bool flushes_sends(QpState state) {
  return state == QpState::Error || state == QpState::Sqe;
}
inline bool takes_sends(QpState state) { return sends(state) || flushes_sends(state); }
// The states in which receive WQEs are accepted.
inline bool takes_receives(QpState state) { return state != QpState::Reset; }

// C9-214: the state after a send WQE that ends in error.
constexpr QpState state_of_failed_sends(Service service, RdSendError option = RdSendError::Sqe) {
  if (service == Service::Rd) return option == RdSendError::Sqe ? QpState::Sqe : QpState::Error;
  return is_reliable(service) ? QpState::Error : QpState::Sqe;
}

// G20.1: in SQD the messages already begun are finished (by an option, those already posted), and
// no other one begins.
inline bool starts_nothing(const QpConfig& qp, const SendState& s) {
  return qp.state == QpState::Sqd && s32(s.started - s.drains_to) >= 0;
}

// True if the peer's receive WQEs are counted (G6); before its first advertisement this depends on
// an option (G6.4).
inline bool is_limited(const SendState& s, const QpConfig& qp) {
  return s.credit == Credit::Limited ||
         (s.credit == Credit::Unknown && qp.options.initial_credits == InitialCredits::One);
}

// The condition that a new message waits for: Window: acknowledgements, because 2^23 PSNs are
// outstanding (G1.4). Reads: one of the READs and ATOMICs in flight (G29.1). Fence: all of them
// (G30.1). Credits: receive WQEs that the peer advertises (G6.3: the message just beyond the limit
// may go).
enum class SendWait : u8 { None, Window, Reads, Fence, Credits };
inline SendWait send_wait(const SendState& s, const QpConfig& qp, const SendWqe& wqe, u32 packets) {
  const WorkRow& row = row_of(wqe);
  if (s.is_full(packets)) return SendWait::Window;
  const u32 outstanding = reads_outstanding(s);
  if (wqe.fence && outstanding > 0) return SendWait::Fence;
  if (has_response(row.answer)) {
    const bool full = outstanding >= u32(qp.max_rd_atomic);
    return full ? SendWait::Reads : SendWait::None;
  }
  if (!row.takes_credit || !is_limited(s, qp)) return SendWait::None;
  const bool beyond = psn_distance(psn_add(s.limit_ssn, 1), psn_add(s.ssn, 1)) > 0;
  return beyond ? SendWait::Credits : SendWait::None;
}
inline bool must_wait(const SendState& s, const QpConfig& qp, const SendWqe& wqe, u32 packets) {
  return send_wait(s, qp, wqe, packets) != SendWait::None;
}
// G6.3, with `credit_probe: first_packet`: a SEND just beyond the limit sends its first packet and
// waits for its acknowledgement. `newest`: no later message was begun.
inline bool may_probe(const QpConfig& qp) {
  return qp.options.credit_probe == CreditProbe::FirstPacket;
}
inline bool probes(const SendState& s, const QpConfig& qp, const SentMessage& m, bool newest) {
  return may_probe(qp) && newest && m.packets > 1 && takes_credit_first(m.opcode) &&
         is_limited(s, qp) && psn_distance(s.limit_ssn, s.ssn) > 0 &&
         psn_distance(m.first_psn, s.unacked_psn) <= 0;
}

// A READ has the PSNs of its responses; a message with one response packet has one PSN (G2.2).
constexpr u32 psns_of_message(const WorkRow& row, u64 bytes, u32 path_mtu) {
  const bool one = has_response(row.answer) && row.answer != Answer::Read;
  return one ? 1 : psns_of(bytes, path_mtu);
}
// `at`: after the control segment.
inline void take_operands(const WorkRow& row, const u8* at, WorkOperands& to) {
  std::memcpy(to.bytes.data(), at, row.segment_bytes());
}
// The bytes of a message as its operands give them; its SGEs do not count then.
inline u64 bytes_of_operands(const WorkRow& row, const WorkOperands& operands) {
  if (row.operands == Operands::None) return 0;
  return row_of(row.operands).message_bytes(operands.bytes.data());
}

// EXT-8: the bytes of its SGEs that the request carries, before those of the response.
inline u32 request_bytes_of(const WorkRow& row, const WorkOperands& operands) {
  if (row.operands != Operands::Get) return 0;
  return decode<GetOperands>(operands.bytes.data()).request_bytes;
}
// Where the response to a message is written, in its SGEs.
constexpr u32 response_offset(const SentMessage& m, u32 offset) { return m.request_bytes + offset; }

// Gives a new message its PSNs (G1.1, G1.2) and its SSN (G5.4); a message without packets gets
// neither. `index`: of its WQE.
inline void begin_message(SentMessage& m, SendState& s, const SendWqe& wqe,
                          const WorkOperands& operands, u32 index, u32 bytes, u32 path_mtu,
                          bool signal_all) {
  const WorkRow& row = row_of(wqe);
  m = {};
  m.request_bytes = u16(request_bytes_of(row, operands));
  m.first_psn = s.next_psn;
  m.bytes = bytes;
  m.opcode = wqe.opcode;
  m.answer = row.answer;
  m.signaled = wqe.signaled || signal_all;
  if (row.is_local()) return;
  m.packets = psns_of_message(row, bytes, path_mtu);
  s.take(m.packets);
  s.ssn = psn_add(s.ssn, 1);
  if (has_response(row.answer)) {
    if (s.reads_started == s.reads_answered) s.awaited = index;
    ++s.reads_started;
  }
  if (!row.takes_credit) s.limit_ssn = psn_add(s.limit_ssn, 1);  // G6.3
}

// G14.1, CQ-8: a message without an answer is done when its last packet is handed to the wire.
inline bool ends_when_sent(const QpConfig& qp) { return !qp.reliable; }

// ---- Packets
// Packet `index` of a message: opcode by length and position (SEND-5 to SEND-8, WRITE-5, WRITE-6),
// its part of the data. A READ is one packet that requests everything from PSN `index` of its
// answer on (G11.5).
struct PacketPlan {
  const OpcodeRow* row;
  PsnRange psns;
  u32 offset;    // in its message
  u32 bytes;     // of its payload
  u32 executed;  // Offset of its EOETH
  bool ack_requested, solicited, last;
};
inline Position position_of(bool first, bool last) {
  if (first) return last ? Position::Only : Position::First;
  return last ? Position::Last : Position::Middle;
}
// EXT-5: what was executed before a packet, as its EOETH reports it.
inline u32 executed_before(const QpConfig& qp, const OpcodeRow& row, u32 offset) {
  if (!row.has(Ext::Eoeth)) return 0;
  const bool rest =
      row.operation == Operation::Get && qp.options.extended_retry == ExtendedRetry::Rest;
  return rest ? 0 : offset;
}
inline PacketPlan plan_packet(const QpConfig& qp, const SendWqe& wqe, const SentMessage& m,
                              u32 index) {
  const WorkRow& work = row_of(wqe);
  const bool reads = work.answer == Answer::Read;
  const bool first = index == 0;
  const bool last = reads || index + 1 == m.packets;
  const u8 operation = first ? (last ? work.only : work.first) : (last ? work.last : work.middle);
  const u32 offset = index * qp.path_mtu;
  const u32 bytes = last ? m.bytes - offset : qp.path_mtu;
  const PsnRange psns = psns_of_packet(m.first_psn, m.packets, index, reads);
  const OpcodeRow* of_code = opcode_row(u8(u8(qp.service) << 5 | operation));
  const OpcodeRow& row = built_row(*of_code, reads ? Position::Only : position_of(first, last));
  const u32 payload = reads ? m.request_bytes : work.sends_payload() ? bytes : 0;
  return {&row, psns, offset, payload, executed_before(qp, row, offset),
          // G4.5: the last packet requests the ACK, if the service has ACKs (G14.1)
          last && qp.reliable, last && wqe.solicited && work.solicitable, last};
}

// The BTH and the extension headers of a planned packet.
// A of a BTH that is encoded.
inline constexpr u32 kAckRequestByte = 8;
inline constexpr u8 kAckRequestBit = 0x80;
inline Bth request_bth(const QpConfig& qp, const PacketPlan& plan) {
  Bth bth{};
  bth.opcode = plan.row->code;
  bth.solicited = plan.solicited;
  bth.mig_req = sends_migrated(qp);
  bth.pkey = qp.pkey;
  bth.dest_qp = qp.dest_qpn;
  bth.ack_req = plan.ack_requested;
  bth.psn = plan.psns.first;
  return bth;
}
// EXT-2, EXT-4: after the RETH; only a GET has a response with data.
inline void extended_header(ExtHeaders& ext, const PacketPlan& plan) {
  const u32 response = plan.row->operation == Operation::Get ? ext.reth.dma_len : 0;
  ext.eoeth = {extended_opcode_of(*plan.row), response, plan.executed};
}
inline void request_headers(ExtHeaders& ext, const SendWqe& wqe, const WorkOperands& operands,
                            const SentMessage& m, const PacketPlan& plan) {
  ext.imm_dt = {wqe.immediate};
  ext.ieth = {wqe.immediate};
  ext.xrc_eth = {wqe.remote_srqn};
  if (plan.row->has(Ext::AtomicEth)) {
    ext.atomic_eth.va = wqe.remote_va;
    ext.atomic_eth.rkey = wqe.rkey;
  } else {  // only the first packet of a WRITE has it
    const u32 done = plan.offset - plan.executed;
    ext.reth = {wqe.remote_va + done, wqe.rkey, m.bytes - done};
  }
  if (plan.row->has(Ext::Eoeth)) extended_header(ext, plan);
  const Operands kind = row_of(wqe).operands;
  if (kind != Operands::None) row_of(kind).put_in(operands.bytes.data(), ext);
}
// The headers of a datagram, from the address handle in its WQE (PSR-18, G15.2).
inline void address_datagram(Bth& bth, ExtHeaders& ext, const QpConfig& qp,
                             const AddressHandle& ah) {
  bth.dest_qp = ah.dest_qpn;
  ext.deth.qkey = qkey_to_send(ah.qkey, own_qkey(qp));
  ext.deth.src_qp = qp.qpn;
}
}  // namespace hca::proto
