// SPDX-License-Identifier: Apache-2.0
// How far the programs of an `hca run` have come, and those that simulated time waits for.
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>

#include "testbench/programs/server/server.h"
#include "testbench/programs/server/thread_state.h"

namespace hca::attach {
namespace {
constexpr u64 kSecond = 1'000'000'000;
// How long, in real time, simulated time waits for a program that opens no device.
constexpr u64 kLongestStart = 10;
}  // namespace

Reply Server::begin_run(Connection& connection, const Request& request, Descriptors&,
                        std::vector<int>&) {
  Reply reply;
  reply.number = connection.run = ++last_run_;
  connection.starts = request.cookie & 1;
  connection.since = nanoseconds_of(CLOCK_MONOTONIC);
  return reply;
}

Reply Server::query_run(Connection& connection, const Request&, Descriptors&, std::vector<int>&) {
  connection.starts = false;
  RunSteps steps = connection.steps;
  for (const Connection& other : connections_)
    if (other.is_clock && connection.run && other.process->run() == connection.run)
      add_lost(steps, *other.process);
  Reply reply;
  put(reply.body, steps);
  return reply;
}

// A run that has ended is counted nowhere.
void Server::count(u32 run, u32 RunSteps::*step) {
  for (Connection& connection : connections_) {
    if (!run || connection.run != run) continue;
    ++(connection.steps.*step);
    if (step == &RunSteps::clocks || step == &RunSteps::devices) connection.starts = false;
  }
}

void Server::add_lost(RunSteps& steps, const Process& process) {
  if (!steps.lost) process.first_lost().copy(steps.first.data(), steps.first.size() - 1);
  steps.lost += u32(process.guesses() + process.sleeps());
}
// Keeps the losses of a program that has ended.
void Server::keep_lost(const Process& process) {
  for (Connection& connection : connections_)
    if (process.run() && connection.run == process.run()) add_lost(connection.steps, process);
}

std::vector<Server::ProgramState> Server::programs() const {
  std::vector<ProgramState> states;
  for (const Connection& connection : connections_) {
    ProgramState state;
    if (connection.is_clock) {
      state = {connection.process->pid(),
               true,
               {},
               connection.process->guesses(),
               connection.process->sleeps()};
      for (const Connection& other : connections_)
        if (other.session && other.process == connection.process)
          state.devices.push_back(other.session->device().name());
    } else if (connection.session && !connection.process) {
      ucred peer{};
      socklen_t bytes = sizeof peer;
      getsockopt(connection.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
      state.pid = peer.pid;
      state.devices = {connection.session->device().name()};
    } else {
      continue;
    }
    states.push_back(std::move(state));
  }
  return states;
}

bool Server::awaits_programs() {
  const bool awaited = opened_programs_ < awaited_programs_;
  const auto starts = [](const Connection& c) { return c.starts; };
  if (!awaited && std::ranges::none_of(connections_, starts)) return false;
  const u64 now = nanoseconds_of(CLOCK_MONOTONIC);
  for (Connection& connection : connections_) {
    if (!connection.starts || now - connection.since < kLongestStart * kSecond) continue;
    connection.starts = false;
    fmt::print(
        "a program of `hca run` has not opened a device for {} s: simulated time continues\n",
        kLongestStart);
    std::fflush(stdout);
  }
  if (awaited) {
    if (now - begun_ > kLongestStart * kSecond && !std::exchange(told_awaited_, true)) {
      fmt::print("--programs: {} of {} programs have opened a device: simulated time stands\n",
                 opened_programs_, awaited_programs_);
      std::fflush(stdout);
    }
    return true;
  }
  return std::ranges::any_of(connections_, starts);
}
}  // namespace hca::attach
