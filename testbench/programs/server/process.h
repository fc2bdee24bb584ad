// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "testbench/programs/server/program_threads.h"
#include "testbench/programs/server/session.h"

namespace hca::attach {
// A program in simulated time: its threads, and the devices that it has opened. It runs on the
// cores of the first device's host.
class Process final : public ThreadHost {
 public:
  // The next to act, apart from the thread that has the turn. ProgramLater: a thread with longer
  // work.
  enum class Due : u8 { Hca, Program, ProgramLater, Nobody };
  using IsDue = std::function<Due()>;
  // `socket`: the program's connection. Throws std::runtime_error.
  Process(u32 number, Device& device, const testbench::HostConfig& host, int socket, IsDue due);
  ~Process() override;
  Process(const Process&) = delete;

  u32 number() const { return number_; }
  Device& device() const { return device_; }
  int memory_descriptor() const { return memory_.get(); }
  int wake_descriptor() const { return wake_.get(); }
  void take_wake();
  void add(Session& session);
  void remove(const Session& session);
  // True if it has opened a device of a host other than the one that its threads run on.
  bool has_other_devices() const;

  // ---- Called from outside the simulation.
  void see_threads() { threads_->see(); }
  void resume_polling() { threads_->resume_polling(); }
  void resume_waiting(bool in_flight = false) { threads_->resume_waiting(in_flight); }
  bool wants_others() const { return threads_->want_others(); }
  bool works() const { return threads_->work(); }
  bool pays() const { return threads_->pay(); }
  bool has_threads() const { return threads_->any(); }
  u32 take_told() { return shared_->told.exchange(0); }
  // How often the simulation continued without one of its threads, without knowing that it waits.
  u64 guesses() const { return guesses_; }
  u64 sleeps() const { return sleeps_; }
  // The first such thread and its place in the code; empty: none.
  const std::string& first_lost() const { return first_lost_; }
  u32 run() const { return run_; }  // number of its `hca run`
  void set_run(u32 run) { run_ = run; }
  int pid() const { return pid_; }
  bool is_known_gone() const { return gone_; }  // the kernel may report its end to the server later
  // Waits, at most a second, for the end of a program that is ending, for those that wait for that.
  // A program that closed its connection only to become another program by exec() continues.
  void await_exit() const;
  void end() { threads_->end(); }

  // ---- In the simulation.
  void written(const Device& device, u32 attachment, u64 address, u64 bytes, bool completion);
  void event(const Device& device);

 private:
  // ---- For its threads.
  u64 period() const override { return device_.period(); }
  Cycle now() const override { return device_.node().now(); }
  std::optional<unsigned> take_core() override { return device_.take_core(); }
  testbench::HostCpu& core(unsigned core) override { return device_.node().core(core); }
  void give_core_back(unsigned core) override { device_.give_core_back(core); }
  bool runs(SharedThread& thread, bool spins) override;
  void take_posted() override;

  // The cycle of its threads' host that corresponds to the current time of `device`.
  Cycle now_at(const Device& device) const;
  bool is_gone() const;
  void tell_stands(u64 cpu_time);
  struct Question;
  bool waits_for_memory(SharedThread& thread, bool spins, Question& question, u64 cpu_time);
  bool note_lost(const SharedThread& thread, u64& count, bool asleep);
  bool is_silent(SharedThread& thread, bool spins, Question& question, u64 cpu_time, u64 real_time);

  const u32 number_;
  Device& device_;
  const int socket_;
  const IsDue due_;
  int pid_ = 0;
  u32 run_ = 0;
  std::string first_lost_;
  bool gone_ = false;
  bool told_stands_ = false;
  // turns lost because a thread seemed to wait, and because it slept
  u64 guesses_ = 0, sleeps_ = 0;
  Descriptor memory_, wake_, exit_;
  SharedProcess* shared_ = nullptr;
  std::vector<Session*> sessions_;
  std::unique_ptr<ProgramThreads> threads_;
};
}  // namespace hca::attach
