// SPDX-License-Identifier: Apache-2.0
// Which thread of a program in simulated time has its turn, and when. Nothing here knows what else
// the simulation is made of: the test of turns (testbench/tests/programs/time_library/turns) has it
// without.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "testbench/host/host_cpu.h"
#include "testbench/programs/server/turns.h"

namespace hca::attach {
using engine::Cycle;

// What threads need of the host that they run on.
class ThreadHost {
 public:
  virtual ~ThreadHost() = default;
  virtual u64 period() const = 0;  // of its clock, ps
  virtual Cycle now() const = 0;   // outside of the simulation
  virtual std::optional<unsigned> take_core() = 0;
  virtual testbench::HostCpu& core(unsigned core) = 0;
  virtual void give_core_back(unsigned core) = 0;
  // Until the thread that has the turn has given it up. False: it is silent, or gone.
  // `spins`: it is known to wait for bytes in memory.
  virtual bool runs(SharedThread& thread, bool spins) = 0;
  // The doorbells that it rang.
  virtual void take_posted() = 0;
};

// A thread of a program in simulated time is what a core of a host runs: each of its turns is one
// action of the core, at the cycle at which the thread is.
class Thread final : public testbench::Program {
 public:
  Thread(ThreadHost& host, SharedThread& shared, unsigned core);
  ~Thread() override;
  Thread(const Thread&) = delete;

  Cycle act(Cycle now) override;
  bool waits_for_events() const override { return !silent_ && wait_ == Wait::Descriptor; }
  Cycle wakes_at() const override { return deadline_; }
  bool finished() const override { return false; }
  bool failed() const override { return false; }

  // What it waits for is that a call of it has taken its time, and no timer.
  bool pays() const;

  // ---- From outside of the simulation.
  // Its next turn is as soon as can be, if it wants one and none is coming.
  void resume_if_wanting();
  void resume_if_polling();
  // `in_flight`: what it waits for may have been sent and not come yet.
  void resume_if_waiting(bool in_flight);

  // ---- In the simulation; `at`: by the clock of its host, a cycle that this may have run already.
  // An HCA wrote to its memory.
  void written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(Cycle at);  // its program can read one

 private:
  testbench::HostCpu& cpu() const;
  Cycle cycles_of(u64 picoseconds) const;
  Cycle await(Cycle now);
  bool awaits(u32 attachment, u64 address) const;
  bool looks_at(u64 address, u64 bytes) const;
  void resume(Cycle at);

  ThreadHost& host_;
  SharedThread& shared_;
  const unsigned core_;
  Wait wait_ = Wait::Work;
  Cycle deadline_ = engine::kNever;
  bool silent_ = true;      // the simulation does not wait for it
  bool scheduled_ = false;  // its next turn is coming
  bool written_ = false;    // because its HCA wrote something
  bool works_ = false;      // it works before it waits; `written_` then says that it need not wait
  bool spins_ = false;      // it has found in memory what it waited for
  CompletionRing ring_;     // for whose completion it waits
  Cycle silent_since_ = 0;
  u64 last_written_ = 0,
      found_ = 0;  // the last byte of a write: before its turn, before it went on
};

// All threads of a program.
class ProgramThreads {
 public:
  ProgramThreads(ThreadHost& host, SharedProcess& shared) : host_(host), shared_(shared) {}
  ProgramThreads(const ProgramThreads&) = delete;

  // ---- From outside of the simulation.
  void see();  // new ones, those that ended, those that want a turn
  void resume_polling();
  void resume_waiting(bool in_flight);  // who waits for descriptors
  void end();
  // One wants a turn, or somebody may wait for what one did.
  bool want_others() const;
  bool any() const;
  bool work() const;  // in simulated time
  bool pay() const;   // for their calls

  // ---- In the simulation: Thread.
  void written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(Cycle at);

 private:
  // What has been used of them.
  std::span<SharedThread> shared_threads() const;
  std::span<const std::unique_ptr<Thread>> all() const { return {threads_.data(), places_}; }

  ThreadHost& host_;
  SharedProcess& shared_;
  std::array<std::unique_ptr<Thread>, kMostThreads> threads_;  // by place in `shared_`
  std::size_t places_ = 0;                                     // so many have been used
};
}  // namespace hca::attach
