// SPDX-License-Identifier: Apache-2.0
// Work requests to packets. What comes back is in requester_responses.cpp.
#include "model/blocks/send/requester/requester.h"

#include <algorithm>

namespace hca::blocks {
using namespace proto;

[[gnu::always_inline]] inline void Requester::list(u32 qpn, Lane& lane) {
  if (lane.active || !lane.head || lane.failing || lane.in_error) return;
  ReadyQueues& active = active_of(qpn);
  if (lane.pace || !active.rotates()) [[unlikely]]
    return list_by_class(qpn, lane);
  lane.active = true;
  active.rotation().push(qpn);
}
[[gnu::cold]] void Requester::list_by_class(u32 qpn, Lane& lane) {
  if (lane.pace && waits_for_pace(qpn, lane)) return;
  lane.active = true;
  active_of(qpn).push(qpn, contexts_.qps[qpn].service_level);
}
void Requester::activate(u32 qpn, Lane& lane) { list(qpn, lane); }

[[gnu::hot]] void Requester::tick() {
  // A packet that is being gathered keeps its WQE and its lane: all else waits these few cycles.
  if (packetizer_.busy() && !gather()) return packetizer_.dma_out->wake_when_free();
  if (pending_ || timers_.may_be_due(now())) [[unlikely]]
    come_back();
  send();
  if (packetizer_.busy()) packetizer_.dma_out->wake_when_free();
  push_outboxes();
}

// In the middle of a message of a reliable queue pair without a rate limit there is nothing of
// this.
void Requester::come_back() {
  if (pending_ & kTurns && (shows(turns_in) || shows(not_read_in))) accept_next_turn();
  if (!errors_.empty()) enter_errors();
  if (placed_in.can_pop()) take_placed();
  if (waits_sent_) take_sent();
  if (has_paced_) resume_paced();
  if (placing_.packet || acks_in.can_pop()) acknowledge();
  if (timers_.may_be_due(now())) expire();
  if (!completing_.empty()) complete();
  if (!flushing_.empty()) flush();
  const bool own = !errors_.empty() || !completing_.empty() || !flushing_.empty() ||
                   placing_.packet || waits_sent_ || has_paced_;
  pending_ = (turns_in.empty() && not_read_in.empty() ? 0 : kTurns) |
             (acks_in.empty() && placed_in.empty() ? 0 : kAnswers) | (own ? kOwn : 0);
}

[[gnu::hot]] bool Requester::gather() {
  if (!packetizer_.dma_out->can_push() || !packetizer_.gather(now())) return false;
  if (gathers_nothing_) return true;
  if (gathers_last_)
    finish_wqe(gathering_, lanes_[gathering_]);
  else
    list(gathering_, lanes_[gathering_]);
  return true;
}

void Requester::accept_next_turn() {
  accept_turn(next_of(not_read_in, turns_in).pop());
  if (shows(not_read_in) || shows(turns_in)) wake_at(now() + 1);
}

void Requester::accept_turn(Turn* turn) {
  if (turn->flush) return flushing_.push(turn);
  Lane& lane = lanes_[turn->qpn];
  if (turn->epoch != send_[connection_of(turn->qpn)].epoch) return release(turn);
  turn->next = nullptr;
  if (lane.head)
    lane.tail->next = turn;
  else
    lane.head = turn;
  lane.tail = turn;
  activate(turn->qpn, lane);
}

// A turn's buffer goes back, and the scheduler hears that its queue pair may have another one.
void Requester::release(Turn* turn) {
  notes_.push({NoteKind::TurnDone, turn->qpn, 0, 0});
  turns->give(now() + 1);
  Pool<Turn>::give_back(turn);
}

// The next queue pair of a port cuts a packet.
inline void Requester::cut_next(u32 qpn) {
  Lane& lane = lanes_[qpn];
  lane.active = false;
  if (lane.head && cut(qpn, lane) && !packetizer_.busy()) list(qpn, lane);
}

inline void Requester::send() {
  if (several() || !active_[0].rotates()) [[unlikely]]
    return send_several();
  Ring<u32>& active = active_[0].rotation();
  if (active.empty()) return;
  if (now() < next_packet_) return wake_at(next_packet_);
  if (!packetizer_.can_start(0)) return;
  cut_next(active.pop());
  // A refusal arranges the next tick itself.
  if (!active.empty() && !packetizer_.busy() && packetizer_.can_start(0))
    wake_at(std::max(next_packet_, now() + 1));
}

// A port or lane without room for a packet is passed over, and an engine that is not done with its
// last one.
void Requester::send_several() {
  const unsigned lanes = packetizer_.lanes(), of_engine = acks_in.count() * lanes;
  const unsigned places = of_engine * engines_.count();
  Cycle again = kNever;
  const auto may_send = [&](unsigned place) {
    if (active_[place].empty()) return false;
    const Cycle from = std::max(next_packet_, engines_.free_from(place / of_engine));
    if (from <= now()) return packetizer_.can_start(place % of_engine / lanes, place % lanes);
    again = std::min(again, from);
    return false;
  };
  const auto cut_at = [&](unsigned place) {
    if (!may_send(place)) return false;
    ReadyQueues& active = active_[place];
    if (const u32 qpn = active.front(); &active_of(qpn) == &active)
      cut_next(active.pop());
    else  // it was reset, and is of the other port now
      active.pop(), lanes_[qpn].active = false, activate(qpn, lanes_[qpn]);
    return true;
  };
  if (serve_in_turn(places, turn_, cut_at) && !packetizer_.busy())
    for (unsigned place = 0; place < places; ++place)
      if (may_send(place)) again = now() + 1;
  if (again != kNever) wake_at(again);
}

// Sends one packet of the lane; false if the lane must wait for something else.
inline bool Requester::cut(u32 qpn, Lane& lane) {
  if (!lane.sending && !begin(qpn, lane, *lane.head)) [[unlikely]]
    return false;
  if (!names_partition(contexts_.qps[qpn])) [[unlikely]]  // since the message began
    return fail(qpn, lane.index, WcStatus::LocQpOpErr), false;
  if (may_probe(contexts_.qps[qpn]) && lane.packet && waits_for_probe(qpn, lane)) [[unlikely]]
    return false;  // its ACK activates the lane again
  send_packet(qpn, lane);
  next_packet_ = now() + config_.interval;
  if (has_places_ && engines_.limit()) [[unlikely]]  // has_places_: beside what each packet needs
    engines_.take(engines_.of(qpn), now());
  return true;
}

// The first packet of its message is on the way to find out whether there is a receive WQE.
bool Requester::waits_for_probe(u32 qpn, const Lane& lane) const {
  const SendState& s = send_[connection_of(qpn)];
  return probes(s, contexts_.qps[qpn], *lane.message, lane.index + 1 == s.started);
}

// A WQE that was begun needs no repetition. One that is completed may have been fetched when the
// host had used its slot for another.
bool Requester::is_acknowledged(u32 qpn, u32 index) {
  const SendState& s = send_[connection_of(qpn)];
  if (index == s.started) return false;
  return index - s.completed >= s.started - s.completed ||
         psn_distance(sent_.message(connection_of(qpn), index).end_psn(), s.send_psn) >= 0;
}

// Opens the WQE at the front of the lane: a new message gets its PSNs, a repeated one begins where
// go-back-N left it.
bool Requester::begin(u32 qpn, Lane& lane, const Turn& turn) {
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = send_[connection_of(qpn)];
  const u32 index = turn.first + lane.at;
  if (is_acknowledged(qpn, index)) {  // while it waited to be repeated
    finish_wqe(qpn, lane);
    return false;
  }
  // resume() or end_local() activates the lane again.
  if (index == s.started && (starts_nothing(qp, s) || lane.waits_local)) return false;
  const u32 at = lane.at;
  const u8* wqe = turn.wqes.data() + at * qp.sq.stride();
  if (turn.unreadable) [[unlikely]]
    return fail_unread(qpn), false;
  u64 bytes = 0;
  const WcStatus status = check_wqe(qp, lane, wqe, turn.first + at, bytes);
  if (status != WcStatus::Success) {  // it fails when those in front of it are done (C9-209)
    lane.waits_to_fail = index != s.completed;
    if (!lane.waits_to_fail) fail(qpn, index, status);
    return false;
  }
  SentMessage& m = sent_.message(connection_of(qpn), index);
  if (index == s.started) {
    const SendWait wait =
        send_wait(s, qp, lane.wqe, psns_of_message(row_of(lane.wqe), bytes, qp.path_mtu));
    if (wait != lane.waits) [[unlikely]]
      change_wait(lane, wait);
    if (wait != SendWait::None) return false;  // what it waits for activates the lane again
    const SendPsns before = static_cast<const SendPsns&>(s);
    begin_message(m, s, lane.wqe, index, u32(bytes), qp.path_mtu, qp.signal_all);
    if (psn_stand_in) [[unlikely]]
      begin_by(qpn, before, m);
    ++s.started;
    if (row_of(lane.wqe).is_local()) {
      start_local(qpn, lane, wqe, index);
      return false;
    }
    if (has_response(row_of(lane.wqe).answer)) keep_buffers(index, lane);
    ++counters.messages;
  }
  lane.message = &m, lane.index = index, lane.packet = psns_between(m.first_psn, s.send_psn);
  if (row_of(lane.wqe).sends_payload()) lane.cursor.skip(lane.packet * qp.path_mtu);
  lane.sending = true;
  lane.repeated.forget();
  return true;
}

// Where a datagram goes; false: its address handle is not good.
bool Requester::take_address(const QpConfig& qp, const u8* handle) {
  datagram_.address = decode<AddressHandle>(handle);
  const auto path = path_of_datagram(qp, datagram_.address, contexts_.ports[port_of(qp)]);
  if (path) datagram_.path = *path;
  return path.has_value();
}

// The form of a WQE and its local access rights; the sum of its lengths in `bytes`.
WcStatus Requester::check_wqe(const QpConfig& qp, Lane& lane, const u8* wqe, u32 index,
                              u64& bytes) {
  decode_to(wqe, lane.wqe);
  const WcStatus form = check_send_wqe(lane.wqe, index, qp);
  if (form != WcStatus::Success) return form;
  const WorkRow& row = row_of(lane.wqe);
  if (row.segment_bytes) decode_operands(row, wqe + kSendWqeBytes, lane.operands);
  lane.cursor = {wqe + segments_offset(row), lane.wqe.sge_count};
  const bool datagram = qp.service == Service::Ud;
  if (datagram) [[unlikely]] {
    if (!take_address(qp, wqe + kSendWqeBytes)) return WcStatus::LocQpOpErr;
    lane.cursor.segments += kAddressHandleBytes;
  }
  if (lane.wqe.inline_data) {
    lane.cursor.count = 0, bytes = lane.wqe.inline_bytes;
    const bool bounded = datagram || row.exact_bytes;
    return bounded ? check_message_bytes(row, bytes, qp) : WcStatus::Success;
  }
  if (row.opcode == WorkOpcode::Flush) bytes = lane.operands.flush.bytes;
  for (u32 i = 0; i < lane.wqe.sge_count; ++i) {
    const auto sge = decode<Sge>(lane.cursor.segments + i * kSgeBytes);
    if (sge.bytes && !protection_.local(sge, accessor_of(qp), qp, local_right(row)))
      return WcStatus::LocProtErr;
    bytes += sge.bytes;
  }
  return check_message_bytes(row, bytes, qp);
}

RequesterHold Requester::hold(u32 qpn) const {
  const Lane* const lane = lanes_.find(qpn);
  if (!lane) return {};
  RequesterHold h;
  h.has_wqe = lane->head, h.listed = lane->active;
  h.failing = lane->failing || lane->waits_to_fail, h.waits_local = lane->waits_local;
  h.timer_runs = timers_.runs(qpn);
  if (!h.has_wqe || h.listed) return h;
  const QpConfig& qp = contexts_.qps[qpn];
  const SendState& s = send_[connection_of(qpn)];
  h.probes = lane->sending;
  if (lane->sending || !must_wait(s, qp, lane->wqe, 1)) return h;
  h.waits_data =
      reads_outstanding(s) && (lane->wqe.fence || has_response(row_of(lane->wqe).answer));
  h.waits_window = !h.waits_data && s.is_full(1);
  h.waits_credits = !h.waits_data && !h.waits_window;
  return h;
}

// The headers of the next packet, by the tables.
void Requester::build(Packet& p, u32 qpn, Lane& lane, CutPacket& cut) {
  const QpConfig& qp = contexts_.qps[qpn];
  SentMessage& m = *lane.message;
  const SendState& s = send_[connection_of(qpn)];
  PacketPlan plan = plan_packet(qp, lane.wqe, m, lane.packet);
  m.resumed |= m.answer == Answer::Read && lane.packet;
  plan.ack_requested |= !lane.packet && probes(s, qp, m, lane.index + 1 == s.started);
  ExtHeaders ext;
  request_headers(ext, lane.wqe, lane.operands, m, plan);
  Bth bth = request_bth(qp, plan);
  const Path* path = &qp.path;
  if (qp.service == Service::Ud) [[unlikely]]
    address_datagram(bth, ext, qp, datagram_.address), path = &datagram_.path;
  write_headers(*path, *plan.row, bth, ext, plan.bytes, p.frame());
  p.shape = shape_of(*path, *plan.row, plan.bytes);
  if (plan.row->position == Position::Middle && !plan.row->ext_bytes)
    lane.repeated.keep(p.frame(), p.shape, contexts_.version);
  if (m.packets == 1 && qp.service != Service::Ud) {
    LonePacket& lone = lane.lone;
    lone.headers.keep(p.frame(), p.shape, contexts_.version);
    lone.plan = plan, lone.opcode = lane.wqe.opcode, lone.solicited = lane.wqe.solicited;
    lone.bytes = m.bytes;
  }
  cut.psns.first = plan.psns.first, cut.psns.count = plan.psns.count;
  cut.ack_requested = plan.ack_requested, cut.last = plan.last;
}

// The same for a message that is like the one before.
void Requester::repeat_lone(Packet& p, const Lane& lane, CutPacket& cut) {
  const LonePacket& lone = lane.lone;
  const SentMessage& m = *lane.message;
  ExtHeaders ext;
  request_headers(ext, lane.wqe, lane.operands, m, lone.plan);
  lone.headers.write(p.frame(), m.first_psn);
  p.shape = lone.headers.shape();
  write_ext(*lone.plan.row, ext, p.frame() + p.shape.transport_offset + bytes_of<Bth>());
  cut.psns.first = m.first_psn, cut.psns.count = 1;
  cut.ack_requested = lone.plan.ack_requested, cut.last = true;
}

inline void Requester::send_packet(u32 qpn, Lane& lane) {
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = send_[connection_of(qpn)];
  SentMessage& m = *lane.message;
  Packet* p = pool_.take();
  CutPacket cut;
  const bool is_middle = lane.packet + 1 < m.packets;
  if (is_middle && lane.repeated.hold(contexts_.version)) [[likely]] {
    cut.psns.first = psn_add(m.first_psn, lane.packet), cut.psns.count = 1;
    lane.repeated.write(p->frame(), cut.psns.first);
    p->shape = lane.repeated.shape();
  } else if (lane.lone.is_like(lane.wqe, m, contexts_.version)) {
    repeat_lone(*p, lane, cut);
  } else {
    build(*p, qpn, lane, cut);
  }
  p->qpn = qpn, p->psn = cut.psns.first, p->port = u8(port_of(qp)), p->is_request = true;
  if (has_lanes_) [[unlikely]]
    p->lane = u8(lane_of_sl_[qp.service_level]);
  Cycle at = context_.look_up(context_.requester, now(), qpn);
  at = protection_.look_up(protection_.requester, at, lane.wqe.rkey);
  at = stage_.enter(at);
  probe.event(at, Step::Passed, qpn, cut.psns.first, lane.index);
  ++counters.packets;
  const bool is_new = psn_stand_in ? send_by(qpn, m, lane.packet) : s.send(cut.psns);
  counters.resent += !is_new;
  if (cut.ack_requested && !timers_.runs(qpn)) restart_timer(qpn);
  if (cut.last && ends_when_sent(qp))
    p->tells_sent = true, p->life = lane.life, waits_sent_ = true, pending_ |= kOwn;
  lane.packet += cut.psns.count;
  if (qp.rate_limit) [[unlikely]]
    pace(qpn, lane, *p);
  if (packetizer_.has_units()) [[unlikely]]
    p->behind_in_unit = packetizer_.behind_in_unit(lane.packet * qp.path_mtu, m.bytes);
  packetizer_.start(p, lane.cursor, lane.order, now(), at);
  gathering_ = qpn, gathers_last_ = cut.last, gathers_nothing_ = false;
  if (cut.last && !packetizer_.busy()) finish_wqe(qpn, lane);
}

// All packets of the lane's WQE are cut.
void Requester::finish_wqe(u32 qpn, Lane& lane) {
  lane.sending = false;
  Turn* turn = lane.head;
  if (++lane.at == turn->count) {
    lane.head = turn->next, lane.at = 0;
    release(turn);
  }
  activate(qpn, lane);
}
}  // namespace hca::blocks
