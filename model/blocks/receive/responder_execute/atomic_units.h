// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/blocks/receive/responder_execute/response_packets.h"

namespace hca::blocks {
// The units of ATOMIC, ATOMIC WRITE and FLUSH: several operations at once, each indivisible. An
// ATOMIC WRITE writes without reading. A FLUSH reads: a read completes after all earlier writes, so
// its answer shows that they have reached memory.
class AtomicUnits : ResponderPart {
 public:
  AtomicUnits(const ResponderPart& shared, Accesses& accesses, Outcomes& outcomes,
              ResponsePackets& responses)
      : ResponderPart(shared),
        accesses_(accesses),
        outcomes_(outcomes),
        responses_(responses),
        units_(config_.atomics) {}
  void connect(engine::Waker writer);

  // Takes an outcome that may begin.
  void begin(u32 qpn) { waiting_.push(qpn); }
  bool any_to_start() const { return !waiting_.empty(); }
  void start();
  bool any_to_finish() const { return marks_; }
  void finish();
  DmaCallbacks client();

 private:
  enum class UnitStep : u8 { Read, Written };
  // A unit executes one ATOMIC at a time.
  struct Unit {
    engine::Link<UnitStep, 2> steps_in;  // written by dma: value arrived, or new value ordered
    bool busy = false;
    u32 qpn = 0, life = 0;
    u64 address = 0;
    Accesses::Era era = 0;
    Cycle takes = 0;  // cycles from the value to the write
    Cycle since = 0;
    const proto::OpcodeRow* opcode = nullptr;
    proto::AtomicEth operands{};
    std::array<u8, proto::kAtomicBytes> original{}, changed{};
    const u8* change();
  };
  // The value of an ATOMIC WRITE until it is in memory; by then its unit may execute the next one.
  struct Value {
    Value* next = nullptr;
    Pool<Value>* home = nullptr;
    Unit* unit = nullptr;
    std::array<u8, proto::kAtomicBytes> bytes{};
  };
  bool start_first(u32 qpn, ResponderQueue& q);
  Unit* unit_for(const Outcome& o, bool& is_locked);
  void start_in(Unit& unit, u32 qpn, const ResponderQueue& q);
  void start_write(Unit& unit, const Outcome& outcome, DmaRequest& request);
  static Unit& unit_of(const DmaRequest& request);
  void finish_in(Unit& unit);
  void repeat(u32 qpn, ResponderQueue& q);
  void save_and_reply(u32 qpn, ResponderQueue& q, u64 original);
  void reply(u32 qpn, ResponderQueue& q, u64 original);

  Accesses& accesses_;
  Outcomes& outcomes_;
  ResponsePackets& responses_;
  Ring<u32> waiting_;  // queue pairs whose first outcome is an ATOMIC, ATOMIC WRITE or FLUSH
  u32 marks_ = 0;      // units with a step, seen or not
  // A value is read only when the previous write under its lock is in memory (G30.3), so one buffer
  // per unit suffices.
  std::deque<Unit> units_;  // elements stay in place: links
  Pool<Value> values_;
  HeldFirst held_;
};
}  // namespace hca::blocks
