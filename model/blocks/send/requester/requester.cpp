// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/requester.h"

#include <algorithm>

#include "model/proto/transport/qp_transitions.h"

namespace hca::blocks {
using namespace proto;

Requester::Requester(const RequesterConfig& config, u64 clock_hz, QpContext& context,
                     device::Contexts& contexts, Protection& protection, Packetizer& packetizer,
                     Accesses& accesses, SchedulerPolicy policy,
                     const ReadyQueues::Weights& weights, const std::array<u32, 16>& lane_of_sl,
                     Payload payload)
    : turns(shared(contexts), outbox_, order_),
      psns(shared(contexts)),
      local_works(shared(contexts), outbox_, order_, ends_),
      response_data(shared(contexts), protection, accesses),
      stage_(config.latency, config.interval),
      context_(context),
      contexts_(contexts),
      send_(contexts),
      protection_(protection),
      packetizer_(packetizer),
      config_(config),
      pool_(payload),
      outbox_(shared(contexts)),
      rates_(shared(contexts), clock_hz),
      order_(shared(contexts), rates_, acks_in,
             {config, packetizer.lanes(), policy, weights, lane_of_sl}),
      timers_(shared(contexts), clock_hz),
      recovery_(shared(contexts), outbox_, turns, timers_),
      ends_(shared(contexts), outbox_, order_, turns, timers_),
      ee_service_(shared(contexts), contexts, {outbox_, order_, turns, timers_, ends_, psns}),
      start_(shared(contexts), protection,
             {turns, psns, ends_, local_works, response_data, ee_service_}),
      headers_(shared(contexts), start_.datagram()),
      answers_(shared(contexts), acks_in, sent_in,
               {outbox_, order_, psns, timers_, ends_, response_data, recovery_, ee_service_}) {
  outbox_.ee_service = ends_.ee_service = &ee_service_;
  turns_in.mark(pending_, kTurns);
  not_read_in.mark(pending_, kTurns);
  acks_in.mark(pending_, kAnswers);
}

[[gnu::hot]] void Requester::tick() {
  // While a packet is gathered it keeps its WQE and its queue: everything else waits these few
  // cycles.
  if (packetizer_.busy() && !gather()) return packetizer_.dma_out->wake_when_free();
  if (pending_ || timers_.may_be_due(now())) [[unlikely]]
    come_back();
  send();
  if (packetizer_.busy()) packetizer_.dma_out->wake_when_free();
  outbox_.push();
}

// In the middle of a message of a reliable queue pair without a rate limit none of this has work.
void Requester::come_back() {
  if (pending_ & kTurns && (shows(turns_in) || shows(not_read_in))) accept_next_turn();
  if (ends_.has_errors()) ends_.enter_errors();
  if (ee_service_.has_any()) ee_service_.act();
  if (response_data.placed_in.can_pop()) answers_.take_placed();
  if (waits_sent_) answers_.take_sent();
  if (rates_.has_any()) order_.resume_paced();
  if (response_data.is_placing() || acks_in.can_pop()) answers_.take();
  if (timers_.may_be_due(now())) answers_.expire();
  if (ends_.has_completions()) ends_.complete();
  if (ends_.has_flushes()) ends_.flush();
  const bool own = ends_.has_any() || ee_service_.has_any() || response_data.is_placing() ||
                   waits_sent_ || rates_.has_any();
  pending_ = (turns_in.empty() && not_read_in.empty() ? 0 : kTurns) |
             (acks_in.empty() && response_data.placed_in.empty() ? 0 : kAnswers) | (own ? kOwn : 0);
}

void Requester::accept_next_turn() {
  Turn* turn = next_of(not_read_in, turns_in).pop();
  if (turn->flush)
    ends_.add_flush(turn);
  else
    turns.add(turn);
  if (shows(not_read_in) || shows(turns_in)) wake_at(now() + 1);
}

[[gnu::hot]] bool Requester::gather() {
  if (!packetizer_.dma_out->can_push() || !packetizer_.gather(now())) return false;
  if (gathers_nothing_) return true;
  if (gathers_last_)
    turns.finish_wqe(gathering_, queues_[gathering_]);
  else
    order_.list(gathering_, queues_[gathering_]);
  return true;
}

// Cuts a packet of the next queue pair of a port.
inline void Requester::cut_next(u32 qpn) {
  SendQueue& q = queues_[qpn];
  q.active = false;
  if (q.head && cut(qpn, q) && !packetizer_.busy()) order_.list(qpn, q);
}

inline void Requester::send() {
  if (order_.several() || !order_.at(0).rotates()) [[unlikely]]
    return send_several();
  Ring<u32>& active = order_.at(0).rotation();
  if (active.empty()) return;
  if (now() < next_packet_) return wake_at(next_packet_);
  if (!packetizer_.can_start(0)) return;
  cut_next(active.pop());
  // If the cut is refused, that path arranges the next tick itself.
  if (!active.empty() && !packetizer_.busy() && packetizer_.can_start(0))
    wake_at(std::max(next_packet_, now() + 1));
}

// Passes over ports and lanes without room for a packet, and engines that are busy with their last
// packet.
void Requester::send_several() {
  const unsigned places = order_.count();
  Cycle again = kNever;
  const auto may_send = [&](unsigned place) {
    if (order_.at(place).empty()) return false;
    const Cycle from = std::max(next_packet_, engines().free_from(order_.engine_of(place)));
    if (from <= now()) return packetizer_.can_start(order_.port_at(place), order_.lane_at(place));
    again = std::min(again, from);
    return false;
  };
  const auto cut_at = [&](unsigned place) {
    if (!may_send(place)) return false;
    ReadyQueues& active = order_.at(place);
    if (const u32 qpn = active.front(); &order_.of(qpn) == &active) {
      cut_next(active.pop());
    } else {  // the queue pair was reset and now uses the other port
      active.pop();
      queues_[qpn].active = false;
      order_.activate(qpn, queues_[qpn]);
    }
    return true;
  };
  if (serve_in_turn(places, next_place_, cut_at) && !packetizer_.busy())
    for (unsigned place = 0; place < places; ++place)
      if (may_send(place)) again = now() + 1;
  if (again != kNever) wake_at(again);
}

// Sends one packet of the queue. False: it must wait for another event.
inline bool Requester::cut(u32 qpn, SendQueue& q) {
  if (!q.sending && !start_.begin(qpn, q, *q.head)) [[unlikely]]
    return false;
  if (!names_partition(contexts_.qps[qpn])) [[unlikely]] {  // the partition was lost meanwhile
    ends_.fail(qpn, q.index, WcStatus::LocQpOpErr);
    return false;
  }
  if (may_probe(contexts_.qps[qpn]) && q.packet && start_.waits_for_probe(qpn, q)) [[unlikely]]
    return false;  // its ACK activates the queue again
  if (recovery_.selects() && !recovery_.may_cut(qpn, q)) [[unlikely]]
    return false;
  send_packet(qpn, q);
  next_packet_ = now() + config_.interval;
  order_.take_engine(qpn);
  return true;
}

inline void Requester::send_packet(u32 qpn, SendQueue& q) {
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = state_of(qpn);
  const SentMessage& m = *q.message;
  Packet* p = pool_.take();
  CutPacket cut;
  headers_.write(*p, qpn, q, cut);
  p->qpn = qpn;
  p->psn = cut.psns.first;
  p->port = u8(port_of(qp));
  p->is_request = true;
  if (recovery_.selects()) [[unlikely]]
    cut.ack_requested |= recovery_.asks(qpn, *p);
  if (order_.has_lanes()) [[unlikely]]
    p->lane = order_.lane_of(qp);
  Cycle at = context_.look_up(context_.requester, now(), qpn);
  at = protection_.look_up(protection_.requester, at, q.wqe.rkey);
  at = stage_.enter(at);
  probe.event(at, Step::Passed, qpn, cut.psns.first, q.index);
  ++counters.packets;
  const bool is_new = psns.stand_in ? psns.send(qpn, m, q.packet) : s.send(cut.psns);
  counters.resent += !is_new;
  if (recovery_.selects()) [[unlikely]]
    recovery_.sent(qpn, cut.psns, is_new);
  if (cut.ack_requested && !timers_.runs(qpn)) timers_.restart(qpn);
  if (cut.last && ends_when_sent(qp)) {
    p->tells_sent = true;
    p->life = q.life;
    waits_sent_ = true;
    pending_ |= kOwn;
  }
  q.packet += cut.psns.count;
  if (qp.rate_limit) [[unlikely]]
    rates_.pace(qpn, q, *p);
  if (config_.read_interval && m.answer == Answer::Read) [[unlikely]]
    rates_.pace_read(q, config_.read_interval);
  if (packetizer_.has_units()) [[unlikely]]
    p->behind_in_unit = packetizer_.behind_in_unit(q.packet * qp.path_mtu, m.bytes);
  packetizer_.start(p, q.cursor, q.order, now(), at);
  gathering_ = qpn;
  gathers_last_ = cut.last;
  gathers_nothing_ = false;
  if (cut.last && !packetizer_.busy()) turns.finish_wqe(qpn, q);
}

RequesterHold Requester::hold(u32 qpn) const {
  const SendQueue* const q = queues_.find(qpn);
  if (!q) return {};
  RequesterHold h = start_.hold(qpn, *q);
  h.timer_runs = timers_.runs(qpn);
  return h;
}

// ---- Calls by `command`
void Requester::enter_error(u32 qpn) {
  ends_.enter_error(qpn);
  wake_at(now() + 1);
}

void Requester::drain(u32 qpn) {
  ends_.queue(qpn, queues_[qpn]);
  wake_at(now() + 1);
}

void Requester::resume(u32 qpn) {
  order_.activate(qpn, queues_[qpn]);
  wake_at(now() + 1);
}

// Sending resumes with the WQEs posted from now on.
void Requester::recover(u32 qpn) {
  queues_[qpn].in_error = false;
  SendState& s = state_of(qpn);
  outbox_.note({NoteKind::Rewind, qpn, s.completed, ++s.epoch});
  wake_at(now() + 1);
}

void Requester::moved(u32 qpn) {
  if (recovery_.selects()) recovery_.migrated(qpn);
}

void Requester::migrated(u32 qpn, u32 life) {
  const SendQueue& q = queues_[qpn];
  if (q.life != life || q.in_error) return;
  outbox_.note({NoteKind::Resume, qpn, 0, 0});
  wake_at(now() + 1);
}

void Requester::serve(u32 ee) {
  ee_service_.serve_next(ee);
  wake_at(now() + 1);
}

void Requester::end_context(u32 ee, WcStatus served, WcStatus asking, bool is_reset) {
  ee_service_.end(ee, served, asking, is_reset);
  wake_at(now() + 1);
}

// A reset or destroyed queue pair loses all its state, without completions (G20.3).
void Requester::clear(u32 qpn) {
  SendQueue& q = queues_[qpn];  // a new entry, if its first turn is still in flight
  const bool active = q.active, completing = q.completing;
  const u32 life = q.life + 1;
  const ReadOrder order = q.order;  // the order of packets that are still in flight
  turns.drop(q);
  ee_service_.leave(qpn, q);
  if (packetizer_.busy() && gathering_ == qpn) {
    packetizer_.abandon();
    gathers_nothing_ = true;
  }
  if (response_data.is_placing(qpn)) response_data.end();  // the writes keep its buffer
  q = {};
  q.active = active;
  q.completing = completing;
  q.life = life;
  q.order = order;
  timers_.clear(qpn);
  rates_.clear(qpn);
  if (recovery_.selects()) recovery_.clear(qpn);
  if (send_.holds(contexts_.connection_of(qpn))) state_of(qpn).epoch = ++clears_ << 16;
  outbox_.note({NoteKind::Clear, qpn, 0, clears_ << 16});
  wake_at(now() + 1);
}
}  // namespace hca::blocks
