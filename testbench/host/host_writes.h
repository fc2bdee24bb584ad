// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "model/engine/counters.h"
#include "testbench/host/host_cpu.h"

namespace hca::testbench {
struct HostCounters {
  u64 register_cycles = 0, busiest_register = 0, combining_cycles = 0, waits_register = 0,
      waits_combining = 0;
};

// What writes to the BAR cost the cores of a host.
//  - Cores that ring one doorbell register do so one after the other: each has it for
//    `doorbell_lock`, and `doorbell_contention` for each in front of it when it comes; it does
//    nothing else until it has had it.
//  - A pushed WQE leaves a core line by line, 64 bytes each `push_line`, behind what is in front;
//    the core waits when all its buffers of write combining are full.
// The writes of one core leave in their order. One that leaves later is kept until then: PCIe knows
// nothing of it, so that it holds up nothing that is earlier on the line.
class HostWrites : public engine::Block {
 public:
  struct Kept {
    Cycle rung, leaves;
    u32 offset;
    std::vector<u8> data;
  };
  HostWrites(const HostConfig& config, u64 hertz);
  // A write of `bytes` at `offset` in cycle `now`, by a core that acts, or from outside of the
  // simulation (nullptr): the cycle in which it leaves. The core is held.
  Cycle leaves(HostCpu* core, Cycle now, u32 offset, std::size_t bytes) {
    return core && !(lock_ | push_line_) ? now : paid_by(core, now, offset, bytes);
  }
  // `send` has it in the cycle in which it leaves, one that has not begun.
  void keep(Kept write);
  void tick();
  std::function<void(const Kept&)> send;
  bool has_lock() const { return lock_; }
  // Of so many cores some ring the same register.
  bool shares_registers(u32 cores) const { return registers_ && registers_ < cores; }
  bool combines() const { return push_line_; }
  const HostCounters& counters() const { return counters_; }

 private:
  // Of a core: when each of its buffers is free again, in the order of their use, and its last line
  // gone.
  struct Combining {
    std::vector<Cycle> free_from;
    std::size_t next = 0;
    Cycle gone = 0;
  };
  Cycle paid_by(HostCpu* core, Cycle now, u32 offset, std::size_t bytes);
  Cycle take_register(HostCpu& core, Cycle at);
  Cycle combine(HostCpu& core, Cycle at, std::size_t lines);

  Cycle in_order(HostCpu* core, Cycle leaves);

  const u32 registers_, buffers_;
  const Cycle lock_, contention_, push_line_;
  struct Register {
    std::deque<Cycle> turns;  // when those that are not over end
    u64 locked = 0;           // cycles
  };
  std::vector<Register> all_registers_;
  std::vector<Combining> combining_;  // by core
  std::vector<Cycle> last_leaves_;    // the same, behind that of what comes from outside
  std::deque<Kept> kept_;             // in the order in which they leave
  HostCounters counters_;
};
}  // namespace hca::testbench

template <>
struct hca::engine::Counters<hca::testbench::HostCounters> {
  using C = hca::testbench::HostCounters;
  static constexpr std::string_view block = "host";
  static constexpr auto rows = make_rows(
      counter("register_cycles", &C::register_cycles, "cycles",
              "in which doorbell registers were locked, of all"),
      counter("busiest_register", &C::busiest_register, "cycles",
              "of them those of the one that was locked longest"),
      counter("combining_cycles", &C::combining_cycles, "cycles",
              "in which lines of pushed WQEs left write combining, of all cores"),
      counter("waits_register", &C::waits_register, kWaited,
              "a doorbell register that another core had (doorbell_registers), of all cores"),
      counter("waits_combining", &C::waits_combining, kWaited,
              "a buffer of write combining (combining_buffers, push_line), of all cores"));
};
