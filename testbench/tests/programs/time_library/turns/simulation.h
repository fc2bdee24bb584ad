// SPDX-License-Identifier: Apache-2.0
// The server's side of turns: the real logic, on cores of a host, with a small device instead of an
// HCA.
#pragma once
#include <list>
#include <memory>

#include "testbench/programs/server/program_threads.h"

namespace hca::explored {
// A device with one doorbell. Some time after a ring it writes a word and makes a descriptor ready.
class SmallDevice : public engine::Block {
 public:
  explicit SmallDevice(attach::ProgramThreads& threads) : threads_(threads) {}
  void ring();  // in the simulation
  void tick();
  attach::Shared<u32> doorbell{0};
  attach::Shared<u64> word{0};
  int descriptor = -1;

 private:
  attach::ProgramThreads& threads_;
};

class Simulation final : public attach::ThreadHost {
 public:
  explicit Simulation(attach::SharedProcess& shared);
  void run();  // while there are other threads
  // The number of times that the server takes a turn away, at any time, from a runnable thread.
  unsigned takes_away = 0;
  bool took_away = false;
  unsigned wakes = 0;  // by the program
  SmallDevice device{threads_};

 private:
  u64 period() const override { return 1000; }
  engine::Cycle now() const override { return domain_.now(); }
  std::optional<unsigned> take_core() override;
  testbench::HostCpu& core(unsigned core) override { return *cores_[core]; }
  void give_core_back(unsigned core) override { taken_ &= ~(1u << core); }
  bool runs(attach::SharedThread& thread, bool spins) override;
  void take_posted() override;
  void give_turns();

  attach::SharedProcess& shared_;
  engine::Domain domain_{engine::Domain::Options{}};
  std::vector<std::unique_ptr<testbench::HostCpu>> cores_;
  u32 taken_ = 0;
  attach::ProgramThreads threads_;
};

Simulation& simulation();
// A new simulation, and a program that has not opened a clock.
attach::SharedProcess& set_up_simulation();
void wake_server();
void open_clock();   // called by the thread of the first turn
void close_clock();  // called outside a schedule: removes everything
const char* word_name(const void* word);
void see_turn(const void* turn, unsigned before, unsigned after, bool contends);
// Called by a thread of the program, after a waiting call.
void check_turn(const char* call);
}  // namespace hca::explored
