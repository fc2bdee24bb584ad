// SPDX-License-Identifier: Apache-2.0
// A program of hca_verbs_clocks: `signals` that timers of simulated time send end calls that let
// them come, or that wait for them alone.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
volatile sig_atomic_t g_came = 0;
void come(int) { g_came = g_came + 1; }

// Rings 1 ms after the beginning of the call.
template <class Call>
void interrupt(Bench& bench, const char* what, Call call) {
  Checks& checks = *bench.checks;
  g_came = 0;
  const double begun = now();
  ualarm(1000, 0);
  errno = 0;
  checks.equal(what, call(), -1);
  checks.equal("errno", errno, EINTR);
  checks.equal("the handler", g_came, 1);
  const double took = now() - begun;
  checks.holds(what, took > 0.99e-3 && took < 1.1e-3);
  std::printf("%s: %.6f s\n", what, took);
}
template <class Call>
void let_wait(Bench& bench, const char* what, Call call, int wanted) {
  const double begun = now();
  bench.checks->equal(what, call(), wanted);
  const double took = now() - begun;
  bench.checks->holds(what, took > 0.99e-3 && took < 1.1e-3);
  std::printf("%s: %.6f s\n", what, took);
}
}  // namespace

void let_signals_come(Bench& bench) {
  Checks& checks = *bench.checks;
  struct sigaction action {};
  action.sa_handler = come;
  sigaction(SIGALRM, &action, nullptr);
  sigset_t alarms, all, none;
  sigemptyset(&alarms), sigaddset(&alarms, SIGALRM);
  sigfillset(&all), sigemptyset(&none);
  const timespec second{1, 0}, millisecond{0, 1'000'000};
  pollfd events{bench.a.context->async_fd, POLLIN, 0};
  const int queue = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  pthread_sigmask(SIG_BLOCK, &alarms, nullptr);

  interrupt(bench, "ppoll", [&] { return ppoll(&events, 1, &second, &none); });
  interrupt(bench, "pselect",
            [&] { return pselect(0, nullptr, nullptr, nullptr, &second, &none); });
  interrupt(bench, "epoll_pwait", [&] { return epoll_pwait(queue, &event, 1, 1000, &none); });
  interrupt(bench, "epoll_pwait2", [&] { return epoll_pwait2(queue, &event, 1, &second, &none); });
  interrupt(bench, "sigsuspend", [&] { return sigsuspend(&none); });
  let_wait(
      bench, "ppoll of nothing", [&] { return ppoll(nullptr, 0, &millisecond, &all); }, 0);
  raise(SIGALRM);
  checks.equal("one that is there", ppoll(&events, 1, &second, &none), -1);
  checks.equal("handlers", g_came, 2);

  int which = 0;
  ualarm(1000, 0);
  let_wait(
      bench, "sigwait", [&] { return sigwait(&alarms, &which); }, 0);
  checks.equal("which", which, SIGALRM);
  siginfo_t info{};
  ualarm(1000, 0);
  let_wait(
      bench, "sigwaitinfo", [&] { return sigwaitinfo(&alarms, &info); }, SIGALRM);
  let_wait(
      bench, "sigtimedwait", [&] { return sigtimedwait(&alarms, &info, &millisecond); }, -1);
  checks.equal("handlers", g_came, 2);
  std::thread other;
  const pthread_t self = pthread_self();
  other = std::thread([&] {
    const timespec wait{0, 1'000'000}, longer{1, 0};
    nanosleep(&wait, nullptr);
    pthread_kill(self, SIGALRM);
    nanosleep(&longer, nullptr);
  });
  let_wait(
      bench, "sigwait for a thread", [&] { return sigwait(&alarms, &which); }, 0);
  other.join();
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  close(queue);
}
}  // namespace cases
