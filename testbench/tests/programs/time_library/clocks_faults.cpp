// SPDX-License-Identifier: Apache-2.0
// A program of hca_verbs_clocks: the time stamp counter is read in a signal, `faults`, that the
// program handles itself or blocks.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstdio>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
void sleep_us(long microseconds) {
  const timespec time{0, microseconds * 1000};
  nanosleep(&time, nullptr);
}
sigjmp_buf g_back;
volatile sig_atomic_t g_faults = 0, g_counted = 0;
bool counts() {
  constexpr unsigned long long kTicks = 900'000, kMost = 1'200'000;  // of 1 ms
  const auto before = __rdtsc();
  sleep_us(1000);
  const auto passed = __rdtsc() - before;
  return passed >= kTicks && passed < kMost;
}
void come_back(int) {
  g_faults = g_faults + 1;
  g_counted = counts();
  siglongjmp(g_back, 1);
}
void count_in_handler(int) { g_counted = counts(); }
void touch_nothing() {
  static volatile int* volatile nowhere = nullptr;
  if (!sigsetjmp(g_back, 1)) *nowhere = 1;
}
void fault_again(int) {
  static volatile sig_atomic_t once = 0;
  if (once) _exit(1);
  once = 1;
  static volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}
// The bytes of RDTSC and RDTSCP inside other instructions: nobody may overwrite them.
bool constants_are_whole() {
  unsigned first = 0, second = 0;
  asm volatile("mov $0x90310f90, %0\n\tmov $0xf9010f90, %1" : "=r"(first), "=r"(second));
  return first == 0x90310f90 && second == 0xf9010f90;
}
void* count(void* good) {
  *static_cast<bool*>(good) = counts();
  return nullptr;
}

// What sets a handler or a mask by another name. The counter is none of the handler's business.
void handle_by_older_names(Checks& checks) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const int faults = g_faults;
  if (!sigsetjmp(g_back, 1)) {
    checks.holds("by sysv_signal()", sysv_signal(SIGSEGV, come_back) == SIG_DFL);
    checks.holds("the counter", counts());
    checks.holds("by ssignal()", ssignal(SIGSEGV, come_back) == come_back);
    checks.holds("the counter", counts());
    checks.holds("by sigset()", sigset(SIGSEGV, come_back) == come_back);
    checks.holds("the counter", counts());
    checks.equal("siginterrupt()", siginterrupt(SIGSEGV, 1), 0);
    checks.holds("the counter", counts());
    checks.equal("sighold()", sighold(SIGSEGV), 0);
    checks.holds("the counter", counts());
    sigblock(~0);
    checks.holds("the counter behind sigblock()", counts());
    sigsetmask(~0);
    checks.holds("the counter behind sigsetmask()", counts());
    sigsetmask(0);
  }
  checks.equal("no fault has come", g_faults, faults);
  touch_nothing();
  checks.equal("one has", g_faults, faults + 1);
  checks.equal("sigignore()", sigignore(SIGSEGV), 0);
  checks.holds("the counter", counts());
  raise(SIGSEGV);
  signal(SIGSEGV, SIG_DFL);
#pragma GCC diagnostic pop
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  checks.equal("a thread's mask", pthread_attr_setsigmask_np(&attributes, &all), 0);
  bool good = false;
  pthread_t thread{};
  checks.equal("pthread_create", pthread_create(&thread, &attributes, count, &good), 0);
  pthread_join(thread, nullptr);
  checks.holds("the counter in it", good);
  pthread_attr_destroy(&attributes);
}
// As without the counter.
void end_by_fault_in_handler(Checks& checks) {
  const pid_t child = fork();
  if (!child) {
    signal(SIGSEGV, fault_again);
    touch_nothing();
    _exit(0);
  }
  int status = 0;
  checks.equal("a child whose handler faults", waitpid(child, &status, 0), child);
  checks.holds("ends by that", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
}  // namespace

void handle_faults(Bench& bench) {
  Checks& checks = *bench.checks;
  checks.holds("the counter", counts());
  checks.holds("constants that look like the instruction", constants_are_whole());
  sigset_t all, before;
  sigfillset(&all);
  checks.equal("all signals are blocked", pthread_sigmask(SIG_BLOCK, &all, &before), 0);
  checks.holds("the counter", counts());
  checks.equal("and by the process", sigprocmask(SIG_SETMASK, &all, nullptr), 0);
  checks.holds("the counter", counts());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);

  struct sigaction action {
  }, seen{};
  action.sa_handler = count_in_handler;
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  g_counted = 0;
  raise(SIGUSR1);
  checks.holds("the counter in a handler that lets no other run", g_counted);

  action.sa_handler = come_back;
  checks.equal("a handler of faults", sigaction(SIGSEGV, &action, nullptr), 0);
  checks.holds("the counter", counts());
  checks.equal("which is it", sigaction(SIGSEGV, nullptr, &seen), 0);
  checks.holds("it is this one", seen.sa_handler == come_back);
  for (int i = 1; i <= 2; ++i) {
    g_counted = 0;
    touch_nothing();
    checks.equal("a fault comes to it", g_faults, i);
    checks.holds("the counter in it", g_counted);
    checks.holds("the counter behind it", counts());
  }
  checks.holds("by signal()", signal(SIGSEGV, SIG_DFL) == come_back);
  checks.holds("the counter", counts());
  const pid_t child = fork();
  if (!child) {
    touch_nothing();
    _exit(0);
  }
  int status = 0;
  checks.equal("a child without a handler", waitpid(child, &status, 0), child);
  checks.holds("ends by a fault", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
  handle_by_older_names(checks);
  std::printf("%d faults\n", int(g_faults));
  std::fflush(stdout);
  end_by_fault_in_handler(checks);
}
}  // namespace cases
