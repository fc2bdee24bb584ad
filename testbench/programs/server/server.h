// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <csignal>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "testbench/programs/server/cm_session.h"
#include "testbench/programs/server/device_files.h"
#include "testbench/programs/server/let_others.h"
#include "testbench/programs/server/process.h"
#include "testbench/programs/server/thread_state.h"

namespace hca::attach {
// One simulation that programs attach to, over a socket. Simulated time advances while the HCAs, or
// programs in simulated time, have something to do. While a program in real time is attached,
// simulated time is at most 20 us ahead of real time: so protocol timers do not expire while such a
// program waits for the processor.
class Server {
 public:
  struct Options {
    u32 programs = 0;       // number that must open a clock before simulated time advances
    bool captures = false;  // the wires are recorded
  };
  // Throws std::runtime_error.
  Server(const testbench::Scenario& scenario, const std::string& socket, const Options& options);
  ~Server();
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  testbench::Testbed& testbed() { return testbed_; }
  // Runs until `stop` is set.
  void run(const volatile std::sig_atomic_t& stop);
  // Called now and then from outside the simulation; idle: the server sleeps next.
  std::function<void(bool idle)> paused;

  // ---- For a report
  struct ProgramState {
    int pid = 0;
    bool simulated = false;  // it runs in simulated time
    std::vector<std::string> devices;
    u64 guesses = 0, sleeps = 0;
  };
  std::vector<ProgramState> programs() const;
  u64 ended_programs() const { return ended_programs_; }
  const std::vector<testbench::FaultConfig>& faults() const { return faults_; }
  const std::vector<FailConfig>& fails() const { return fails_; }
  // In the order of faults() and fails().
  std::vector<EntryUse> uses_of_faults();
  std::vector<EntryUse> uses_of_fails() const;

 private:
  using Descriptors = std::vector<Descriptor>;
  struct AnswerRow;
  struct Connection {
    Descriptor socket;
    std::shared_ptr<Process> process;  // in simulated time: its clock, or one of its devices
    bool is_clock = false;
    std::unique_ptr<Session> session;  // nullptr: no device is open
    std::unique_ptr<CmSession> cm;     // for a connection management connection
    u32 run = 0;                       // number of its `hca run`
    RunSteps steps;
    bool starts = false;  // simulated time waits for its first device
    u64 since = 0;        // start time, in ns
    bool gone = false;
    bool is_used() const { return session || cm; }
  };
  enum class Passes : u8 { Nothing, Now, Later };  // simulated time
  bool take_posted();
  bool handle_sockets(int milliseconds);
  Passes simulate();
  std::chrono::nanoseconds until_next();
  void sleep();
  void accept();
  void serve(Connection& connection);
  void answer(Connection& connection, const Request& request, Descriptors given);
  Reply answer_cm(Connection& connection, const Request& request, Descriptor& made);
  u64 cm_patience() const;  // ps
  Reply reply_to(Connection& connection, const Request& request, Descriptors given,
                 std::vector<int>& descriptors, Descriptor& made);
  void settle_completions();
  // ---- Answers; `given`: received with the request; `made`: sent with the reply.
  Reply list_devices(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply refresh_files(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply begin_run(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply query_run(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply query_faults(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply clear_faults(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply add_fault(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply add_fail(Connection&, const Request&, Descriptors&, std::vector<int>&);
  Reply open(Connection&, const Request&, Descriptors& given, std::vector<int>& made);
  Reply open_clock(Connection&, const Request&, Descriptors&, std::vector<int>& made);
  Reply close_device(Connection&, const Request&, Descriptors&, std::vector<int>&);

  void count(u32 run, u32 RunSteps::*step);
  static void add_lost(RunSteps& steps, const Process& process);
  void keep_lost(const Process& process);
  bool awaits_programs();  // that are still starting
  void add_to_wires(const testbench::FaultConfig& fault, u32 number);
  void set_failures();
  // The clock of this program; 0: it runs in real time. Empty: there is no such program.
  std::optional<std::shared_ptr<Process>> clock_of(u32 program) const;
  Device* device_named(const std::array<char, kNameBytes>& name) const;
  bool has_sessions_by_day() const;
  bool has_programs() const;
  void keep_in_step();  // the HCAs, for programs that use both
  Process::Due due();
  void give_turns();
  void drop_gone();
  void watch(int descriptor, Connection* connection);
  static void watch_memory(Session& session, const std::shared_ptr<Process>& process);
  // Unregisters descriptors: one that the program also holds would otherwise stay watched.
  void forget(const Connection& connection);
  void close(Connection& connection);  // its opened device

  const std::string path_;
  testbench::Testbed testbed_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<DeviceFiles> files_;
  std::unique_ptr<CmHost> cm_host_;
  Descriptor listening_, poll_;
  std::list<Connection> connections_;
  const std::vector<testbench::NodeConfig> nodes_;
  std::vector<testbench::FaultConfig> faults_;
  std::vector<FailConfig> fails_;
  std::vector<EntryUse> ended_uses_ =
      std::vector<EntryUse>(fails_.size());  // of programs that have ended
  const u32 awaited_programs_;
  u32 opened_programs_ = 0;
  bool told_awaited_ = false;
  const u64 begun_ = nanoseconds_of(CLOCK_MONOTONIC);
  u64 ended_programs_ = 0;
  LetOthers let_others_;
  u32 last_program_ = 0, last_run_ = 0;
  std::chrono::steady_clock::time_point last_;  // last reading of real time
  std::chrono::nanoseconds ahead_{0};           // simulated time is ahead of it
};
}  // namespace hca::attach
