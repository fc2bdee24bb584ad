// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/server.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "model/systemc/sc_hosts.h"
#include "testbench/programs/server/file_places.h"
#include "testbench/programs/server/time_stamps.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::attach {
namespace {
using Clock = std::chrono::steady_clock;
// Simulated between two looks at the doorbells; kLongest: while an HCA only waits for a timer.
constexpr std::chrono::nanoseconds kSlice{2000}, kLongest{1'000'000};
// For so long simulated time may be ahead of the time of day.
constexpr std::chrono::nanoseconds kAhead{20'000};
// The same without programs that see the time of day: to what simulated time requests are taken.
constexpr std::chrono::nanoseconds kFreeSlice{1000};
// A signal that comes just before the server sleeps is seen after it.
constexpr int kLongestSleepMs = 100;
// What is due by then may be what a program that spins in memory waits for.
constexpr std::chrono::nanoseconds kSoon{20'000};
// While a program is still starting time makes no longer steps: what others do at once goes on, and
// what their calls take passes, but no timer of theirs.
constexpr std::chrono::nanoseconds kLongestStep{1000}, kStep{1};
// A look at the sockets is a system call: the longer nothing came the rarer they are.
constexpr unsigned kMostBetweenSockets = 16;
constexpr unsigned kBetweenPauses = 256;  // rounds
}  // namespace

Server::Server(const testbench::Scenario& scenario, const std::string& socket,
               const Options& options)
    : path_(socket),
      testbed_(scenario),
      listening_(listen_at(socket)),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      nodes_(scenario.nodes),
      faults_(scenario.faults),
      fails_(scenario.fail),
      awaited_programs_(options.programs) {
  for (unsigned i = 0; i < testbed_.nodes(); ++i)
    devices_.push_back(std::make_unique<Device>(fmt::format("hca{}", i), i, testbed_, scenario,
                                                options.captures ? Reuse::Late : Reuse::Soon));
  cm_host_ = std::make_unique<CmHost>(devices_, testbed_, [this] { return cm_patience(); });
  files_ = std::make_unique<DeviceFiles>(socket + kFilesSuffix, devices_);
  watch(listening_.get(), nullptr);
}

Server::~Server() {
  connections_.clear();
  files_.reset();  // while no other server may take the path
  unlink(path_.c_str());
}

void Server::watch(int descriptor, Connection* connection) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = connection;
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event))
    throw std::runtime_error(std::string("epoll: ") + std::strerror(errno));
}

void Server::forget(const Connection& connection) {
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
  if (connection.is_clock)
    epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.process->wake_descriptor(), nullptr);
}

// Closes a connection; its objects are destroyed.
void Server::close(Connection& connection) {
  if (!connection.session) return;
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.session->wake_descriptor(), nullptr);
  if (connection.process) connection.process->remove(*connection.session);
  connection.session->failures().add_uses(ended_uses_);
  connection.session.reset();
  keep_in_step();
}

void Server::keep_in_step() {
  testbed_.keep_in_step(std::ranges::any_of(connections_, [](const Connection& connection) {
    return connection.is_clock && connection.process->has_other_devices();
  }));
}

void Server::run(const volatile std::sig_atomic_t& stop) {
  unsigned turns = 0, between_sockets = 1, rounds = 0;
  while (!stop) {
    bool worked = take_posted();
    // What programs in simulated time say is heard when they have said it.
    if (++turns >= between_sockets || !has_sessions_by_day()) {
      const bool heard = handle_sockets(0);
      between_sockets = heard ? 1 : std::min(2 * between_sockets, kMostBetweenSockets);
      worked |= heard;
      turns = 0;
    }
    give_turns();
    const Passes passes = simulate();
    settle_completions();
    if (passes == Passes::Nothing && !worked) {
      if (paused) paused(true);
      sleep();
    } else if (passes == Passes::Later) {
      let_others_.yield();
    }
    if (paused && ++rounds % kBetweenPauses == 0) paused(false);
  }
  handle_sockets(0);  // who is gone by now
}

// For what has been written to programs.
void Server::settle_completions() {
  for (Connection& connection : connections_)
    if (connection.session) {
      connection.session->settle_failures();
      if (!connection.process) connection.session->wake_sleepers();
    }
}

bool Server::take_posted() {
  bool any = false;
  for (Connection& connection : connections_)
    any |= connection.session && connection.session->take_posted();
  return any;
}

bool Server::has_sessions_by_day() const {
  return std::ranges::any_of(connections_,
                             [](const Connection& c) { return c.is_used() && !c.process; });
}

bool Server::has_programs() const {
  return std::ranges::any_of(connections_, [](const Connection& c) {
    return c.is_used() || (c.process && c.process->has_threads());
  });
}

Process::Due Server::due() {
  if (until_next() < kSoon) return Process::Due::Hca;
  const auto any = [&](bool (Process::*does)() const) {
    return std::ranges::any_of(
        connections_, [&](const Connection& c) { return c.is_clock && (*c.process.*does)(); });
  };
  if (any(&Process::wants_others)) return Process::Due::Program;
  return any(&Process::works) ? Process::Due::ProgramLater : Process::Due::Nobody;
}

// To programs that want one, and to those that wait for what another did.
void Server::give_turns() {
  for (const Connection& teller : connections_) {
    const u32 told = teller.is_clock ? teller.process->take_told() : 0;
    if (!told) continue;
    for (const Connection& other : connections_)
      if (other.is_clock && (&other == &teller || (told & ~kOwn)))
        other.process->resume_waiting(told & kNetwork);
  }
  for (const Connection& connection : connections_)
    if (connection.is_clock) connection.process->see_threads();
}

// A slice, or until something happens; if a program sees the time of day, not farther than that
// and `kAhead`. What the scenario plans for later waits for a program that sees it.
Server::Passes Server::simulate() {
  if (testbed_.is_asleep() || (!has_programs() && until_next() >= kSoon)) return Passes::Nothing;
  std::chrono::nanoseconds step;
  if (!has_sessions_by_day()) {
    if (has_programs()) trap_time_stamps();
    step = std::max(kFreeSlice, until_next());
    if (awaits_programs()) {
      step = until_next() + kStep;
      const bool pays = std::ranges::any_of(
          connections_, [](const Connection& c) { return c.is_clock && c.process->pays(); });
      if (step > kLongestStep && !pays) return Passes::Nothing;
    }
  } else {
    const Clock::time_point now = Clock::now();
    ahead_ = std::max<std::chrono::nanoseconds>(ahead_ - (now - last_), -kLongest);
    last_ = now;
    const std::chrono::nanoseconds most = kAhead - ahead_, next = until_next();
    if (most < kSlice || most < next) return Passes::Later;
    step = std::min(most, std::max(kSlice, next));
    ahead_ = std::max(ahead_ + step, std::chrono::nanoseconds(0));  // no more than has passed since
  }
  run_for(sc_core::sc_time(double(step.count()), sc_core::SC_NS));
  return Passes::Now;
}

// Simulated, until an HCA does something.
std::chrono::nanoseconds Server::until_next() {
  std::chrono::nanoseconds shortest = kLongest;
  const double now = sc_core::sc_time_stamp().to_seconds();
  for (unsigned i = 0; i < testbed_.nodes(); ++i) {
    Hca& hca = testbed_.node(i).hca;
    const engine::Cycle next = hca.domain().next();
    if (next == engine::kNever) continue;
    const double until = double(next) * hca.period().to_seconds() - now;
    shortest = std::min(
        shortest, std::chrono::nanoseconds(std::max(0LL, static_cast<long long>(until * 1e9))));
  }
  return shortest;
}

// Until there is a request.
void Server::sleep() {
  const auto set_sleeping = [&](bool sleeps) {
    for (Connection& connection : connections_)
      if (connection.session) connection.session->set_sleeping(sleeps);
  };
  set_sleeping(true);
  if (std::ranges::none_of(connections_, [](const Connection& connection) {
        return connection.session && connection.session->has_posted();
      }))
    handle_sockets(kLongestSleepMs);
  set_sleeping(false);
}

bool Server::handle_sockets(int milliseconds) {
  std::array<epoll_event, 16> events;
  const int count = epoll_wait(poll_.get(), events.data(), int(events.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    auto* const connection = static_cast<Connection*>(events[std::size_t(i)].data.ptr);
    if (!connection)
      accept();
    else if (!connection->gone)
      serve(*connection);
  }
  for (Connection& connection : connections_)
    if (connection.is_clock && connection.process->is_known_gone()) connection.gone = true;
  drop_gone();
  return count > 0;
}

namespace {
// Describes why another run may differ from this one.
std::string without_turn(const Process& process) {
  std::string text;
  if (process.guesses())
    text +=
        fmt::format("; {} times without a thread that seemed to wait in memory", process.guesses());
  if (process.sleeps())
    text += fmt::format("; {} times without a thread that slept in the kernel", process.sleeps());
  return text;
}
}  // namespace

// The devices of a program go with its clock, whichever of its sockets is closed first.
void Server::drop_gone() {
  for (Connection& clock : connections_) {
    if (!clock.is_clock || !clock.gone) continue;
    clock.process->await_exit();
    clock.process->end();
    keep_lost(*clock.process);
    ++ended_programs_;
    fmt::print("{}: a program ends at {} ns{}\n", clock.process->device().name(),
               testbench::kernel_picoseconds() / 1000, without_turn(*clock.process));
    std::fflush(stdout);
    for (Connection& other : connections_) {
      if (other.process == clock.process) other.gone = true;
      if (other.is_clock && !other.gone) other.process->resume_waiting(true);
    }
  }
  for (auto at = connections_.begin(); at != connections_.end();) {
    Connection& connection = *at++;
    if (!connection.gone) continue;
    forget(connection);
    close(connection);
  }
  connections_.remove_if([](const Connection& connection) { return connection.gone; });
}

void Server::accept() {
  Descriptor made(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!made) return;
  Connection& connection = connections_.emplace_back();
  connection.socket = std::move(made);
  watch(connection.socket.get(), &connection);
  serve(connection);  // most often it has asked already: no time passes in between
}

// An invalid request ends the connection, and with it the objects of the program.
void Server::serve(Connection& connection) {
  Request request;
  std::vector<Descriptor> given;
  if (connection.session) connection.session->take_wake();
  if (connection.is_clock) connection.process->take_wake();
  if (receive_message(connection.socket.get(), request, &given)) {
    if (connection.session) connection.session->take_posted();  // rung before the request
    answer(connection, request, std::move(given));
  } else if (errno != EAGAIN) {
    connection.gone = true;
  }
}

}  // namespace hca::attach
