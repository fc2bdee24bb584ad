// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/request_execution.h"

#include <utility>

#include "model/proto/wire/datagram.h"

namespace hca::blocks {
using namespace proto;

void RequestExecution::drop_after_failure(Packet* p, const ResponderQueue& q) {
  const QpConfig& qp = contexts_.qps[p->qpn];
  counts_.drop(qp.port, &DropCounters::bad_qp_state);
  if (p->effect.takes_shared && qp.state != QpState::Reset) parts_.flush.lose(*p, q);
  PacketPool::give_back(p);
}

[[gnu::hot]] void RequestExecution::carry_out(Packet* p, ResponderQueue& q) {
  if (device::is_ee(p->qpn) && !parts_.rd.take_up(p, q)) [[unlikely]]
    return;
  const RequestAction action = p->verdict.action;
  const bool executes = action == RequestAction::Execute || action == RequestAction::Repeat;
  if (action == RequestAction::Abandon) [[unlikely]]
    return parts_.unreliable.end_broken(p, q);
  if (!executes) [[unlikely]]
    return answer_refusal(p, q);
  if (p->effect.unreliable && !goes_on(p, q)) [[unlikely]]
    return;
  if (p->parsed.opcode->traits().is_saved()) return execute_read(p, q);
  if (p->parsed.opcode->traits().places_payload()) return execute_write(p, q);
  if (p->parsed.opcode->operation == Operation::Resync) [[unlikely]]
    return parts_.rd.resync(p, q);
  if (!execute_send(p, q)) {
    parts_.parked.park(p, q);
    q.wqe_since = now();
  }
}

// Executes a duplicate, a NAK or an RNR NAK.
void RequestExecution::answer_refusal(Packet* p, ResponderQueue& q) {
  parts_.stage.enter(*p, 0);
  if (device::is_ee(p->qpn)) [[unlikely]]
    return parts_.rd.answer_refusal(p, q);
  const RequestVerdict& v = p->verdict;
  if (is_refusal(v.action)) counts_.add(contexts_.qps[p->qpn], v.cause);
  if (v.action == RequestAction::Acknowledge) {
    parts_.outcomes.retire_ack(*p, true, 0);
    return PacketPool::give_back(p);
  }
  Outcome& outcome = parts_.outcomes.retire(*p);
  outcome.replies = p->verdict.action != RequestAction::Fail;
  if (p->verdict.action == RequestAction::NakAndFail || p->verdict.action == RequestAction::Fail) {
    const FailureRow failure = failure_of(p->verdict.cause);
    // The request came far enough to take a WQE of its own (T11).
    const bool takes = failure_takes_receive_wqe(contexts_.qps[p->qpn], p->parsed, p->verdict);
    if (takes) {  // responder_check did not take that WQE
      const u32 own = p->effect.receive_wqe + 1;
      outcome.completed.cqe.wqe_index = u16(own);
      q.next_wqe = own + 1;
    }
    const bool held = std::exchange(q.wqe_open, false);
    if (held) complete_to(outcome.completed, p->qpn, q.open_source);
    outcome.completes = held || takes;
    outcome.completed.cqe.opcode = CqeOpcode::Receive;
    outcome.completed.cqe.status = failure.status;
    outcome.fails = q.failed = true;
    const bool raises = !outcome.completes || tells_failure_twice(qp_of(*p));
    outcome.fault = fault_of(*p, raises, failure.event);
  }
  PacketPool::give_back(p);
}

namespace {
// A frame that is cut holds its payload up to the same byte as before.
void prepend_network(Packet& p) {
  const u32 held = p.piece(p.parsed.payload_offset, p.parsed.payload_bytes).held;
  const u32 moves = prepend_header(p.frame(), held, p.parsed, p.effect);
  if (p.is_cut()) p.held += moves;
}
}  // namespace

// Takes up a request of a service without answers. False: it ends here.
bool RequestExecution::goes_on(Packet* p, ResponderQueue& q) {
  if (!parts_.unreliable.take_up(p, q)) return false;
  if (parts_.unreliable.lacks_wqe(*p, q)) {
    refuse(p, kNoReceiveWqe);
    return false;
  }
  if (p->parsed.has(Ext::Deth) && !p->effect.has_header) prepend_network(*p);
  return true;
}

inline void RequestExecution::execute_write(Packet* p, ResponderQueue& q) {
  ++counters_.writes;
  const Cycle entered = parts_.stage.enter(*p, p->effect.rkey);
  const u32 bytes = p->parsed.payload_bytes;
  if (request::takes_receive_wqe(*p->parsed.opcode) && q.source == p->receive_queue) {
    q.next_wqe = p->effect.receive_wqe + 1;
    q.posted = later_index(q.posted, q.next_wqe);  // its doorbell may still be in flight
  }
  if (!bytes) return finish(p, false);
  const Region* region = parts_.protection.find(p->effect.rkey);
  // The whole message was checked with its first packet; its key may have been invalidated since
  // (G22.5).
  if (check_access(region, p->effect.rkey, accessor_of(*p), p->effect.va, bytes, kRemoteWrite) !=
      AccessFault::None)
    return refuse(p, kKeyGone);
  const bool placed = region->pages
                          ? parts_.payload.begin_paged(p, *region, entered)
                          : parts_.payload.begin(p, region->translate(p->effect.va), entered);
  if (placed) [[likely]]
    finish(p, true);
}

// False: its receive WQE is not here yet.
bool RequestExecution::execute_send(Packet* p, ResponderQueue& q) {
  const u32 index = p->effect.receive_wqe;
  if (begins_message(p->parsed.opcode->position)) {
    const u8* wqe = parts_.receive_wqes.wqe(p->qpn, q, p->receive_queue, index);
    if (!wqe) return false;
    if (q.current->unreadable) [[unlikely]] {  // the WQE is not taken: all are flushed
      q.wqe_open = false;
      q.next_wqe = index + p->effect.takes_shared;
      refuse(p, kUnreadableReceiveWqe);
      return true;
    }
    if (!open_wqe(p, q, wqe)) {
      refuse(p, kBadReceiveWqe);
      return true;
    }
  }
  place_send(p, q);
  return true;
}

// False: the WQE is invalid.
inline bool RequestExecution::open_wqe(Packet* p, ResponderQueue& q, const u8* wqe) {
  const u32 index = p->effect.receive_wqe;
  const auto header = decode<ReceiveWqe>(wqe);
  q.scatter = {wqe + kReceiveWqeBytes, header.sge_count};
  q.placed = 0;
  q.wqe_open = true;
  q.open_wqe = index;
  q.open_source = p->receive_queue;
  const u32 room = contexts_.ring_of(qp_of(*p), p->receive_queue).stride() - kReceiveWqeBytes;
  return header.index == u16(index) && header.sge_count * kSgeBytes <= room;
}

inline void RequestExecution::place_send(Packet* p, ResponderQueue& q) {
  const u32 bytes = p->parsed.payload_bytes;
  ++counters_.sends;
  const Cycle entered = parts_.stage.enter(*p, 0);
  if (!bytes) return finish(p, false);
  const WcStatus fits = parts_.payload.judge_scatter(p->qpn, q, bytes);
  if (fits == WcStatus::LocLenErr) return refuse(p, kReceiveTooShort);
  if (fits != WcStatus::Success) return refuse(p, kReceiveProtection);
  q.placed += bytes;
  if (parts_.payload.begin_scattered(p, q.scatter, entered)) finish(p, true);
}

namespace {
// Returns the first byte to access. A FLUSH reads after all earlier writes: the last byte of its
// range, or the first byte of its region.
RemoteBytes first_access(const ParsedPacket& packet, const Region* region) {
  RemoteBytes named = remote_bytes(packet);
  if (!packet.has(Ext::Feth)) return named;
  if (names_whole_region(packet)) return {region ? region->start : 0, region && region->bytes};
  return {named.va + named.bytes - 1, named.bytes};
}
}  // namespace

// A READ, an ATOMIC and the like wait for their turn among the answers of their queue pair.
void RequestExecution::execute_read(Packet* p, ResponderQueue& q) {
  parts_.stage.enter(*p, p->effect.rkey);
  const bool repeats = p->verdict.action == RequestAction::Repeat;
  if (repeats && parts_.outcomes.is_full()) {
    ++counters_.crowded_out;
    return PacketPool::give_back(p);
  }
  const Region* region = parts_.protection.find(p->effect.rkey);
  const QpConfig& qp = contexts_.qps[p->qpn];
  const bool good = key_allows(region, p->effect, accessor_of(*p), p->parsed);
  // The key was invalidated after the request was judged; for a duplicate ATOMIC it does not matter
  // (ATOM-27).
  const bool reads = p->parsed.opcode->traits().answer == Answer::Read;
  if (repeats ? reads && refuses_repeated_read(qp, good) : !good) {
    refuse(p, kKeyGone);
    q.last->fault.refused = !repeats;  // a duplicate leaves ePSN and MSN unchanged (G3.5)
    return;
  }
  Outcome& outcome = parts_.outcomes.retire(*p);
  outcome.kind = reads ? OutcomeKind::Read : OutcomeKind::Atomic;
  outcome.repeats = repeats;
  outcome.key_good = good;
  outcome.effect = p->effect;
  outcome.opcode = p->parsed.opcode;
  if (!reads) {
    outcome.operands = atomic_operands(p->parsed, p->frame());
    q.atomics += !repeats;
  }
  if (const RemoteBytes at = first_access(p->parsed, region); good && at.bytes) {
    outcome.address = region->translate(at.va);
    parts_.outcomes.begin_access(outcome, *region);
  }
  PacketPool::give_back(p);
}

Fault RequestExecution::fault_of(const Packet& p, bool raise, EventType event) {
  const bool is_datagram = p.parsed.opcode && p.parsed.has(Ext::Deth);
  return {.qpn = p.qpn,
          .raise = raise,
          .event = event,
          .wqe_index = names_receive_wqe(p.verdict.cause) ? u16(p.effect.receive_wqe) : u16{0},
          .refused = !is_datagram,  // a datagram's PSN has no meaning
          .psn = p.psn,
          .msn = p.effect.msn};
}

// In a service without answers only the message ends.
bool RequestExecution::ends_silently(Packet* p, ResponderQueue& q, RequestCause cause) {
  if (!is_silent(p->verdict.action)) return false;
  const bool takes = request::takes_receive_wqe(*p->parsed.opcode);
  if (p->receive_queue.is_shared()) {
    if (takes || q.wqe_open) parts_.unreliable.end_shared(*p, q, status_of_abandoned(cause));
  } else if (takes) {
    q.next_wqe = p->effect.receive_wqe;
    q.wqe_open = false;
  }
  parts_.unreliable.abandon(p, q);
  return true;
}

// Handles an error found while a request is executed: class A or C, the queue pair fails; in a
// service without answers the message ends.
void RequestExecution::refuse(Packet* p, const RequestVerdict& verdict) {
  ResponderQueue& q = queues_[p->qpn];
  const bool counted =
      p->effect.completes_message ||
      (p->verdict.action == RequestAction::Execute && p->parsed.opcode->traits().is_saved());
  p->verdict = on_service(verdict, contexts_.qps[p->qpn].service);
  if (device::is_ee(p->qpn)) [[unlikely]]
    return parts_.rd.refuse(p, q, counted);
  if (ends_silently(p, q, verdict.cause)) return;
  ++counters_.failed;
  counts_.add(contexts_.qps[p->qpn], verdict.cause);
  const bool answers = p->verdict.action == RequestAction::NakAndFail;
  // The NAKed message does not count (G5.3).
  if (answers) p->effect.msn = psn_sub(p->effect.msn, counted);
  q.failed = true;
  const FailureRow failure = failure_of(verdict.cause);
  Outcome& outcome = parts_.outcomes.retire(*p);
  outcome.replies = answers;
  outcome.fails = true;
  const bool held = std::exchange(q.wqe_open, false);
  if (held) complete_to(outcome.completed, p->qpn, q.open_source);
  outcome.completes =
      held || (p->parsed.opcode->has(Ext::ImmDt) && verdict.cause == RequestCause::BadRkey);
  outcome.completed.cqe.opcode = CqeOpcode::Receive;
  outcome.completed.cqe.status = failure.status;
  const bool raises = !outcome.completes || tells_failure_twice(qp_of(*p));
  outcome.fault = fault_of(*p, raises, failure.event);
  outcome.fault.rolls_back = outcome.fault.refused;
  if (p->effect.takes_shared && verdict.cause == RequestCause::UnreadableReceiveWqe)
    outcome.fault.failed_queue = p->receive_queue;
  PacketPool::give_back(p);
}

// All writes of an executed request are requested (`has_payload`), or it has none.
void RequestExecution::finish(Packet* p, bool has_payload) {
  if (p->effect.congested) [[unlikely]]
    queues_[p->qpn].owes_becn = true;
  if (p->parsed.bth.ack_req || p->effect.completes_message) answer_or_complete(*p, has_payload);
  if (!has_payload) PacketPool::give_back(p);
}

// Answers or completes an executed request: the last of its message or one with AckReq.
void RequestExecution::answer_or_complete(const Packet& p, bool has_payload) {
  const OpcodeRow& row = *p.parsed.opcode;
  const bool last = p.effect.completes_message, completes = last && makes_receive_cqe(row);
  if (last && row.operation == Operation::Send) queues_[p.qpn].wqe_open = false;
  if (!p.parsed.bth.ack_req && !completes && !has_payload) return;
  if (!completes && !row.has(Ext::Ieth))
    return parts_.outcomes.retire_ack(p, p.parsed.bth.ack_req, has_payload);
  Outcome& outcome = parts_.outcomes.retire(p);
  outcome.replies = p.parsed.bth.ack_req;
  outcome.completes = completes;
  outcome.waits = has_payload;
  if (completes) complete(p, queues_[p.qpn], outcome);
  if (row.has(Ext::Ieth)) {
    ++queues_[p.qpn].invalidates;
    outcome.fault = {
        .qpn = p.qpn, .invalidate = p.parsed.ieth.rkey, .life = p.life, .fails = false};
  }
}

void RequestExecution::complete(const Packet& p, const ResponderQueue& q, Outcome& outcome) {
  const OpcodeRow& row = *p.parsed.opcode;
  if (p.effect.unreliable) [[unlikely]]
    parts_.unreliable.complete(p, q, outcome.completed.cqe);
  const bool send = row.operation == Operation::Send;
  Cqe& cqe = outcome.completed.cqe;
  cqe.opcode = send ? CqeOpcode::Receive : CqeOpcode::ReceiveRdmaImmediate;
  cqe.byte_len = send ? q.placed : p.effect.byte_len;
  cqe.with_immediate = row.has(Ext::ImmDt);
  cqe.with_invalidate = row.has(Ext::Ieth);
  if (cqe.with_immediate) cqe.immediate = p.parsed.imm_dt.data;
  if (cqe.with_invalidate) cqe.immediate = p.parsed.ieth.rkey;
  cqe.solicited = p.parsed.bth.solicited;
}
}  // namespace hca::blocks
