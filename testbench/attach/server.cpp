// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/server.h"

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

#include "model/sc_hosts.h"
#include "testbench/attach/file_places.h"
#include "testbench/attach/time_stamps.h"
#include "testbench/kernel_time.h"

namespace hca::attach {
namespace {
using Clock = std::chrono::steady_clock;
// Simulated between two looks at the doorbells; kLongest: while an HCA only waits for a timer.
constexpr std::chrono::nanoseconds kSlice{2000}, kLongest{1'000'000};
// For so long simulated time may be in front of the time of day.
constexpr std::chrono::nanoseconds kAhead{20'000};
// The same without programs that see the time of day: to what simulated time requests are taken.
constexpr std::chrono::nanoseconds kFreeSlice{1000};
// A signal that comes just before the server sleeps is seen behind it.
constexpr int kLongestSleepMs = 100;
// What is due by then may be what a program that spins in memory waits for.
constexpr std::chrono::nanoseconds kSoon{20'000};
// A look at the sockets is a system call: the longer nothing came the rarer they are.
constexpr unsigned kMostBetweenSockets = 16;
}  // namespace

std::string_view Server::name_in(const std::array<char, kNameBytes>& name) {
  return {name.data(), strnlen(name.data(), name.size())};
}

Server::Server(const testbench::Scenario& scenario, const std::string& socket)
    : path_(socket),
      testbed_(scenario),
      listening_(listen_at(socket)),
      poll_(epoll_create1(EPOLL_CLOEXEC)),
      host_(scenario.host) {
  for (unsigned i = 0; i < testbench::kChips; ++i)
    devices_.push_back(std::make_unique<Device>(fmt::format("hca{}", i), i, testbed_, scenario));
  cm_host_ = std::make_unique<CmHost>(devices_, testbed_);
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
  event.events = EPOLLIN, event.data.ptr = connection;
  if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, descriptor, &event))
    throw std::runtime_error(std::string("epoll: ") + std::strerror(errno));
}

void Server::forget(const Connection& connection) {
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
  if (connection.is_clock)
    epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.process->wake_descriptor(), nullptr);
}

// Its objects go.
void Server::close(Connection& connection) {
  if (!connection.session) return;
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.session->wake_descriptor(), nullptr);
  if (connection.process) connection.process->remove(*connection.session);
  connection.session.reset();
  keep_in_step();
}

void Server::keep_in_step() {
  testbed_.keep_in_step(std::ranges::any_of(connections_, [](const Connection& connection) {
    return connection.is_clock && connection.process->has_other_devices();
  }));
}

void Server::run(const volatile std::sig_atomic_t& stop) {
  unsigned turns = 0, between_sockets = 1;
  while (!stop) {
    bool worked = take_posted();
    // What programs in simulated time say is heard when they have said it.
    if (++turns >= between_sockets || !has_sessions_by_day()) {
      const bool heard = handle_sockets(0);
      between_sockets = heard ? 1 : std::min(2 * between_sockets, kMostBetweenSockets);
      worked |= heard, turns = 0;
    }
    give_turns();
    const Passes passes = simulate();
    if (passes == Passes::Nothing && !worked)
      sleep();
    else if (passes == Passes::Later)
      sched_yield();
  }
  handle_sockets(0);  // who is gone by now
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
  for (unsigned i = 0; i < testbench::kChips; ++i) {
    Hca& hca = testbed_.node(i).hca;
    const engine::Cycle next = hca.domain().next();
    if (next == engine::kNever) continue;
    const double until = double(next) * hca.period().to_seconds() - now;
    shortest = std::min(
        shortest, std::chrono::nanoseconds(std::max(0LL, static_cast<long long>(until * 1e9))));
  }
  return shortest;
}

// Until somebody wants something.
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
// What may make another run another one.
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

// What is no request ends the connection, and with it the objects of the program.
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

void Server::answer(Connection& connection, const Request& request, std::vector<Descriptor> given) {
  Reply reply;
  Descriptor made;
  std::vector<int> descriptors;
  try {
    if (request.verb == Verb::ListDevices) {
      count(u32(request.cookie), &RunSteps::lists);
      reply = list();
    } else if (request.verb == Verb::RefreshFiles) {
      count(u32(request.cookie), &RunSteps::files);
      files_->refresh();
    } else if (request.verb == Verb::BeginRun || request.verb == Verb::QueryRun) {
      reply = answer_run(connection, request);
    } else if (request.verb == Verb::OpenClock) {
      reply = open_clock(connection, request);
      if (!reply.error)
        descriptors = {connection.process->memory_descriptor(),
                       connection.process->wake_descriptor()};
    } else if (request.verb == Verb::OpenDevice) {
      reply = open(connection, request, std::move(given));
      if (!reply.error) {
        const auto opened = connection.session->descriptors();
        descriptors.assign(opened.begin(), opened.end());
      }
    } else if (request.verb == Verb::Cm) {
      reply = answer_cm(connection, request, made);
    } else if (connection.session && request.verb == Verb::CloseDevice) {
      close(connection);
    } else if (connection.session) {
      reply = connection.session->handle(request, made);
    } else {
      reply.error = ENODEV;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hca: %s\n", error.what());
    reply = {};
    reply.error = EIO;
  }
  if (made) descriptors.push_back(made.get());
  if (!send_message(connection.socket.get(), reply, descriptors)) connection.gone = true;
  if (connection.process) connection.process->resume_waiting();
  if (connection.process && request.opcode == proto::CommandOpcode::ModifyCq)
    connection.process->resume_polling();  // its ring may be another
}

Device* Server::device_named(const std::array<char, kNameBytes>& name) const {
  const auto found =
      std::ranges::find_if(devices_, [&](const auto& d) { return d->name() == name_in(name); });
  return found == devices_.end() ? nullptr : found->get();
}

Reply Server::open_clock(Connection& connection, const Request& request) {
  Reply reply;
  const auto wanted = get<OpenDevice>(request.body);
  Device* const device = device_named(wanted.name);
  if (wanted.version != kProtocolVersion) {
    reply.error = EPROTONOSUPPORT;
  } else if (connection.session || connection.process || !device) {
    reply.error = device ? EINVAL : ENODEV;
  } else {
    const unsigned chip = unsigned(device == devices_[1].get());
    connection.process = std::make_shared<Process>(
        ++last_program_, *device, host_[chip], connection.socket.get(), [this] { return due(); });
    connection.is_clock = true;
    watch(connection.process->wake_descriptor(), &connection);
    reply.number = last_program_;
  }
  return reply;
}

Reply Server::open(Connection& connection, const Request& request, std::vector<Descriptor> given) {
  Reply reply;
  const auto wanted = get<OpenDevice>(request.body);
  Device* const device = device_named(wanted.name);
  const auto clock = std::ranges::find_if(connections_, [&](const Connection& c) {
    return c.is_clock && c.process->number() == wanted.program;
  });
  if (wanted.version != kProtocolVersion) {
    reply.error = EPROTONOSUPPORT;
  } else if (connection.session || given.size() != 1 ||
             (wanted.program && clock == connections_.end())) {
    reply.error = EINVAL;
  } else if (!device) {
    reply.error = ENODEV;
  } else {
    const auto process = wanted.program ? clock->process : nullptr;
    auto session = std::make_unique<Session>(
        *device, std::move(given[0]),
        [this](u64 gid_high, u64 gid_low) { return mac_of(gid_high, gid_low); },
        [process, device] {
          if (process) process->event(*device);
        });
    // Its memory is what it says if the address of the cookie holds that address.
    if (!session->has_at(request.cookie, request.cookie)) {
      reply.error = EPERM;
      return reply;
    }
    if (process) {
      process->add(*session);
      device->memory().watch(session->attachment(),
                             [process, device, attachment = session->attachment()](
                                 u64 address, u64 bytes, bool completion) {
                               process->written(*device, attachment, address, bytes, completion);
                             });
    }
    connection.session = std::move(session), connection.process = process;
    watch(connection.session->wake_descriptor(), &connection);
    keep_in_step();
    count(wanted.run, &RunSteps::devices);
    DeviceInfo info = device->info();
    info.attachment = connection.session->attachment();
    put(reply.body, info);
  }
  return reply;
}

std::optional<u64> Server::mac_of(u64 gid_high, u64 gid_low) const {
  const proto::Gid wanted = proto::make_gid(gid_high, gid_low);
  for (const auto& device : devices_)
    for (const proto::PortAttributes& port : device->ports())
      for (const proto::Gid& gid : port.gids)
        if (gid.bytes == wanted.bytes) return port.mac;
  return std::nullopt;
}
}  // namespace hca::attach
