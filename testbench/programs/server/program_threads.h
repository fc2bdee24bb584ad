// SPDX-License-Identifier: Apache-2.0
// Decides which thread of a program in simulated time has its turn, and when. This is independent
// of the rest of the simulation: the test of turns (testbench/tests/programs/time_library/turns)
// uses it alone.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "testbench/host/host_cpu.h"
#include "testbench/programs/server/turns.h"

namespace hca::attach {
using engine::Cycle;

// The interface of threads to their host.
class ThreadHost {
 public:
  virtual ~ThreadHost() = default;
  virtual u64 period() const = 0;  // of its clock, ps
  virtual Cycle now() const = 0;   // outside of the simulation
  virtual std::optional<unsigned> take_core() = 0;
  virtual testbench::HostCpu& core(unsigned core) = 0;
  virtual void give_core_back(unsigned core) = 0;
  // Waits until the thread has given up its turn. False: it is silent, or has ended. `spins`: it is
  // known to wait for bytes in memory.
  virtual bool runs(SharedThread& thread, bool spins) = 0;
  // Passes on the doorbells that it rang.
  virtual void take_posted() = 0;
};

// A thread of a program in simulated time, run by a core of a host: each of its turns is one action
// of the core, at the cycle of the thread.
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

  // It waits only for the duration of a call, not for a timer.
  bool pays() const;

  // ---- Called from outside the simulation.
  // If it wants a turn and none is scheduled, its next turn is as soon as possible.
  void resume_if_wanting();
  void resume_if_polling();
  // `in_flight`: the awaited item may have been sent and not yet arrived.
  void resume_if_waiting(bool in_flight);

  // ---- In the simulation; `at`: by the clock of its host, a cycle that may have run already.
  // An HCA wrote to its memory.
  void written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(Cycle at);  // its program can read an event

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
  bool scheduled_ = false;  // its next turn is scheduled
  bool written_ = false;    // the reason is a write by its HCA
  bool works_ = false;      // it works before it waits; `written_` then means that it need not wait
  bool spins_ = false;      // it found in memory the value that it waited for
  CompletionRing ring_;     // the ring whose completion it waits for
  Cycle silent_since_ = 0;
  u64 last_written_ = 0,
      found_ = 0;  // last byte of a write: before its turn, before it continued
};

// All threads of a program.
class ProgramThreads {
 public:
  ProgramThreads(ThreadHost& host, SharedProcess& shared) : host_(host), shared_(shared) {}
  ProgramThreads(const ProgramThreads&) = delete;

  // ---- Called from outside the simulation.
  void see();  // finds new threads, ended ones, and those that want a turn
  void resume_polling();
  void resume_waiting(bool in_flight);  // threads that wait for descriptors
  void end();
  // True if a thread wants a turn, or an action of one may end a wait elsewhere.
  bool want_others() const;
  bool any() const;
  bool work() const;  // in simulated time
  bool pay() const;   // for the duration of their calls

  // ---- In the simulation: Thread.
  void written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(Cycle at);

 private:
  // The entries in use.
  std::span<SharedThread> shared_threads() const;
  std::span<const std::unique_ptr<Thread>> all() const { return {threads_.data(), places_}; }

  ThreadHost& host_;
  SharedProcess& shared_;
  std::array<std::unique_ptr<Thread>, kMostThreads> threads_;  // by index in `shared_`
  std::size_t places_ = 0;                                     // number of entries ever used
};
}  // namespace hca::attach
