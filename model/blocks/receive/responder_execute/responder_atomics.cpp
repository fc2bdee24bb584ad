// SPDX-License-Identifier: Apache-2.0
// ATOMICs, and ATOMIC WRITE and FLUSH, which take the same units: several at once, each indivisible.
// An ATOMIC WRITE writes without reading. A FLUSH reads: the answer of a read comes after all that
// was written before, so that memory has it.
#include <algorithm>
#include <bit>
#include <cstring>

#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/proto/transport/reply_rules.h"

namespace hca::blocks {
using namespace proto;

// Room for a response packet, and for it among the answers.
inline bool ResponderExecute::may_reply(u32 qpn) {
  Side& side = side_of(qpn);
  return responses_of(side, qpn).available() && side.replies_out->can_push();
}

namespace {
bool writes(const OpcodeRow& row) { return row.traits().changes_memory(); }
bool overlap(u64 a, u64 b) { return a < b + kAtomicBytes && b < a + kAtomicBytes; }
}  // namespace

// A unit that is free, if no other one holds the lock of the address; the host's AtomicOps need
// none.
ResponderExecute::AtomicUnit* ResponderExecute::unit_for(const Outcome& o, bool& is_locked) {
  AtomicUnit* free = nullptr;
  const u64 address = o.address;
  const bool locks = config_.atomic_by == AtomicBy::Device && writes(*o.opcode);
  for (AtomicUnit& unit : atomic_units_) {
    if (!unit.busy)
      free = free ? free : &unit;
    else if (locks && writes(*unit.opcode) &&
             ((unit.address ^ address) << (64 - config_.atomic_lock_bits) == 0 ||
              overlap(unit.address, address)))
      return is_locked = true, nullptr;
  }
  return free;
}

void ResponderExecute::connect_atomics(engine::Waker writer) {
  for (u32 i = 0; i < config_.atomics; ++i) {
    atomic_units_[i].steps_in.connect(writer, self, "ATOMIC value");
    atomic_units_[i].steps_in.mark(atomic_marks_, 1u << i);
  }
}

// What is first waits for something else than before, or for nothing any more.
void ResponderExecute::hold(Held& held, u64 ResponderExecuteCounters::*what) {
  if (held.what == what) return;
  if (held.what) counters.*held.what += now() - held.since;
  held = {what, now()};
}

// In the order in which they may begin: one that must wait holds up those behind it.
void ResponderExecute::start_atomics() {
  while (!atomics_.empty()) {
    const u32 qpn = atomics_.front();
    Queue& q = queues_[qpn];
    if (!q.first || q.first->kind != OutcomeKind::Atomic || !q.first->started) {
      atomics_.drop();
    } else if (q.flushing) {
      atomics_.drop();
      finish_first(qpn, q);
    } else if (q.first->repeats) {
      if (!may_reply(qpn)) return;
      atomics_.drop();
      repeat_atomic(qpn, q);
    } else if (!q.first->granted) {  // a FLUSH of no bytes
      if (!may_reply(qpn)) return;
      atomics_.drop();
      save_and_reply(qpn, q, 0);
    } else {
      bool is_locked = false;
      AtomicUnit* const unit = unit_for(*q.first, is_locked);
      hold(atomic_held_, unit        ? nullptr
                         : is_locked ? &ResponderExecuteCounters::waits_lock
                                     : &ResponderExecuteCounters::waits_atomics);
      if (!unit || !ports.atomics_out->can_push()) return;  // the end of one finds it here
      atomics_.drop();
      start_atomic(*unit, qpn, q);
    }
  }
}

void ResponderExecute::start_atomic(AtomicUnit& unit, u32 qpn, const Queue& q) {
  const Outcome& o = *q.first;
  const bool adds = o.opcode->operation == Operation::FetchAdd;
  unit.since = now();
  unit.busy = true, unit.qpn = qpn, unit.life = q.life, unit.address = o.address;
  unit.takes = adds ? config_.fetch_add : 0;
  unit.opcode = o.opcode, unit.operands = o.operands;
  unit.era = accesses_.begin();
  DmaRequest& request = ports.atomics_out->start();
  if (o.opcode->payload == PayloadRule::Eight) return start_atomic_write(unit, o, request);
  if (!writes(*o.opcode)) {
    const u32 exact = o.opcode->traits().exact_bytes;
    return request.set_read(o.address, unit.original.data(), exact ? exact : 1, &unit);
  }
  if (config_.atomic_by == AtomicBy::Device) {
    request.set_read(o.address, unit.original.data(), kAtomicBytes, &unit);
    return void(request.locks = true);
  }
  const u8 operands = adds ? kAtomicBytes : 2 * kAtomicBytes;
  request.set_atomic(o.address, unit.original.data(), operands, &unit);
}

void ResponderExecute::start_atomic_write(AtomicUnit& unit, const Outcome& o, DmaRequest& request) {
  AtomicValue* const value = atomic_values_.take();
  value->unit = &unit;
  store_le8(value->bytes.data(), o.operands.swap_add);
  request.set_write(o.address, value->bytes.data(), kAtomicBytes, value, true, now() + 1,
                    now() + 1);
}

const u8* ResponderExecute::AtomicUnit::change() {
  store_le8(changed.data(), atomic_result(*opcode, operands, load_le8(original.data())));
  return changed.data();
}

void ResponderExecute::finish_atomics() {
  for (u32 m = atomic_marks_; m; m &= m - 1) {
    AtomicUnit& unit = atomic_units_[unsigned(std::countr_zero(m))];
    if (unit.steps_in.can_pop()) finish_atomic(unit);
    if (unit.steps_in.empty()) atomic_marks_ &= ~(m & -m);
  }
}

// The value of an ATOMIC is here: the new one is written, and with that the lock in dma opens,
// whatever became of the queue pair. It is ordered: the old one is the answer. Only then may another
// value be read under the same lock (ATOM-2, G30.3). What a FLUSH has read, or an ATOMIC WRITE
// written, is answered at once.
void ResponderExecute::finish_atomic(AtomicUnit& unit) {
  const u32 qpn = unit.qpn;
  Queue& q = queues_[qpn];
  const bool alive = unit.life == q.life, written = unit.steps_in.front() == AtomicStep::Written;
  const bool goes_on = alive && !q.flushing;
  const bool writes_back = !written && writes(*unit.opcode);
  if (writes_back && !ports.atomics_out->can_push()) return;
  if (!writes_back && goes_on && !may_reply(qpn)) return;
  unit.steps_in.drop();
  if (writes_back) {
    DmaRequest& request = ports.atomics_out->start();
    request.set_write(unit.address, unit.change(), kAtomicBytes, &unit, true, now() + 1, now() + 1);
    return void(request.locks = true);
  }
  accesses_.end(unit.era);
  unit.busy = false, counters.atomic_cycles += now() - unit.since;
  if (!alive) return;
  if (!goes_on) return finish_first(qpn, q);
  save_and_reply(qpn, q, load_le8(unit.original.data()));
}

// A new one is done.
void ResponderExecute::save_and_reply(u32 qpn, Queue& q, u64 original) {
  const OperationRow& row = q.first->opcode->traits();
  const bool flushes = row.operation == Operation::Flush;
  ++(flushes                        ? counters.flushes
     : row.answer == Answer::Atomic ? counters.atomics
                                    : counters.atomic_writes);
  q.saved.save(contexts_.qps[qpn].max_dest_rd_atomic, q.first->effect, row.operation, original);
  reply_atomic(qpn, q, original);
}

namespace {
// Of an ATOMIC the write opens the lock that its read has taken.
bool is_atomic_write(const DmaRequest& request) { return request.write && !request.locks; }
}  // namespace

ResponderExecute::AtomicUnit& ResponderExecute::unit_of(const DmaRequest& request) {
  if (is_atomic_write(request)) return *static_cast<AtomicValue*>(request.context)->unit;
  return *static_cast<AtomicUnit*>(request.context);
}

Dma::Client ResponderExecute::atomic_client() {
  return {this,
          [](void* owner, const DmaRequest& r, Cycle, Cycle last) {
            AtomicUnit& unit = unit_of(r);
            const bool written = r.write || r.operands;
            const Cycle now = static_cast<ResponderExecute*>(owner)->dma.now();
            unit.steps_in.push(written ? AtomicStep::Written : AtomicStep::Read, 1,
                               std::max(last, now + 1) - now - 1 + (written ? 0 : unit.takes));
          },
          [](void*, const DmaRequest& r) {
            if (is_atomic_write(r))
              Pool<AtomicValue>::give_back(static_cast<AtomicValue*>(r.context));
          },
          [](void*, const DmaRequest& r) { return unit_of(r).change(); }};
}

void ResponderExecute::count_not_saved(const QpConfig& qp) {
  ++counters.not_saved;
  counts_.add(qp, RequestCause::NotSaved);
}

// G3.4: the saved result, or nothing.
void ResponderExecute::repeat_atomic(u32 qpn, Queue& q) {
  const Operation operation = q.first->opcode->operation;
  const SavedRequest* held = q.saved.find_result(q.first->effect.ack_psn, operation);
  if (!held) return count_not_saved(contexts_.qps[qpn]), finish_first(qpn, q);
  ++counters.repeated;
  const u64 original = held->original;
  reply_atomic(qpn, q, original);
}

void ResponderExecute::reply_atomic(u32 qpn, Queue& q, u64 original) {
  const QpConfig& qp = contexts_.qps[qpn];
  const Outcome& o = *q.first;
  const Operation reply = answer_row(o.opcode->traits().answer).reply;
  Packet* p = make_response(qp, o, reply_row(qp.service, reply), o.effect.ack_psn, 0, original);
  side_of(qpn).replies_out->push(Reply{.qpn = qpn, .psn = p->psn, .packet = p});
  probe.event(now() + 1, Step::Completed, qpn, p->psn);
  note_told(q.told, o.effect.ack_psn, o.reply.msn, o.reply.syndrome, o.consumed);
  finish_first(qpn, q);
}
}  // namespace hca::blocks
