// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/command.h"
#include "model/device/execute_command.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace hca::blocks {
using namespace proto;

void Command::tick() {
  if (has_to_tell()) [[unlikely]]
    tell_port();
  if (cables_in.can_pop()) [[unlikely]]
    take_cable();
  if (!drains_.empty()) [[unlikely]]
    end_drains();
  if (!moves_.empty()) [[unlikely]]
    end_moves();
  if (!accesses_.can_close()) return;  // it wakes
  for (FaultLink& link : faults_in)
    if (link.can_pop()) take_fault(link);
  for (unsigned port = 0; port < port_faults_in.count(); ++port)
    if (port_faults_in[port].can_pop()) take_fault(port_faults_in[port]);
  if (blocks_in.can_pop() && !has_to_tell() && outputs.events_out->can_push() &&
      outputs.cqs_out->can_push())
    arrived(blocks_in.pop());
  if (works_in.can_pop()) take_work();
  if (busy_ || now() < written_ || !bells_in.can_pop()) return;
  start(bells_in.pop().address);  // one at a time: dma_out has room
}

void Command::take_fault(FaultLink& link) {
  const Fault& f = link.front();
  if (f.invalidate) return take_invalidate(link.pop());
  if (f.event == EventType::DeviceFatal) [[unlikely]]
    return take_fatal(link);
  if (f.step != PathStep::None) return take_step(link);
  if (device::is_ee(f.qpn)) [[unlikely]] {  // class D
    if (!outputs.events_out->can_push()) return;
    const u32 ee = link.pop().qpn;
    contexts_.qps[ee].state = contexts_.qps[device::receiver_number(ee)].state = QpState::Error;
    return end_context(ee, requester_.ee_service().failed_status(ee), WcStatus::InvEecStateErr);
  }
  const QpConfig* qp = contexts_.find_qp(f.qpn);
  if (f.sends_alone) {  // whose requester has stopped
    if (qp && sends(qp->state)) {
      contexts_.qps[f.qpn].state = QpState::Sqe;
      ++counters.faults;
    }
    return link.drop();
  }
  if (qp)
    if (SharedQueue* queue = contexts_.find_shared(f.failed_queue); queue && !queue->failed) {
      if (!outputs.events_out->can_push()) return;
      queue->failed = true;
      outputs.events_out->push(EventNote{kAsyncEq, {EventType::SrqErr, f.failed_queue.srqn()}});
      return wake_at(now() + 1);  // for the queue pair
    }
  const bool fails = f.fails && qp && qp->state != QpState::Error && qp->state != QpState::Reset;
  if (f.raise && fails == f.fails) {
    if (!outputs.events_out->can_push()) return;
    outputs.events_out->push(EventNote{kAsyncEq, {f.event, f.qpn, f.part, f.wqe_index}});
  }
  if (fails) {
    contexts_.qps[f.qpn].state = QpState::Error;
    ReceiveState& r = contexts_.receive_of(f.qpn);
    // Requests judged after it do not count; earlier ones are answered.
    if (f.refused) {
      if (f.rolls_back) {
        r.epsn = f.psn;
        r.msn = f.msn;
      }
      r.nak_sent = false;
      r.refused = true;
      r.reads_accepted = execute_.reads_finished[f.qpn].seen(now() + 1);
    }
    ++counters.faults;
    requester_.enter_error(f.qpn);
    execute_.enter_error(f.qpn);
  }
  link.pop();
}

// T15: each queue pair enters Error.
[[gnu::cold]] void Command::take_fatal(FaultLink& link) {
  if (!outputs.events_out->can_push()) return;
  link.drop();
  if (contexts_.has_failed) return;
  outputs.events_out->push(EventNote{kAsyncEq, {EventType::DeviceFatal}});
  for (const u32 qpn : fail_device(contexts_)) {
    ++counters.faults;
    requester_.enter_error(qpn);
    execute_.enter_error(qpn);
  }
}

// o9-156, ERR-39: an EE context is in Error, or is reset or destroyed.
void Command::end_context(u32 ee, WcStatus served, WcStatus asking) {
  const InMessage message = contexts_.receive_of(ee).message;
  const EeService& service = requester_.ee_service();
  const bool fails = contexts_.qps[ee].state == QpState::Error;
  const bool told = message == InMessage::Send || service.blames(ee);
  const bool is_used = message != InMessage::None || service.serves(ee);
  execute_.end_context(ee, WcStatus::LocEecOpErr);
  if (!fails) execute_.clear(device::receiver_number(ee));
  requester_.end_context(ee, served, asking, !fails);
  if (fails && is_used && !told)
    outputs.events_out->push(EventNote{kAsyncEq, {EventType::EecFatal, device::eecn_of(ee)}});
}

void Command::take_invalidate(const Fault& f) {
  free_key(contexts_, *f.invalidate);
  ++counters.invalidations;
  execute_.invalidated(f.qpn, f.life);
  drain({.report = Report::Invalidate, .qpn = f.qpn, .life = f.life, .key = f.invalidate});
}

// It is reported when the accesses that were judged up to now have drained.
void Command::drain(Drain drain) {
  drain.era = accesses_.close();
  drain.since = now();
  if (accesses_.drained(drain.era) && !(drain.key && accesses_.has_reads(key_index(*drain.key)))) {
    if (drains_.empty()) contexts_.left_page_lists.clear();
    return report(drain);
  }
  accesses_.watch_reads(true);
  drains_.push_back(drain);
}

bool Command::has_drained(const Drain& drain) const {
  return accesses_.seen_drained(drain.era) &&
         !(drain.key && accesses_.seen_reads(key_index(*drain.key)));
}

void Command::end_drains() {
  for (auto drain = drains_.begin(); drain != drains_.end();) {
    const bool is_over = has_drained(*drain);
    if (is_over) {
      report(*drain);
      counters.waits_drain += now() - drain->since;
    }
    drain = is_over ? drains_.erase(drain) : std::next(drain);
  }
  if (!drains_.empty()) return;
  accesses_.watch_reads(false);
  contexts_.left_page_lists.clear();
}

void Command::report(const Drain& drain) {
  switch (drain.report) {
    case Report::Command:
      return write_back();
    case Report::Invalidate:
      return execute_.end_invalidate(drain.qpn, drain.life);
    case Report::Work:
      requester_.local_works.end(drain.qpn, drain.life, drain.work);
  }
}

void Command::start(u64 address) {
  busy_ = true;
  address_ = address;
  outputs.dma_out->start().set_read(address, block_.data(), kCommandBytes, nullptr);
}

// The block, or the page list that it or a work request names.
void Command::arrived(bool readable) {
  if (list_.count && !take_part()) return ask_part();
  if (!readable && !work_ && !list_.count) {
    drop_unread();
  } else if (work_) {
    execute_work(*work_, pages_);
    work_.reset();
    busy_ = false;
  } else if (list_.count || !ask_pages(device::page_list_of(block_.data()))) {
    execute();
  } else {
    return;  // the list is still to come
  }
  list_ = {};
}

// An unreadable command block names no object to report or take to Error (ERR-23).
void Command::drop_unread() {
  ++counters.refused;
  busy_ = false;
}

// False: there is none.
bool Command::ask_pages(const PageList& list) {
  list_ = list;
  pages_.clear();
  if (!list.count) return false;
  ask_part();
  return true;
}

u32 Command::part_pages() const { return std::min(kPagesAtOnce, list_.count - u32(pages_.size())); }
void Command::ask_part() {
  const u64 address = list_.address + pages_.size() * kPageAddressBytes;
  outputs.dma_out->start().set_read(address, page_bytes_.data(), part_pages() * kPageAddressBytes,
                                    nullptr);
}
// True: the list is complete.
bool Command::take_part() {
  const u32 count = part_pages();
  for (u32 i = 0; i < count; ++i)
    pages_.push_back(load_be<8>(page_bytes_.data() + i * kPageAddressBytes));
  return pages_.size() == list_.count;
}

// One with a page list waits for its turn among the commands.
void Command::take_work() {
  const PageList list = page_list_of(works_in.front());
  if (list.count && (busy_ || now() < written_)) return;
  const device::LocalWork work = works_in.pop();
  if (!list.count) return execute_work(work, {});
  work_ = work;
  busy_ = true;
  ask_pages(list);
}

void Command::execute_work(const device::LocalWork& work, std::span<const u64> list) {
  if (!requester_.local_works.waits_for(work.qpn, work.life)) return;
  const bool done = execute_local(contexts_, work, list);
  ++counters.local_works;
  requester_.local_works.go_on(work.qpn, done ? WcStatus::Success : refused_local_status());
  if (!done) return;
  Drain completes{.report = Report::Work, .qpn = work.qpn, .life = work.life, .work = work.index};
  if (work.wqe.opcode == WorkOpcode::RegisterMr) return report(completes);
  completes.key = key_of(work);
  drain(completes);
  probe.event(now(), Step::Passed, work.qpn, u64(work.wqe.opcode), work.wqe.index);
}

void Command::execute() {
  const device::CommandEffect effect = execute_command(contexts_, block_.data(), pages_);
  const auto header = decode<CommandHeader>(block_.data());
  ++counters.commands;
  counters.refused += header.status != CommandStatus::Ok;
  if (effect.flush) {
    requester_.enter_error(effect.qpn);
    execute_.enter_error(effect.qpn);
  }
  if (effect.clear) {
    requester_.clear(effect.qpn);
    execute_.clear(effect.qpn);
  }
  if (effect.ended_eec)
    end_context(device::ee_number(*effect.ended_eec), WcStatus::LocEecOpErr, effect.ended_status);
  if (effect.changed_eec) requester_.serve(device::ee_number(*effect.changed_eec));
  if (effect.start) requester_.psns.start(effect.qpn);
  if (effect.drain) requester_.drain(effect.qpn);
  if (effect.resume) requester_.resume(effect.qpn);
  if (effect.recover) requester_.recover(effect.qpn);
  if (effect.message) outputs.events_out->push(EventNote{.message = true, .vector = effect.vector});
  if (effect.event) outputs.events_out->push(EventNote{kAsyncEq, *effect.event});
  if (effect.cqn) outputs.cqs_out->push(*effect.cqn);
  if (effect.port_events) tell(effect.port, effect.port_events);
  if (effect.takes_away)
    drain({.report = Report::Command, .key = effect.key});
  else if (effect.migrates)
    start_move({.qpn = effect.qpn, .writes_back = true});
  else
    write_back();
  probe.event(now(), Step::Passed, header.object, u64(header.opcode), u64(header.status));
}

void Command::write_back() {
  outputs.dma_out->start().set_write(address_, block_.data(), kCommandBytes, nullptr, false,
                                     now() + 1, now() + 1);
}

void Command::take_cable() {
  const CableChange change = cables_in.front();
  if (port_events_[change.port - 1]) return;  // tell_port() wakes
  cables_in.pop();
  tell(change.port, change_cable(contexts_, change.port, change.is_broken));
}

void Command::tell(u32 port, PortEvents events) {
  port_events_[port - 1] = events;
  if (events) wake_at(now() + 1);
}

// One event a cycle; the next command waits for the last.
void Command::tell_port() {
  wake_at(now() + 1);
  if (!outputs.events_out->can_push()) return;
  const u32 port = port_events_[0] ? 1 : 2;
  PortEvents& events = port_events_[port - 1];
  const unsigned row = unsigned(std::countr_zero(events));
  events = PortEvents(events & (events - 1));
  outputs.events_out->push(EventNote{kAsyncEq, {kPortEvents[row].type, port}});
}

DmaCallbacks Command::client() {
  return {this,
          [](void* owner, const DmaRequest& r, Cycle, Cycle last) {
            auto& x = *static_cast<Command*>(owner);
            const Cycle seen = std::max(last, x.dma.now()) + x.config_.latency;
            x.blocks_in.push(u32{!r.failed}, 1, seen - x.dma.now() - 1);
          },
          [](void* owner, const DmaRequest&) {
            auto& x = *static_cast<Command*>(owner);
            x.busy_ = false;
            x.written_ = x.dma.now() + x.config_.interval;
            x.self.wake(x.written_);
          }};
}
}  // namespace hca::blocks
