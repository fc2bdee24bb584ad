// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <csignal>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "testbench/attach/cm_session.h"
#include "testbench/attach/device_files.h"
#include "testbench/attach/process.h"

namespace hca::attach {
// One simulation that programs attach to, over a socket. Simulated time passes while the HCAs or
// programs whose clocks show it have something to do. While a program is attached whose clock shows
// the time of day, it is in front of that by 20 us at the most: timers of the protocol do not
// expire while such a program waits for its turn of the processor.
class Server {
 public:
  // Throws std::runtime_error.
  Server(const testbench::Scenario& scenario, const std::string& socket);
  ~Server();
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  testbench::Testbed& testbed() { return testbed_; }
  // Until `stop`.
  void run(const volatile std::sig_atomic_t& stop);

 private:
  struct Connection {
    Descriptor socket;
    std::shared_ptr<Process> process;  // in simulated time: its clock, or one of its devices
    bool is_clock = false;
    std::unique_ptr<Session> session;  // none: no device is open
    std::unique_ptr<CmSession> cm;     // of a connection for that alone
    u32 run = 0;                       // of an `hca run`: its number
    RunSteps steps;
    bool gone = false;
    bool is_used() const { return session || cm; }
  };
  enum class Passes : u8 { Nothing, Now, Later };  // simulated time
  bool take_posted();
  bool handle_sockets(int milliseconds);
  Passes simulate();
  std::chrono::nanoseconds until_next();
  static std::string_view name_in(const std::array<char, kNameBytes>& name);
  void sleep();
  void accept();
  void serve(Connection& connection);
  void answer(Connection& connection, const Request& request, std::vector<Descriptor> given);
  Reply list() const;
  Reply answer_run(Connection& connection, const Request& request);
  Reply answer_cm(Connection& connection, const Request& request, Descriptor& made);
  void count(u32 run, u32 RunSteps::*step);
  Reply open(Connection& connection, const Request& request, std::vector<Descriptor> given);
  Reply open_clock(Connection& connection, const Request& request);
  Device* device_named(const std::array<char, kNameBytes>& name) const;
  bool has_sessions_by_day() const;
  bool has_programs() const;
  void keep_in_step();  // the HCAs, for programs that use both
  Process::Due due();
  void give_turns();
  void drop_gone();
  std::optional<u64> mac_of(u64 gid_high, u64 gid_low) const;
  void watch(int descriptor, Connection* connection);
  // A descriptor that a program holds as well stays watched until it is told.
  void forget(const Connection& connection);
  void close(Connection& connection);  // the device that it has opened

  const std::string path_;
  testbench::Testbed testbed_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<DeviceFiles> files_;
  std::unique_ptr<CmHost> cm_host_;
  Descriptor listening_, poll_;
  std::list<Connection> connections_;
  const std::array<testbench::HostConfig, testbench::kChips> host_;
  u32 last_program_ = 0, last_run_ = 0;
  std::chrono::steady_clock::time_point last_;  // look at the time of day
  std::chrono::nanoseconds ahead_{0};           // of it is simulated time
};
}  // namespace hca::attach
