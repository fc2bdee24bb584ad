// SPDX-License-Identifier: Apache-2.0
// The host's side of the device: doorbells, commands, completions, events; and the clock.
#include <algorithm>
#include <utility>

#include "model/device/execute_command.h"
#include "model/functional/functional_hca.h"

namespace hca::functional {
using namespace proto;

FunctionalHca::Progress& FunctionalHca::progress(u32 number) {
  std::vector<Progress>& part = progress_[device::is_ee(number)];
  const u32 index = device::eecn_of(number);
  if (index >= part.size()) part.resize(index + 1);
  return part[index];
}

// ---- Doorbells
void FunctionalHca::mmio_write(u32 offset, std::span<const u8> bytes) {
  take_write(offset, bytes);
  fail_if_fatal();
}

void FunctionalHca::take_write(u32 offset, std::span<const u8> bytes) {
  const auto at = BarOffset(offset % kUserPageBytes);
  const bool push = at == BarOffset::PushBuffer;  // the ring holds the same WQE: it is fetched
  if (is_rest_of_push(offset % kUserPageBytes)) return;
  if (push ? bytes.size() < 8 || bytes.size() > 8 + kPushBytes : bytes.size() != 8)
    return void(++host_counters_.bad_doorbells);
  switch (at) {
    case BarOffset::SendDoorbell:
    case BarOffset::PushBuffer: {
      const auto bell = decode<QueueDoorbell>(bytes.data());
      return ring_send(bell.qpn, bell.producer);
    }
    case BarOffset::ReceiveDoorbell: {
      const auto bell = decode<QueueDoorbell>(bytes.data());
      return ring_receive(bell.qpn, bell.producer);
    }
    case BarOffset::SharedDoorbell: {
      const auto bell = decode<QueueDoorbell>(bytes.data());
      return ring_shared(bell.qpn, bell.producer);
    }
    case BarOffset::CqDoorbell: {
      const auto bell = decode<CqDoorbell>(bytes.data());
      if (!device::ring_cq(cqs_, bell)) ++host_counters_.bad_doorbells;
      return notify(bell.cqn);
    }
    case BarOffset::EqDoorbell:
      return interrupt(device::ring_eq(eqs_, vectors_, decode<EqDoorbell>(bytes.data())));
    case BarOffset::CommandDoorbell:
      return run_command(decode<CommandDoorbell>(bytes.data()).address);
    default:
      ++host_counters_.bad_doorbells;
  }
}

void FunctionalHca::ring_send(u32 qpn, u16 producer) {
  const QpConfig* qp = contexts_.find_qp(qpn);
  if (!qp || !has_send_queue(*qp)) return void(++host_counters_.bad_doorbells);
  const u32 posted = widen_index(progress(qpn).posted, producer);
  if (posted - contexts_.send_of(qpn).completed > qp->sq.entries())
    return void(++host_counters_.bad_doorbells);
  progress(qpn).posted = contexts_.sends_posted[qpn] = posted;
  if (flushes_sends(qp->state)) return flush_sends(qpn);
  pump(qpn);
}

void FunctionalHca::ring_receive(u32 qpn, u16 producer) {
  const QpConfig* qp = contexts_.find_qp(qpn);
  if (!qp || !has_receive_queue(*qp)) return void(++host_counters_.bad_doorbells);
  ReceiveState& r = contexts_.receive_of(qpn);
  const u32 posted = widen_index(r.rq_posted, producer);
  if (posted - r.rq_consumed > qp->rq.entries()) return void(++host_counters_.bad_doorbells);
  r.rq_posted = posted;
  if (qp->state == QpState::Error) flush_receives(qpn);
  if (takes_requests(qp->state)) tell_credits(*qp);
}

void FunctionalHca::ring_shared(u32 srqn, u16 producer) {
  SharedQueue* queue = contexts_.find_srq(srqn);
  if (!queue) return void(++host_counters_.bad_doorbells);
  queue->posted = widen_index(queue->posted, producer);
}

// ---- Commands
void FunctionalHca::run_command(u64 address) {
  std::array<u8, kCommandBytes> block;
  if (!io_.read(address, block)) {  // it names nothing that could be told (ERR-23)
    return;
  }
  const auto asked = decode<CommandHeader>(block.data());
  const std::vector<u64> pages = read_pages(device::page_list_of(block.data()));
  const device::CommandEffect effect = device::execute_command(contexts_, block.data(), pages);
  contexts_.left_page_lists.clear();  // no access is under way
  if (effect.flush) {
    stop_timer(effect.qpn);
    flush_sends(effect.qpn);
    flush_receives(effect.qpn);
  }
  if (effect.clear) {
    stop_timer(effect.qpn);
    leave(effect.qpn);
    forget_received(effect.qpn, false);
    Progress& s = progress(effect.qpn);
    s = {};
  }
  io_.write(address, block);
  if (effect.message) interrupt(effect.vector);
  raise_of_port(effect.port, effect.port_events);
  if (effect.migrates) migrate(effect.qpn);
  if (effect.ended_eec)
    end_context(device::ee_number(*effect.ended_eec), WcStatus::LocEecOpErr, effect.ended_status);
  if (effect.drain) raise_if_drained(effect.qpn);
  if (effect.event) raise(effect.event->type, effect.event->object);
  if (effect.cqn) notify(*effect.cqn);
  if (asked.opcode == CommandOpcode::ModifyQp && contexts_.find_qp(asked.object))
    pump(asked.object);
  if (effect.changed_eec) pump(device::ee_number(*effect.changed_eec));
}

// ---- Completions and events
void FunctionalHca::complete(u32 cqn, const Cqe& cqe) {
  device::EventRing& cq = contexts_.cqs[cqn];
  std::array<u8, kCqeBytes> bytes;
  const CqePlace place = put_cqe(cq, cqe, bytes.data());
  if (place.result == CqResult::NoQueue) return;
  if (place.result != CqResult::Written) return overflow(place.result, cqn, cqe);
  if (!io_.write(place.address, bytes)) {  // the CQ is inaccessible
    const bool told = std::exchange(cq.overflowed, true);
    return overflow(told ? CqResult::Lost : CqResult::FirstLost, cqn, cqe);
  }
  if (!cq.eqn) return;
  const bool due = device::count_cqe(cq, is_solicited(cqe), time_of(cq));
  watch(cqn);
  if (due) raise(cq.eqn, {EventType::Completion, cqn});
}

// G21.3, classes F and G.
void FunctionalHca::overflow(CqResult result, u32 cqn, const Cqe& cqe) {
  if (result == CqResult::FirstLost) raise(EventType::CqErr, cqn);
  if (cqe.srqn) fail_shared(cqe.srqn);  // class L
  if (contexts_.qps[cqe.qpn].state != QpState::Error) {
    raise(kAsyncEq, {EventType::QpFatal, cqe.qpn, part_of(cqe.opcode), cqe.wqe_index});
    enter_error(cqe.qpn);
  }
}

// ERR-18, T15: the device fails as a whole, when what it is doing is done.
void FunctionalHca::fail_if_fatal() {
  if (!std::exchange(is_fatal_, false) || contexts_.has_failed) return;
  raise(EventType::DeviceFatal, 0);
  for (const u32 qpn : device::fail_device(contexts_)) enter_error(qpn);
}

// Raises a CQ's due events after a doorbell, a command or the end of its period.
void FunctionalHca::notify(u32 cqn) {
  const device::EventRing* cq = contexts_.find_cq(cqn);
  if (!cq) return void(cq_timers_.erase(cqn));
  const bool due = device::take_armed(cqs_, cqn, time_of(*cq));
  watch(cqn);
  if (due) raise(cq->eqn, {EventType::Completion, cqn});
}

device::CqTime FunctionalHca::time_of(const device::EventRing& cq) const {
  return {now_, u64{cq.event_period} * 1000};
}

void FunctionalHca::watch(u32 cqn) {
  if (const Nanoseconds due = contexts_.cqs[cqn].event_due)
    cq_timers_[cqn] = due;
  else
    cq_timers_.erase(cqn);
}

void FunctionalHca::raise(u32 eqn, const Event& event) {
  std::array<u8, kEqeBytes> eqe;
  const std::optional<u64> address = device::put_event(contexts_, eqs_, eqn, event, eqe.data());
  if (!address) return void(++host_counters_.lost_events);
  is_fatal_ |= !io_.write(*address, eqe) && eqn != kAsyncEq;
  interrupt(device::take_interrupt(eqs_, vectors_, eqn));
}

void FunctionalHca::raise_of_port(u32 port, PortEvents events) {
  for (std::size_t i = 0; i < kPortEvents.size(); ++i)
    if (events >> i & 1) raise(kPortEvents[i].type, port);
}

void FunctionalHca::interrupt(std::optional<u16> vector) {
  if (!vector) return;
  std::array<u8, kMessageBytes> message;
  device::encode_message(contexts_.vectors[*vector], message.data());
  is_fatal_ |= !io_.write(contexts_.vectors[*vector].address, message);
}

void FunctionalHca::raise_if_drained(u32 qpn) {
  if (const auto event = take_drained(sender(qpn), contexts_.send_of(qpn))) raise(*event, qpn);
}

void FunctionalHca::enter_error(u32 qpn) {
  contexts_.qps[qpn].state = QpState::Error;
  contexts_.send_of(qpn).notify_drained = SqdNotify::None;
  stop_timer(qpn);
  flush_sends(qpn);
  flush_receives(qpn);
}

// G20.2: posted work requests complete in posting order, SQ and RQ independently.
void FunctionalHca::flush_sends(u32 qpn) {
  const QpConfig& qp = contexts_.qps[qpn];
  leave(qpn);
  SendState& s = contexts_.send_of(qpn);
  Cqe cqe{};
  cqe.qpn = qpn;
  cqe.status = flush_status();
  cqe.opcode = CqeOpcode::Send;
  while (s.completed != progress(qpn).posted) {
    cqe.wqe_index = u16(s.completed++);
    complete(qp.send_cq, cqe);
  }
  s.started = s.completed;
}

void FunctionalHca::flush_receives(u32 qpn) {
  const QpConfig& qp = contexts_.qps[qpn];
  ReceiveState& r = contexts_.receive_of(qpn);
  Cqe cqe{};
  cqe.qpn = qpn;
  cqe.status = flush_status();
  cqe.opcode = CqeOpcode::Receive;
  if (holds_receive_wqe(qp, r)) {
    r.message = InMessage::None;
    cqe.wqe_index = u16(uses_srq(qp) ? r.shared_wqe : r.rq_consumed - 1);
    complete_of(qp, contexts_.held_queue_of(qp), cqe);
  }
  forget_received(qpn, true);
  while (r.rq_consumed != r.rq_posted) {
    cqe.wqe_index = u16(r.rq_consumed++);
    complete(qp.receive_cq, cqe);
  }
  if (uses_srq(qp) && has_responder(qp) && !std::exchange(r.last_wqe_told, true))
    raise(EventType::QpLastWqeReached, qpn);  // G20.4
}

// ---- Host memory
std::vector<Sge> FunctionalHca::read_sges(u64 address, u32 count) {
  std::vector<Sge> sges(count);
  std::array<u8, kSgeBytes> raw;
  for (u32 i = 0; i < count; ++i) {
    io_.read(address + u64{i} * kSgeBytes, raw);
    decode_to(raw.data(), sges[i]);
  }
  return sges;
}

std::vector<u64> FunctionalHca::read_pages(const PageList& list) {
  std::vector<u64> pages(list.count);
  std::array<u8, kPageAddressBytes> raw;
  for (u32 i = 0; i < list.count; ++i) {
    io_.read(list.address + u64{i} * kPageAddressBytes, raw);
    pages[i] = load_be<8>(raw.data());
  }
  return pages;
}

// By the pages of its region, one run of bytes after the other.
bool FunctionalHca::read_memory(u32 key, u64 va, std::span<u8> to) {
  bool readable = true;
  while (!to.empty()) {
    const Run run = run_of(contexts_.find_region(key), key, va, u32(to.size()));
    readable &= io_.read(run.address, to.first(run.bytes));
    va += run.bytes;
    to = to.subspan(run.bytes);
  }
  return readable;
}
void FunctionalHca::write_memory(u32 key, u64 va, std::span<const u8> from) {
  while (!from.empty()) {
    const Run run = run_of(contexts_.find_region(key), key, va, u32(from.size()));
    io_.write(run.address, from.first(run.bytes));
    va += run.bytes;
    from = from.subspan(run.bytes);
  }
}

// ---- Time
void FunctionalHca::set_timer(u32 qpn, Nanoseconds delay) {
  stop_timer(qpn);
  if (!delay) return;
  progress(qpn).due = now_ + delay;
  timers_.insert({progress(qpn).due, qpn});
}

void FunctionalHca::stop_timer(u32 qpn) {
  if (const Nanoseconds due = std::exchange(progress(qpn).due, 0)) timers_.erase({due, qpn});
}

std::optional<Nanoseconds> FunctionalHca::next_timer() const {
  std::optional<Nanoseconds> next;
  if (!timers_.empty()) next = timers_.begin()->first;
  if (const auto cq = next_cq_timer(); cq && (!next || cq->first < *next)) next = cq->first;
  return next;
}

std::optional<std::pair<Nanoseconds, u32>> FunctionalHca::next_cq_timer() const {
  std::optional<std::pair<Nanoseconds, u32>> next;
  for (const auto& [cqn, due] : cq_timers_)
    if (!next || due < next->first) next = {due, cqn};
  return next;
}

std::optional<Nanoseconds> FunctionalHca::timer_of(u32 qpn) const {
  for (const auto& [due, owner] : timers_)
    if (owner == qpn) return due;
  return std::nullopt;
}

void FunctionalHca::advance_to(Nanoseconds time) {
  for (auto next = next_timer(); next && *next <= time; next = next_timer()) {
    now_ = *next;
    if (const auto cq = next_cq_timer(); cq && cq->first == now_) {
      notify(cq->second);
      fail_if_fatal();
      continue;
    }
    const u32 qpn = timers_.begin()->second;
    stop_timer(qpn);
    time_out(qpn);
    fail_if_fatal();
  }
  now_ = std::max(now_, time);
}
}  // namespace hca::functional
