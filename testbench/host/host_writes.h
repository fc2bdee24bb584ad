// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/engine/budget.h"
#include "model/engine/counters.h"
#include "testbench/host/host_lock.h"
#include "tlm/pcie/pcie_credits.h"

namespace hca::testbench {
struct HostCounters {
  u64 register_cycles = 0, busiest_register = 0, combining_cycles = 0, waits_register = 0,
      waits_combining = 0, queue_cycles = 0, busiest_queue = 0, waits_queue = 0;
};

// Flow-control credits of the HCA for MMIO writes; 0: infinite.
struct MmioCredits {
  u32 headers = 0, data = 0;
};

// The costs of writes to the BAR for the cores of a host.
//  - Cores that ring the same doorbell register do so in sequence. Each holds the register for
//    `doorbell_lock`, plus `doorbell_contention` for each core that already waits when it arrives;
//    it does nothing else until it is done.
//  - A pushed WQE leaves a core line by line, 64 bytes each `push_line`, after earlier lines. The
//    core waits when all its write-combining buffers are full.
//  - Cores that share a queue pair or completion queue use it in sequence, for `queue_lock`, plus
//    `queue_contention` for each core before it, and the work itself.
//  - A write leaves when the HCA has a header credit for it and a data credit for each 16 bytes.
//    They return after the HCA has taken it. Until it leaves, all writes of the host wait behind
//    it, and each core with such a write does nothing else.
// The writes of one core leave in order. A delayed write is kept here until it leaves and is not
// yet on PCIe, so it delays no earlier write on the line.
class HostWrites : public engine::Block {
 public:
  struct Kept {
    Cycle rung, leaves;
    u32 offset;
    std::vector<u8> data;
    HostCpu* core = nullptr;  // nullptr: from outside
    bool waits = false;       // for credits, and its core too
  };
  HostWrites(const HostConfig& config, u64 hertz, MmioCredits credits = {});
  void connect();  // after `self` is set
  // A write of `bytes` at `offset` in cycle `now`, by an acting core or from outside the simulation
  // (nullptr). Returns the cycle in which it leaves. The core is held until then.
  Cycle leaves(HostCpu* core, Cycle now, u32 offset, std::size_t bytes) {
    return core && !(lock_.each | push_line_ | core->held()) ? now
                                                             : paid_by(core, now, offset, bytes);
  }
  // An acting core uses a shared queue, from cycle `now` on, for `work` cycles.
  void lock_queue(HostCpu& core, const void* queue, Cycle now, Cycle work);
  // Takes the credits of a write that leaves in the present cycle, of an acting core or from outside
  // the simulation (nullptr). False: it has to be kept.
  bool take_credits(const HostCpu* core, std::size_t bytes);
  // Those of a write that the HCA has taken are there again in a later cycle.
  void give_credits(Cycle at, u32 bytes) {
    if (credits_) credits_->give(at, in_credits(bytes));
  }
  // Passes the write to `send` in the cycle in which it leaves: `leaves`, or when it has credits.
  void keep(Kept write);
  void tick();
  std::function<void(const Kept&)> send;
  bool has_lock() const { return lock_.each; }
  // True if some of this many cores ring the same register.
  bool shares_registers(u32 cores) const { return registers_ && registers_ < cores; }
  bool combines() const { return push_line_; }
  const HostCounters& counters() const { return counters_; }

 private:
  // State of a core: when each of its buffers becomes free, in the order of use, and when its last
  // line has left.
  struct Combining {
    std::vector<Cycle> free_from;
    std::size_t next = 0;
    Cycle gone = 0;
  };
  Cycle paid_by(HostCpu* core, Cycle now, u32 offset, std::size_t bytes);
  Cycle take_register(HostCpu& core, Cycle at);
  Cycle combine(HostCpu& core, Cycle at, std::size_t lines);

  Cycle in_order(HostCpu* core, Cycle leaves);
  // The bytes of the data credits that a write needs.
  static constexpr u32 in_credits(u32 bytes) {
    return tlm_::PcieCreditPair::of(bytes) * tlm_::PcieCreditPair::kBytes;
  }
  void hold_cores();

  const u32 registers_, buffers_;
  const HostLock::Costs lock_, queue_lock_;
  const Cycle push_line_;
  struct Register {
    HostLock lock;
    u64 locked = 0;  // cycles
  };
  struct Queue {
    HostLock lock;
    u64 in_use = 0;  // cycles
  };
  std::map<const void*, Queue> queues_;  // by the queue that cores share
  std::vector<Register> all_registers_;
  std::vector<Combining> combining_;       // by core
  std::vector<Cycle> last_leaves_;         // by core, after the entry for writes from outside
  std::deque<Kept> kept_;                  // in order of departure
  std::optional<engine::Budget> credits_;  // nothing: infinite
  HostCounters counters_;
};
}  // namespace hca::testbench

template <>
struct hca::engine::Counters<hca::testbench::HostCounters> {
  using C = hca::testbench::HostCounters;
  static constexpr std::string_view block = "host";
  static constexpr auto rows = make_rows(
      counter("register_cycles", &C::register_cycles, "cycles",
              "in which doorbell registers were locked, summed"),
      counter("busiest_register", &C::busiest_register, "cycles",
              "in which the busiest register was locked"),
      counter("queue_cycles", &C::queue_cycles, "cycles",
              "in which threads locked shared queues, beside their work, summed"),
      counter("busiest_queue", &C::busiest_queue, "cycles",
              "in which threads had the busiest shared queue, with their work"),
      counter("combining_cycles", &C::combining_cycles, "cycles",
              "in which lines of pushed WQEs left write-combining buffers, over all cores"),
      counter("waits_register", &C::waits_register, kWaited,
              "a doorbell register locked by another core (doorbell_registers), over all cores"),
      counter("waits_queue", &C::waits_queue, kWaited,
              "a queue pair or completion queue locked by another thread (queue_lock), over all "
              "cores"),
      counter("waits_combining", &C::waits_combining, kWaited,
              "a write-combining buffer (combining_buffers, push_line), over all cores"));
};
