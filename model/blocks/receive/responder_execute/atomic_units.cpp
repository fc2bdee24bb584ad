// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/atomic_units.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "model/proto/transport/atomics.h"

namespace hca::blocks {
using namespace proto;

namespace {
bool writes(const OpcodeRow& row) { return row.traits().changes_memory(); }
// For each operation of the units: its counter, and the knob of the time from its value to the
// write.
struct UnitRow {
  Operation operation;
  u64 ResponderExecuteCounters::*done;
  Cycle ResponderExecuteConfig::*takes;
};
constexpr auto kUnitRows = [] {
  using enum Operation;
  using C = ResponderExecuteCounters;
  return std::array{
      UnitRow{CompareSwap, &C::atomics, nullptr},
      UnitRow{FetchAdd, &C::atomics, &ResponderExecuteConfig::fetch_add},
      UnitRow{Flush, &C::flushes, nullptr},
      UnitRow{AtomicWrite, &C::atomic_writes, nullptr},
  };
}();
const UnitRow& unit_row(Operation operation) {
  return *std::ranges::find(kUnitRows, operation, &UnitRow::operation);
}
// All saved requests but the READs take a unit.
static_assert(std::ranges::all_of(kOperationRows, [](const OperationRow& row) {
  const bool takes_unit = row.is_saved() && row.answer != Answer::Read;
  return std::ranges::count(kUnitRows, row.operation, &UnitRow::operation) == takes_unit;
}));
bool overlap(u64 a, u64 b) { return a < b + kAtomicBytes && b < a + kAtomicBytes; }
}  // namespace

// Returns a free unit, if no other unit holds the lock of the address; the host's AtomicOps need no
// lock.
AtomicUnits::Unit* AtomicUnits::unit_for(const Outcome& o, bool& is_locked) {
  Unit* free = nullptr;
  const u64 address = o.address;
  const bool locks = config_.atomic_by == AtomicBy::Device && writes(*o.opcode);
  for (Unit& unit : units_) {
    if (!unit.busy)
      free = free ? free : &unit;
    else if (locks && writes(*unit.opcode) &&
             ((unit.address ^ address) << (64 - config_.atomic_lock_bits) == 0 ||
              overlap(unit.address, address))) {
      is_locked = true;
      return nullptr;
    }
  }
  return free;
}

void AtomicUnits::connect(engine::Waker writer) {
  for (u32 i = 0; i < config_.atomics; ++i) {
    units_[i].steps_in.connect(writer, self_, "ATOMIC value");
    units_[i].steps_in.mark(marks_, 1u << i);
  }
}

// Starts ATOMICs in the order in which they may begin: one that must wait holds up those after it.
void AtomicUnits::start() {
  while (!waiting_.empty()) {
    const u32 qpn = waiting_.front();
    ResponderQueue& q = queues_[qpn];
    if (!q.first || q.first->kind != OutcomeKind::Atomic || !q.first->started) {
      waiting_.drop();
    } else if (q.flushing) {
      waiting_.drop();
      outcomes_.finish_first(qpn, q);
    } else if (q.first->repeats) {
      if (!responses_.may_reply(qpn)) return;
      waiting_.drop();
      repeat(qpn, q);
    } else if (!q.first->granted) {  // a FLUSH of no bytes
      if (!responses_.may_reply(qpn)) return;
      waiting_.drop();
      save_and_reply(qpn, q, 0);
    } else if (!start_first(qpn, q)) {
      return;  // it starts when a unit becomes free
    }
  }
}

// False: no unit may take it, or dma has no room.
bool AtomicUnits::start_first(u32 qpn, ResponderQueue& q) {
  bool is_locked = false;
  Unit* const unit = unit_for(*q.first, is_locked);
  const HeldFirst::What what = unit        ? nullptr
                               : is_locked ? &ResponderExecuteCounters::waits_lock
                                           : &ResponderExecuteCounters::waits_atomics;
  held_.change(what, now(), counters_);
  if (!unit || !outputs_.atomics_out->can_push()) return false;
  waiting_.drop();
  start_in(*unit, qpn, q);
  return true;
}

void AtomicUnits::start_in(Unit& unit, u32 qpn, const ResponderQueue& q) {
  const Outcome& o = *q.first;
  unit.since = now();
  unit.busy = true;
  unit.qpn = qpn;
  unit.life = q.life;
  unit.address = o.address;
  const UnitRow& row = unit_row(o.opcode->operation);
  unit.takes = row.takes ? config_.*row.takes : 0;
  unit.opcode = o.opcode;
  unit.operands = o.operands;
  unit.era = accesses_.begin();
  DmaRequest& request = outputs_.atomics_out->start();
  if (o.opcode->payload == PayloadRule::Eight) return start_write(unit, o, request);
  if (!writes(*o.opcode)) {
    const u32 exact = o.opcode->traits().exact_bytes;
    return request.set_read(o.address, unit.original.data(), exact ? exact : 1, &unit);
  }
  if (config_.atomic_by == AtomicBy::Device) {
    request.set_read(o.address, unit.original.data(), kAtomicBytes, &unit);
    return void(request.locks = true);
  }
  const u32 operands = change_row(o.opcode->traits().change).operands * kAtomicBytes;
  request.set_atomic(o.address, unit.original.data(), u8(operands), &unit);
}

void AtomicUnits::start_write(Unit& unit, const Outcome& o, DmaRequest& request) {
  Value* const value = values_.take();
  value->unit = &unit;
  store_le8(value->bytes.data(), o.operands.swap_add);
  request.set_write(o.address, value->bytes.data(), kAtomicBytes, value, true, now() + 1,
                    now() + 1);
}

const u8* AtomicUnits::Unit::change() {
  store_le8(changed.data(), atomic_result(*opcode, operands, load_le8(original.data())));
  return changed.data();
}

void AtomicUnits::finish() {
  for (u32 m = marks_; m; m &= m - 1) {
    Unit& unit = units_[unsigned(std::countr_zero(m))];
    if (unit.steps_in.can_pop()) finish_in(unit);
    if (unit.steps_in.empty()) marks_ &= ~(m & -m);
  }
}

// Step Read: the value of an ATOMIC has arrived. The new value is written, which opens the lock in
// dma, whatever became of the queue pair. Step Written: the new value is ordered, and the old one
// is the answer. Only then may another value be read under the same lock (ATOM-2, G30.3). A FLUSH
// is answered directly after its read, an ATOMIC WRITE directly after its write.
void AtomicUnits::finish_in(Unit& unit) {
  const u32 qpn = unit.qpn;
  ResponderQueue& q = queues_[qpn];
  const bool alive = unit.life == q.life, written = unit.steps_in.front() == UnitStep::Written;
  const bool goes_on = alive && !q.flushing;
  const bool writes_back = !written && writes(*unit.opcode);
  if (writes_back && !outputs_.atomics_out->can_push()) return;
  if (!writes_back && goes_on && !responses_.may_reply(qpn)) return;
  unit.steps_in.drop();
  if (writes_back) {
    DmaRequest& request = outputs_.atomics_out->start();
    request.set_write(unit.address, unit.change(), kAtomicBytes, &unit, true, now() + 1, now() + 1);
    return void(request.locks = true);
  }
  accesses_.end(unit.era);
  unit.busy = false;
  counters_.atomic_cycles += now() - unit.since;
  if (!alive) return;
  if (!goes_on) return outcomes_.finish_first(qpn, q);
  save_and_reply(qpn, q, load_le8(unit.original.data()));
}

// A new operation (no duplicate) is done.
void AtomicUnits::save_and_reply(u32 qpn, ResponderQueue& q, u64 original) {
  const Operation operation = q.first->opcode->operation;
  ++(counters_.*unit_row(operation).done);
  q.saved.save(contexts_.qps[qpn].max_dest_rd_atomic, q.first->effect, operation, original);
  reply(qpn, q, original);
}

namespace {
// The write of an ATOMIC opens the lock that its read has taken.
bool is_atomic_write(const DmaRequest& request) { return request.write && !request.locks; }
}  // namespace

AtomicUnits::Unit& AtomicUnits::unit_of(const DmaRequest& request) {
  if (is_atomic_write(request)) return *static_cast<Value*>(request.context)->unit;
  return *static_cast<Unit*>(request.context);
}

DmaCallbacks AtomicUnits::client() {
  return {this,
          [](void* part, const DmaRequest& r, Cycle, Cycle last) {
            Unit& unit = unit_of(r);
            const bool written = r.write || r.operands;
            const Cycle now = static_cast<AtomicUnits*>(part)->now();
            unit.steps_in.push(written ? UnitStep::Written : UnitStep::Read, 1,
                               std::max(last, now + 1) - now - 1 + (written ? 0 : unit.takes));
          },
          [](void*, const DmaRequest& r) {
            if (is_atomic_write(r)) Pool<Value>::give_back(static_cast<Value*>(r.context));
          },
          [](void*, const DmaRequest& r) { return unit_of(r).change(); }};
}

// G3.4: answers a duplicate with the saved result, or not at all.
void AtomicUnits::repeat(u32 qpn, ResponderQueue& q) {
  const Operation operation = q.first->opcode->operation;
  const SavedRequest* held = q.saved.find_result(q.first->effect.ack_psn, operation);
  if (!held) return outcomes_.finish_not_saved(qpn, q);
  ++counters_.repeated;
  const u64 original = held->original;
  reply(qpn, q, original);
}

void AtomicUnits::reply(u32 qpn, ResponderQueue& q, u64 original) {
  const QpConfig& qp = contexts_.qps[qpn];
  const Outcome& o = *q.first;
  const Operation reply = answer_row(o.opcode->traits().answer).reply;
  Packet* p = responses_.make(qp, o, reply_row(qp.service, reply), o.effect.ack_psn, 0, original);
  ports_.of(qpn).replies_out->push(Reply{.qpn = qpn, .psn = p->psn, .packet = p});
  probe_.event(now() + 1, Step::Completed, qpn, p->psn);
  note_told(q.told, o.effect.ack_psn, o.reply.msn, o.reply.syndrome, o.consumed);
  outcomes_.finish_first(qpn, q);
}
}  // namespace hca::blocks
