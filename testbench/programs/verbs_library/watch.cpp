// SPDX-License-Identifier: Apache-2.0
// A program that spins in its memory makes no call that could report that the server is gone: a
// separate thread notices it, and ends the program if it makes no call.
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
namespace {
constexpr u64 kSecond = 1'000'000'000;  // times are in ns
constexpr u64 kPatience = 5 * kSecond;  // of the processor: for so long a program may compute
constexpr long kBetweenLooks = 100'000'000;

// Nothing here may be a call that the library of clocks takes: the thread is none of the program's,
// and has no turns.
template <class Function>
Function* of_c_library(const char* name) {
  void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return library ? reinterpret_cast<Function*>(dlsym(library, name)) : nullptr;
}
// The processor time of the whole program.
u64 processor_time() {
  timespec time{};
  attach::kernel_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return u64(time.tv_sec) * kSecond + u64(time.tv_nsec);
}

enum class Seen { Nothing, Stop, Gone };
// nullptr: no time limit.
Seen look(Context& context, const timespec* longest) {
  std::array<pollfd, 2> ends{pollfd{context.stop_watch.get(), POLLIN, 0},
                             pollfd{context.socket.get(), 0, 0}};
  const nfds_t count = longest ? 1 : ends.size();  // who has seen that it is gone only waits
  timespec left = longest ? *longest : timespec{};
  if (attach::kernel_call(SYS_ppoll, ends.data(), count, longest ? &left : nullptr, nullptr, 0) <=
      0)
    return Seen::Nothing;
  return ends[0].revents ? Seen::Stop : Seen::Gone;
}

[[noreturn]] void end_program() {
  const char* const path = std::getenv(attach::kSocketVariable);
  std::fflush(stdout);
  std::fprintf(stderr,
               "hca: the simulation at '%s' is gone; this program makes no call that could report "
               "it, and is ended\n",
               path ? path : "");
  _exit(1);
}

void* watch(void* at) {
  Context& context = *static_cast<Context*>(at);
  Seen seen;
  while ((seen = look(context, nullptr)) == Seen::Nothing) continue;
  const u64 begun = processor_time();
  // A call that finds the server gone reports it to the program.
  while (seen != Seen::Stop && !g_any_lost) {
    if (processor_time() - begun > kPatience) end_program();
    const timespec moment{0, kBetweenLooks};
    seen = look(context, &moment);
  }
  return nullptr;
}
}  // namespace

void start_watch(Context& context) {
  static auto* const create = of_c_library<decltype(pthread_create)>("pthread_create");
  context.stop_watch = attach::Descriptor(eventfd(0, EFD_CLOEXEC));
  if (!create || !context.stop_watch) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the threads of the program
  if (!create(&context.watcher, nullptr, watch, &context)) context.watched_in = getpid();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stop_watch(Context& context) {
  static auto* const join = of_c_library<decltype(pthread_join)>("pthread_join");
  if (context.watched_in != getpid()) return;  // a child has no such thread
  const u64 one = 1;
  attach::kernel_call(SYS_write, context.stop_watch.get(), &one, sizeof one);
  join(context.watcher, nullptr);
}
}  // namespace hca::verbs_library
