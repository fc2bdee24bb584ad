// SPDX-License-Identifier: Apache-2.0
// Requests in their order. Receive queues are in responder_receive_queue.cpp.
#include "model/blocks/receive/responder_execute/responder_execute.h"

#include <algorithm>

namespace hca::blocks {
using namespace proto;

// What is under way for the ports.
inline void ResponderExecute::serve_ports() {
  if (packets_in.count() > 1) [[unlikely]]
    return serve_several();
  Side& only = sides[0];
  if (only.responses_in.can_pop()) [[unlikely]]
    forward_response(only);
  if (atomic_marks_) [[unlikely]]
    finish_atomics();
  if (!only.settling.empty() && settle(only) && !only.settling.empty()) [[unlikely]]
    wake_at(now() + 1);
  if (!only.reads.empty() && ask_response(only) && !only.reads.empty()) [[unlikely]]
    wake_at(now() + 1);
  if (!atomics_.empty()) [[unlikely]]
    start_atomics();
  if (!only.tells.empty()) [[unlikely]]
    tell_credits(only.tells);
}

[[gnu::hot]] void ResponderExecute::tick() {
  if (pending_) [[unlikely]]
    take_news();
  if (!placing_ || next_piece()) {
    if (!fetches_.empty()) [[unlikely]]
      fetch_batches();
    if (!placing_) take();
  }
  serve_ports();
  if (!placing_ && (!flushes_.empty() || !lost_.empty())) [[unlikely]]
    flush();
}

// Doorbells, receive WQEs, and that data are ordered: what is not there for most requests.
void ResponderExecute::take_news() {
  if (ReceiveBellLink& link = bells_in.next(); link.can_pop())
    ring(link.pop()), bells_in.pass_turn(link, now());
  if (batches_in.can_pop()) accept_batch(batches_in.pop());
  if (ordered_in.can_pop()) {
    const Ordered ordered = ordered_in.pop();
    Queue& q = queues_[ordered.qpn];
    if (ordered.life == q.life) ++q.ordered, list(ordered.qpn, q);
  }
  pending_ = !bells_in.empty() || !batches_in.empty() || !ordered_in.empty();
}

void ResponderExecute::serve_several() {
  for (Side& side : sides)
    if (side.responses_in.can_pop()) forward_response(side);
  if (atomic_marks_) finish_atomics();
  const unsigned count = packets_in.count();
  const bool settled =
      serve_in_turn(count, settle_turn_, [&](unsigned i) { return settle(sides[i]); });
  const bool asked = serve_in_turn(count, read_turn_, [&](unsigned i) {
    return !sides[i].reads.empty() && ask_response(sides[i]);
  });
  if (settled || asked) wake_at(now() + 1);
  if (!atomics_.empty()) start_atomics();
  for (Side& side : sides) tell_credits(side.tells);
}

inline Packet* ResponderExecute::next_request() {
  if (engines_.limit()) [[unlikely]]
    return next_of_engines();
  PacketLink& link = packets_in.next();
  if (!link.can_pop()) return nullptr;
  Packet* p = link.pop();
  packets_in.pass_turn(link, now());
  return p;
}

// The next request: those whose receive WQE has come go first.
inline void ResponderExecute::take() {
  if (now() < next_packet_) return wake_at(next_packet_);
  if (!ports.payload_out->can_push()) return;
  bool unparked = false;
  while (!unparked && !unparks_.empty()) [[unlikely]] unparked = unpark();
  if (!unparked) {
    if (parked_ >= config_.parking || in_flight_ >= config_.outcomes) return hold_request(true);
    if (request_held_.what) [[unlikely]]
      hold_request(false);
    Packet* p = next_request();
    if (!p) return;
    Queue& q = queues_[p->qpn];
    p->life = q.life;
    const QpState state = contexts_.qps[p->qpn].state;
    q.taken += p->effect.takes_shared && state != QpState::Reset;
    if (q.failed || !takes_requests(state)) [[unlikely]]
      return drop_behind_failure(p, q);
    if (q.parked_head || ((q.atomics | q.invalidates) && waits_for_earlier(*p, q))) [[unlikely]]
      return park(p, q);
    carry_out(p, q);
  }
  next_packet_ = now() + config_.interval;
  if (packets_in.can_pop() || !unparks_.empty() || (unparked && engines_have_work()))
    wake_at(next_packet_);
}

// G7.4; nor is a request that was judged in front of a reset executed behind it (T13).
void ResponderExecute::drop_behind_failure(Packet* p, const Queue& q) {
  const QpConfig& qp = contexts_.qps[p->qpn];
  counts_.drop(qp.port, &DropCounters::bad_qp_state);
  if (p->effect.takes_shared && qp.state != QpState::Reset) lose(*p, q);
  PacketPool::give_back(p);
}

void ResponderExecute::process(Packet* p, Queue& q) { carry_out(p, q); }

inline void ResponderExecute::carry_out(Packet* p, Queue& q) {
  const RequestAction action = p->verdict.action;
  const bool executes = action == RequestAction::Execute || action == RequestAction::Repeat;
  if (action == RequestAction::Abandon) [[unlikely]]
    return end_broken(p, q);
  if (!executes) [[unlikely]]
    return answer_refusal(p, q);
  if (p->effect.unreliable && !goes_on(p, q)) [[unlikely]]
    return;
  if (p->parsed.opcode->traits().is_saved()) return execute_read(p);
  if (p->parsed.opcode->operation == Operation::Write) return execute_write(p, q);
  if (!execute_send(p, q)) park(p, q), q.wqe_since = now();
}

// A duplicate, a NAK or an RNR NAK.
void ResponderExecute::answer_refusal(Packet* p, Queue& q) {
  enter(p, 0);
  const RequestVerdict& v = p->verdict;
  if (is_refusal(v.action)) counts_.add(contexts_.qps[p->qpn], v.cause);
  Outcome& outcome = retire(*p);
  outcome.replies = p->verdict.action != RequestAction::Fail;
  if (p->verdict.action == RequestAction::NakAndFail || p->verdict.action == RequestAction::Fail) {
    const FailureRow failure = failure_of(p->verdict.cause);
    // The packet came so far as to take a WQE of its own (T11).
    const bool takes = failure_takes_receive_wqe(contexts_.qps[p->qpn], p->parsed, p->verdict);
    if (takes) {  // which responder_check left where it was
      const u32 own = p->effect.receive_wqe + 1;
      outcome.completed.cqe.wqe_index = u16(own), q.next_wqe = own + 1;
    }
    outcome.completes = std::exchange(q.wqe_open, false) || takes;
    outcome.completed.cqe.opcode = CqeOpcode::Receive;
    outcome.completed.cqe.status = failure.status;
    outcome.fails = q.failed = true;
    outcome.fault = fault_of(*p, !outcome.completes, failure.event);
  }
  PacketPool::give_back(p);
}

// The cycle in which a request's first write may be asked for.
inline Cycle ResponderExecute::enter(Packet* p, u32 key) {
  enters_ = stage_.enter(protection_.look_up(protection_.execute, now(), key));
  probe.event(enters_, Step::Passed, p->qpn, p->psn);
  return enters_;
}

inline void ResponderExecute::execute_write(Packet* p, Queue& q) {
  ++counters.writes;
  enter(p, p->effect.rkey);
  const u32 bytes = p->parsed.payload_bytes;
  if (request::takes_receive_wqe(*p->parsed.opcode)) {
    q.next_wqe = p->effect.receive_wqe + 1;
    q.posted = later_index(q.posted, q.next_wqe);  // its doorbell may still be on the way
  }
  if (!bytes) return finish(p, false);
  const Region* region = protection_.find(p->effect.rkey);
  // The whole message was checked with its first packet; the key may be gone since (G22.5).
  if (check_access(region, p->effect.rkey, accessor_of(contexts_.qps[p->qpn]), p->effect.va, bytes,
                   kRemoteWrite) != AccessFault::None)
    return refuse(p, kKeyGone);
  if (region->pages) [[unlikely]]
    return begin_paged(p, *region);
  plain_ = true, address_ = region->translate(p->effect.va);
  begin_pieces(p);
}

// False: its receive WQE is not here yet.
bool ResponderExecute::execute_send(Packet* p, Queue& q) {
  const u32 index = p->effect.receive_wqe, bytes = p->parsed.payload_bytes;
  if (begins_message(p->parsed.opcode->position)) {
    const u8* wqe = receive_wqe(p->qpn, q, index);
    if (!wqe) return false;
    if (q.current->unreadable) [[unlikely]] {  // it is not taken: all are flushed
      q.wqe_open = false;
      q.next_wqe = index + p->effect.takes_shared;
      return refuse(p, kUnreadableReceiveWqe), true;
    }
    const auto header = decode<ReceiveWqe>(wqe);
    q.scatter = {wqe + kReceiveWqeBytes, header.sge_count};
    q.placed = 0;
    q.wqe_open = true, q.open_wqe = index;
    const u32 room = contexts_.qps[p->qpn].rq.stride() - kReceiveWqeBytes;
    if (header.index != u16(index) || header.sge_count * kSgeBytes > room)
      return refuse(p, kBadReceiveWqe), true;
  }
  ++counters.sends;
  enter(p, 0);
  if (!bytes) return finish(p, false), true;
  const WcStatus fits = judge_scatter(p->qpn, q, bytes);
  if (fits == WcStatus::LocLenErr) return refuse(p, kReceiveTooShort), true;
  if (fits != WcStatus::Success) return refuse(p, kReceiveProtection), true;
  q.placed += bytes;
  begin_scattered(p, q.scatter);
  return true;
}

void ResponderExecute::begin_pieces(Packet* p) {
  placing_ = p, left_ = p->parsed.payload_bytes, done_ = 0;
  if (!next_piece()) [[unlikely]]
    holds_ = true, placing_era_ = accesses_.begin();
}

void ResponderExecute::end_pieces() {
  placing_ = nullptr;
  if (std::exchange(holds_, false)) [[unlikely]]
    accesses_.end(placing_era_);
}

// Asks for one write; true when the packet needs no more.
[[gnu::hot]] bool ResponderExecute::next_piece() {
  if (!ports.payload_out->can_push()) return false;
  Packet* p = placing_;
  u32 bytes = left_, written = left_;
  if (!plain_) {
    const Run run = runs_[run_++];
    address_ = run.address, bytes = run.bytes, written = run.there ? bytes : 0;
  }
  left_ -= bytes;
  const bool answered = p->parsed.bth.ack_req || p->effect.completes_message;
  Cycle at = last_ask_ = std::max({enters_, last_ask_ + 1, now() + 1});
  ports.payload_out->start(1, at - now() - 1)
      .set_write(address_, p->frame() + p->parsed.payload_offset + done_, written,
                 left_ ? nullptr : p, !left_ && answered, at, std::max(at, p->last));
  done_ += bytes;
  if (left_) return ports.payload_out->wake_when_free(), false;
  end_pieces();
  finish(p, true);
  return true;
}

// All writes of an executed request are asked for (`has_payload`), or it has none.
inline void ResponderExecute::finish(Packet* p, bool has_payload) {
  if (p->parsed.bth.ack_req || p->effect.completes_message) answer_or_complete(*p, has_payload);
  if (!has_payload) PacketPool::give_back(p);
}

void ResponderExecute::complete(const Packet& p, const Queue& q, Outcome& outcome) {
  const OpcodeRow& row = *p.parsed.opcode;
  if (p.effect.unreliable) [[unlikely]]
    complete_unreliable(p, q, outcome.completed.cqe);
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

namespace {
// What is accessed first: of a FLUSH, whose read comes after all that was written before, the last
// byte of its range, or the first of its region.
RemoteBytes first_access(const ParsedPacket& packet, const Region* region) {
  RemoteBytes named = remote_bytes(packet);
  if (!packet.has(Ext::Feth)) return named;
  if (names_whole_region(packet)) return {region ? region->start : 0, region && region->bytes};
  return {named.va + named.bytes - 1, named.bytes};
}
}  // namespace

// A READ, an ATOMIC and the like wait for their turn among the answers of their queue pair.
void ResponderExecute::execute_read(Packet* p) {
  enter(p, p->effect.rkey);
  const bool repeats = p->verdict.action == RequestAction::Repeat;
  const Region* region = protection_.find(p->effect.rkey);
  const QpConfig& qp = contexts_.qps[p->qpn];
  const bool good = key_allows(region, p->effect, accessor_of(qp), p->parsed);
  // The key is gone since the request was judged; of a duplicate ATOMIC it does not matter
  // (ATOM-27).
  const bool reads = p->parsed.opcode->traits().answer == Answer::Read;
  if (repeats ? reads && refuses_repeated_read(qp, good) : !good) {
    Queue& q = queues_[p->qpn];
    refuse(p, kKeyGone);
    q.last->fault.refused = !repeats;  // a duplicate leaves ePSN and MSN (G3.5)
    return;
  }
  Outcome& outcome = retire(*p);
  outcome.kind = reads ? OutcomeKind::Read : OutcomeKind::Atomic;
  outcome.repeats = repeats, outcome.key_good = good;
  outcome.effect = p->effect, outcome.opcode = p->parsed.opcode;
  if (!reads) {
    outcome.operands = atomic_operands(p->parsed, p->frame());
    queues_[p->qpn].atomics += !repeats;
  }
  if (const RemoteBytes at = first_access(p->parsed, region); good && at.bytes) {
    outcome.address = region->translate(at.va);
    outcome.granted = true, accesses_.begin_read(key_index(p->effect.rkey));
    if (region->pages) outcome.pages = held_regions_.take(), outcome.pages->region = *region;
  }
  PacketPool::give_back(p);
}

Dma::Client ResponderExecute::payload_client() {
  return {this,
          [](void* owner, const DmaRequest& r, Cycle first, Cycle) {
            auto& x = *static_cast<ResponderExecute*>(owner);
            const Packet& p = *static_cast<Packet*>(r.context);
            x.ordered_in.push(Ordered{p.qpn, p.life}, 1, first - x.dma.now() - 1);
          },
          [](void*, const DmaRequest& r) {
            if (r.context) PacketPool::give_back(static_cast<Packet*>(r.context));
          }};
}
}  // namespace hca::blocks
