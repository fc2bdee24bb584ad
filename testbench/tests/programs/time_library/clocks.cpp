// SPDX-License-Identifier: Apache-2.0
// Programs that other things than completions wake, each by its name: `threads` ping each other,
// `locks` hand a turn over, `semaphores` are posted, a `child` has a device of its own, `children`
// end, `timers` ring; `commands` are executed beside what another thread posts; both `devices` are
// used, several threads wake each other by `pipes` or wait for `events` together, children that are
// `forked` open no device, threads poll
// `queues` of their own; meet at `barriers`, at a `barrier` of two programs, are `readers` of what
// they lock, wait for it as `writers`, are a `crowd`; `faults` are handled and blocked,
// `signals` are waited for; threads are those of `c11`; one `computes`, one `waits` in memory, one
// `drains` its queue; `futexes`, `numbers` and `allocates`: see clocks_kernel.cpp; one is `early`,
// made before a device is opened. They print how long that took by their clocks.
#include <infiniband/verbs.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
double now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return double(at.tv_sec) + double(at.tv_nsec) * 1e-9;
}

bool write_to_peer(Bench& bench, const Pair& pair) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  return !post(pair.a, wr) && bench.a.next_completion().status == IBV_WC_SUCCESS;
}

namespace {
bool send(const End& end, ibv_qp* qp) {
  ibv_sge data = end.sge(0, 64);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  return !post(qp, wr);
}
// Both are to come: of what was sent, and of what the other sent.
bool await_two(End& end) {
  for (int i = 0; i < 2; ++i)
    if (end.next_completion().status != IBV_WC_SUCCESS) return false;
  return true;
}

// ---- Two threads, one at each end.
bool ping(End& end, ibv_qp* qp, bool first) {
  for (int i = 0; i < kTimes; ++i) {
    if (first && !send(end, qp)) return false;
    if (!first && end.next_completion().status != IBV_WC_SUCCESS) return false;
    post_receive(qp, end.sge(64, 64));
    if (!first && !send(end, qp)) return false;
    if (!(first ? await_two(end) : end.next_completion().status == IBV_WC_SUCCESS)) return false;
  }
  return true;
}
void ping_each_other(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  post_receive(pair.a, bench.a.sge(64, 64));
  post_receive(pair.b, bench.b.sge(64, 64));
  bool good_a = false, good_b = false;
  const double begun = now();
  std::thread other([&] { good_b = ping(bench.b, pair.b, false); });
  good_a = ping(bench.a, pair.a, true);
  other.join();
  bench.checks->holds("one thread", good_a);
  bench.checks->holds("the other", good_b);
  std::printf("%.9f s\n", now() - begun);
}

// ---- Two threads that hand a turn over, each with a WRITE of its own.
void hand_over(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  std::mutex mutex;
  std::condition_variable changed;
  int turn = 0, good = 0;
  const double begun = now();
  const auto play = [&](int mine) {
    for (int i = 0; i < kTimes; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn == mine; });
      good += write_to_peer(bench, pair);
      turn = 1 - mine;
      changed.notify_one();
    }
  };
  std::thread one(play, 0), other(play, 1);
  one.join(), other.join();
  std::unique_lock lock(mutex);
  const double waits = now();
  const auto status = changed.wait_for(lock, std::chrono::seconds(100));
  bench.checks->holds("nobody wakes it", status == std::cv_status::timeout);
  bench.checks->holds("in simulated time", now() - waits >= 100 && now() - waits < 101);
  bench.checks->equal("WRITEs", good, 2 * kTimes);
  std::printf("%.9f s\n", now() - begun);
}

// ---- A semaphore: in time, and too late.
void expect_posted(Bench& bench, int seconds, int wanted) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread other([&] {
    sleep(10);
    sem_post(&semaphore);
  });
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  const double begun = now();
  errno = 0;
  const int error = sem_timedwait(&semaphore, &until) ? errno : 0;
  bench.checks->equal("sem_timedwait", error, wanted);
  std::printf("%.3f s\n", now() - begun);
  bench.checks->holds("as long as it took", now() - begun >= std::min(seconds, 10) &&
                                                now() - begun < std::min(seconds, 10) + 1e-3);
  other.join();
  sem_destroy(&semaphore);
}
void wait_for_semaphores(Bench& bench) {
  expect_posted(bench, 100, 0);
  expect_posted(bench, 3, ETIMEDOUT);
}

// ---- A child with devices of its own, while its parent goes on.
bool writes(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  for (int i = 0; i < kTimes; ++i) {
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, bench.b);
    if (post(pair.a, wr) || bench.a.next_completion().status != IBV_WC_SUCCESS) return false;
  }
  return true;
}
void have_a_child(Bench& bench) {
  const double begun = now();
  const pid_t child = fork();
  if (!child) {
    Checks checks;
    Bench own;
    own.checks = &checks;
    const bool good = writes(own) && !checks.failed();
    _exit(good ? 7 : 1);
  }
  bench.checks->holds("the parent goes on", writes(bench));
  int status = 0;
  bench.checks->equal("waitpid", waitpid(child, &status, 0), child);
  bench.checks->equal("the child", WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
  bench.checks->holds("the parent still", writes(bench));
  std::printf("%.3f s\n", now() - begun);
}

// ---- Children that end one after the other, whichever was started first.
// They are there when simulated time goes on: meanwhile their parent has commands executed.
pid_t start_sleeper(const Bench& bench, unsigned seconds) {
  auto* const is_ready = static_cast<std::atomic<bool>*>(mmap(nullptr, sizeof(std::atomic<bool>),
                                                              PROT_READ | PROT_WRITE,
                                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (!child) {
    Bench own;
    *is_ready = true;
    sleep(seconds);
    _exit(int(seconds));
  }
  while (!*is_ready) ibv_dealloc_pd(ibv_alloc_pd(bench.a.context));
  munmap(is_ready, sizeof *is_ready);
  return child;
}
void await_children(Bench& bench) {
  Checks& checks = *bench.checks;
  const pid_t last = start_sleeper(bench, 40), third = start_sleeper(bench, 30),
              second = start_sleeper(bench, 20), first = start_sleeper(bench, 10);
  const double begun = now();
  const auto expect = [&](const char* what, pid_t got, pid_t child, double seconds) {
    checks.equal(what, got, child);
    std::printf("%s: %.2f s\n", what, now() - begun);
    checks.holds(what, now() - begun > seconds - 1 && now() - begun < seconds + 1);
  };
  int status = 0;
  expect("wait", wait(&status), first, 10);
  checks.equal("its status", WEXITSTATUS(status), 10);
  siginfo_t info{};
  checks.equal("waitid", waitid(P_ALL, 0, &info, WEXITED), 0);
  expect("waitid", info.si_pid, second, 20);
  checks.equal("its status", info.si_status, 20);
  expect("waitpid of any", waitpid(-1, nullptr, WNOHANG), 0, 20);
  expect("waitpid of the last", waitpid(last, nullptr, 0), last, 40);
  expect("wait for one that has ended", wait4(-1, nullptr, 0, nullptr), third, 40);
  expect("wait for nobody", wait(nullptr), -1, 40);
  checks.equal("errno", errno, ECHILD);
}

// ---- Timers
volatile sig_atomic_t g_rung = 0;
void ring(int) { g_rung = g_rung + 1; }

void expect_time(Bench& bench, const char* what, double begun, double wanted) {
  const double took = now() - begun;
  constexpr double kRounding = 1e-9;  // of seconds in a double
  bench.checks->holds(what, took > wanted - kRounding && took < wanted + 1e-3);
  std::printf("%s: %.6f s\n", what, took);
}

void let_timers_ring(Bench& bench) {
  Checks& checks = *bench.checks;
  struct sigaction action {};
  action.sa_handler = ring;
  sigaction(SIGALRM, &action, nullptr);

  double begun = now();
  checks.equal("sleep", sleep(1), 0);
  expect_time(bench, "sleep(1)", begun, 1);

  begun = now();
  checks.equal("no alarm was set", alarm(3), 0);
  checks.equal("one was", alarm(2), 3);
  checks.equal("pause", pause(), -1);
  checks.equal("an alarm rings", g_rung, 1);
  expect_time(bench, "alarm(2)", begun, 2);

  begun = now();
  alarm(1);
  checks.equal("what an alarm leaves of a sleep", sleep(10), 9);
  expect_time(bench, "alarm(1) in sleep(10)", begun, 1);

  begun = now();
  alarm(1);
  pollfd none{bench.a.context->async_fd, POLLIN, 0};
  checks.equal("poll", poll(&none, 1, 5000), -1);
  checks.equal("errno", errno, EINTR);
  expect_time(bench, "alarm(1) in poll()", begun, 1);

  // Who polls for completions sees it as well.
  begun = now();
  g_rung = 0;
  const itimerval each{{0, 10'000}, {0, 10'000}};
  setitimer(ITIMER_REAL, &each, nullptr);
  ibv_wc wc;
  while (g_rung < 5) ibv_poll_cq(bench.a.cq, 1, &wc);
  const itimerval off{};
  setitimer(ITIMER_REAL, &off, nullptr);
  expect_time(bench, "five times 10 ms while it polls", begun, 0.05);

  begun = now();
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec thrice{{0, 250'000'000}, {0, 500'000'000}};
  checks.equal("timerfd_settime", timerfd_settime(timer, 0, &thrice, nullptr), 0);
  std::uint64_t times = 0;
  checks.equal("read", read(timer, &times, sizeof times), sizeof times);
  checks.equal("a timer has rung", (long long)times, 1);
  expect_time(bench, "a timer of 500 ms", begun, 0.5);
  sleep(1);
  checks.equal("read", read(timer, &times, sizeof times), sizeof times);
  checks.equal("and each 250 ms", (long long)times, 4);
  close(timer);
}

// ---- Commands on a device that is not the one of the program's clock.
void command_beside_posts(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  std::atomic<bool> stops = false;
  std::thread writes([&] {
    while (!stops) {
      ibv_sge data = bench.b.sge(0, 8);
      ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
      set_remote(wr, bench.a);
      post(pair.b, wr);
      bench.b.next_completion();
    }
  });
  double longest = 0;
  for (int i = 0; i < kTimes; ++i) {
    const double begun = now();
    bench.checks->equal("a domain", ibv_dealloc_pd(ibv_alloc_pd(bench.b.context)), 0);
    longest = std::max(longest, now() - begun);
  }
  stops = true, writes.join();
  bench.checks->holds("two commands take less than 0.1 ms", longest < 1e-4);
}

// ---- Polls up to a time of the clock, for what does not come. Then a poll takes 10 us at the
// most, and so does each look at the clock.
void keep_pace(Bench& bench) {
  ibv_wc wc;
  for (const double wanted : {20e-6, 100e-6, 300e-6, 1e-3, 3e-3}) {
    const double begun = now();
    while (now() < begun + wanted) ibv_poll_cq(bench.a.cq, 1, &wc);
    bench.checks->holds("it goes on at most 30 us later", now() - begun < wanted + 30e-6);
  }
}

struct ProgramRow {
  const char* name;
  void (*run)(Bench&);
  void (*before)() = nullptr;  // a device is opened
};
constexpr std::array kPrograms{ProgramRow{"threads", ping_each_other},
                               ProgramRow{"locks", hand_over},
                               ProgramRow{"semaphores", wait_for_semaphores},
                               ProgramRow{"child", have_a_child},
                               ProgramRow{"children", await_children},
                               ProgramRow{"timers", let_timers_ring},
                               ProgramRow{"commands", command_beside_posts},
                               ProgramRow{"pace", keep_pace},
                               ProgramRow{"devices", use_both_devices},
                               ProgramRow{"pipes", wake_by_pipes},
                               ProgramRow{"events", wait_for_events_together},
                               ProgramRow{"forked", fork_without_device},
                               ProgramRow{"queues", poll_own_queues},
                               ProgramRow{"barriers", meet_at_barriers},
                               ProgramRow{"barrier", meet_child_at_barrier},
                               ProgramRow{"readers", share_locks},
                               ProgramRow{"writers", prefer_writers},
                               ProgramRow{"crowd", be_a_crowd},
                               ProgramRow{"faults", handle_faults},
                               ProgramRow{"signals", let_signals_come},
                               ProgramRow{"c11", use_c11},
                               ProgramRow{"computes", compute_between},
                               ProgramRow{"waits", wait_in_memory},
                               ProgramRow{"drains", poll_until_empty},
                               ProgramRow{"futexes", hand_over_by_futex},
                               ProgramRow{"numbers", ask_by_number},
                               ProgramRow{"allocates", allocate_together},
                               ProgramRow{"early", join_early_thread, make_early_thread}};
}  // namespace
}  // namespace cases

int main(int count, char** arguments) {
  cases::Checks checks;
  for (const cases::ProgramRow& program : cases::kPrograms) {
    if (count != 2 || std::strcmp(arguments[1], program.name)) continue;
    if (program.before) program.before();
    cases::Bench bench;
    bench.checks = &checks;
    program.run(bench);
    std::printf("%d passed, %d failed\n", checks.passed(), checks.failed());
    return checks.failed() != 0;
  }
  return 2;
}
