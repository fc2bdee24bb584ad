// SPDX-License-Identifier: Apache-2.0
// How a program, or a child of one, comes to have a clock, and how it leaves it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/program.h"
#include "testbench/programs/time_library/spin.h"
#include "testbench/programs/time_library/system_calls.h"
#include "testbench/programs/time_library/turns.h"

namespace hca::time_library {
namespace {
thread_local constinit std::array<int, 2> t_fork{};  // a child tells its parent that it is known

// False: it is too long.
template <std::size_t kMost>
bool take(std::array<char, kMost>& to, const char* text) {
  const std::size_t bytes = std::strlen(text);
  if (bytes >= kMost) return false;
  std::memcpy(to.data(), text, bytes + 1);
  return true;
}

// In a child the clock is its own again.
void leave_in_child() {
  Program& here = program();
  here.open = false;
  here.shared = nullptr;
  here.socket.close();
  here.wake.close();
  t_mine.slot = nullptr;
  t_mine.debt = 0;
  forget_timers();
  forget_threads();
  forget_futexes();
  trap_time_stamps(false);
}

// At exit the turn is kept until the sockets are closed.
void end() {
  auto* const shared = program().shared;
  if (shared && is_open() && mine()) shared->ends.store(1);
}

bool ask_for_clock() {
  Program& here = program();
  here.socket = attach::connect_to(here.path.data());
  attach::OpenDevice wanted{.run = attach::run_of_environment(), .name = {}};
  wanted.name = here.device;
  attach::Request request;
  request.verb = attach::Verb::OpenClock;
  attach::put(request.body, wanted);
  return here.socket && attach::send_message(here.socket.get(), request);
}
// Takes the server's reply; the calling thread has the first place.
bool take_clock() {
  Program& here = program();
  attach::Reply reply;
  std::vector<attach::Descriptor> given;
  if (!attach::receive_message(here.socket.get(), reply, &given)) return false;
  if (reply.error || given.size() != attach::kClock) {
    errno = EPROTO;
    return false;
  }
  void* const at = mmap(nullptr, sizeof(attach::SharedProcess), PROT_READ | PROT_WRITE, MAP_SHARED,
                        given[attach::kTurns].get(), 0);
  if (at == MAP_FAILED) return false;
  here.shared = static_cast<attach::SharedProcess*>(at);
  here.wake = std::move(given[attach::kWakeForTurn]);
  here.number = reply.number;
  here.open = true;
  set_slot(here.shared->threads[0]);
  if (!mine()) {
    errno = EIO;
    return false;
  }
  trap_time_stamps(true);
  return true;
}

// ---- A child of fork() has a clock of its own from its beginning: its parent keeps the turn until
// the server cannot miss it.
void before_fork() {
  if (!mine() || pipe2(t_fork.data(), O_CLOEXEC)) t_fork = {-1, -1};
}
void after_fork_in_parent() {
  if (t_fork[0] < 0) return;
  char byte;
  HCA_NEXT(close)(t_fork[1]);
  while (HCA_NEXT(read)(t_fork[0], &byte, 1) < 0 && errno == EINTR) continue;
  HCA_NEXT(close)(t_fork[0]);
}
void after_fork_in_child() {
  leave_in_child();
  if (t_fork[0] < 0) return;
  const bool asked = ask_for_clock();
  HCA_NEXT(close)(t_fork[0]);
  HCA_NEXT(close)(t_fork[1]);
  if (asked) take_clock();
}
}  // namespace
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

u32 hca_time_open(const char* socket, const char* device) {
  Program& here = program();
  const std::lock_guard guard(here.mutex);
  if (is_open()) return here.number;
  if (!take(here.path, socket) || !take(here.device, device)) {
    errno = ENAMETOOLONG;
    return 0;
  }
  [[maybe_unused]] static const bool registered =
      !std::atexit(end) && !pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  set_up_time_stamps();
  set_up_examination();  // as soon as the server knows of this program it may ask its threads
  return ask_for_clock() && take_clock() ? here.number : 0;
}
const attach::HostCosts* hca_time_costs() { return is_open() ? &program().shared->costs : nullptr; }
