// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "testbench/attach/session.h"
#include "testbench/attach/turns.h"

namespace hca::attach {
class Process;

// A thread of a program in simulated time is what a core of a host runs: each of its turns is one
// action of the core, at the cycle at which the thread is.
class Thread final : public testbench::Program {
 public:
  Thread(Process& process, SharedThread& shared, unsigned core);
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

  Process& process_;
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

// A program in simulated time: its threads, and the devices that it has opened. Its cores are those
// of the host of the first device.
class Process final {
 public:
  // Who will soon do something, but for the thread that has the turn; ProgramLater: a thread whose
  // work takes longer.
  enum class Due : u8 { Hca, Program, ProgramLater, Nobody };
  using IsDue = std::function<Due()>;
  // `socket`: its connection. Throws std::runtime_error.
  Process(u32 number, Device& device, const testbench::HostConfig& host, int socket, IsDue due);
  ~Process();
  Process(const Process&) = delete;

  u32 number() const { return number_; }
  Device& device() const { return device_; }
  int memory_descriptor() const { return memory_.get(); }
  int wake_descriptor() const { return wake_.get(); }
  void take_wake();
  void add(Session& session);
  void remove(const Session& session);
  // It has opened a device that is none of the host that its threads run on.
  bool has_other_devices() const;

  // ---- From outside of the simulation.
  void see_threads();  // new ones, those that ended, those that want a turn
  void resume_polling();
  void resume_waiting(bool in_flight = false);  // who waits for descriptors
  // A thread wants a turn, or somebody may wait for what one did.
  bool wants_others() const;
  bool works() const;  // a thread, in simulated time
  bool pays() const;   // a thread, for its calls
  bool has_threads() const;
  u32 take_told() { return shared_->told.exchange(0); }
  // How often the simulation went on without one of its threads and could not know that it waits.
  u64 guesses() const { return guesses_; }
  u64 sleeps() const { return sleeps_; }
  // Which thread that was first, and where; empty: none.
  const std::string& first_lost() const { return first_lost_; }
  u32 run() const { return run_; }  // of an `hca run`: its number
  void set_run(u32 run) { run_ = run; }
  int pid() const { return pid_; }
  bool is_known_gone() const { return gone_; }  // the kernel may tell the server only later
  // Until a program that ends has ended, for those that wait for that; a second at the longest. One
  // that has closed its connection alone, to become another program, goes on.
  void await_exit() const;
  void end();  // of all threads

  // ---- For its threads.
  // Until the thread that has the turn has given it up. False: it is silent, or gone.
  // `spins`: it is known to wait for bytes in memory.
  bool runs(SharedThread& thread, bool spins);
  // The doorbells that it rang.
  void take_posted();
  void written(const Device& device, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(const Device& device);

 private:
  // The cycle of its threads' host, for what happens now on that of `device`.
  Cycle now_at(const Device& device) const;
  bool is_gone() const;
  void tell_stands(u64 cpu_time);
  struct Question;
  bool waits_for_memory(SharedThread& thread, bool spins, Question& question, u64 cpu_time);
  bool note_lost(const SharedThread& thread, u64& count, bool asleep);
  bool is_silent(SharedThread& thread, bool spins, Question& question, u64 cpu_time, u64 real_time);
  // What has been used of them.
  std::span<SharedThread> shared_threads() const;
  std::span<const std::unique_ptr<Thread>> threads() const { return {threads_.data(), places_}; }

  const u32 number_;
  Device& device_;
  const int socket_;
  const IsDue due_;
  int pid_ = 0;
  u32 run_ = 0;
  std::string first_lost_;
  bool gone_ = false;
  bool told_stands_ = false;
  u64 guesses_ = 0, sleeps_ = 0;  // turns that threads lost because they seemed to wait, slept
  Descriptor memory_, wake_, exit_;
  SharedProcess* shared_ = nullptr;
  std::vector<Session*> sessions_;
  std::array<std::unique_ptr<Thread>, kMostThreads> threads_;  // by place in `shared_`
  std::size_t places_ = 0;                                     // so many have been used
};
}  // namespace hca::attach
