// SPDX-License-Identifier: Apache-2.0
// A handler of a signal that comes while its thread is in a verb or waits, and itself looks at
// clocks and calls verbs: it comes to its end, and so does what it interrupts.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// What the handler sees and does.
struct Handled {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  int pipe[2]{};
  sem_t semaphore;
  std::atomic<int> came{0}, failed{0};
};
Handled g_handled;

void handle(int) {
  constexpr int kMost = 40;  // a slow machine has other things to do
  const int error = errno;
  Handled& h = g_handled;
  if (++h.came > kMost) return;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  time(nullptr);
  ibv_port_attr port{};
  ibv_wc wc;
  ibv_pd* const pd = ibv_alloc_pd(h.context);
  const bool good = pd && !ibv_query_port(h.context, 1, &port) && !ibv_dealloc_pd(pd) &&
                    ibv_poll_cq(h.cq, 1, &wc) >= 0;
  h.failed += !good;
  const char byte = 1;
  h.failed += write(h.pipe[1], &byte, 1) != 1;
  sem_post(&h.semaphore);
  errno = error;
}

void drain() {
  char byte;
  pollfd one{g_handled.pipe[0], POLLIN, 0};
  while (poll(&one, 1, 0) == 1) g_handled.failed += read(g_handled.pipe[0], &byte, 1) != 1;
  while (!sem_trywait(&g_handled.semaphore)) continue;
}

// By the time of day, whatever time the program sees.
class RealTimer {
 public:
  explicit RealTimer(long nanoseconds, long interval = 0) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL, event.sigev_signo = SIGUSR1;
    timer_create(CLOCK_MONOTONIC, &event, &timer_);
    const itimerspec due{{0, interval}, {0, nanoseconds}};
    timer_settime(timer_, 0, &due, nullptr);
  }
  ~RealTimer() { timer_delete(timer_); }
  RealTimer(const RealTimer&) = delete;

 private:
  timer_t timer_{};
};

// A call that ends by what the handler does, and what it returns then: with
// SA_RESTART, and without.
struct WaitRow {
  const char* what;
  int restarted, interrupted;
  int (*call)();
};
int read_pipe() {
  char byte;
  return int(read(g_handled.pipe[0], &byte, 1));
}
int poll_pipe() {
  pollfd one{g_handled.pipe[0], POLLIN, 0};
  return poll(&one, 1, -1);
}
int epoll_pipe() {
  const int set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(set, EPOLL_CTL_ADD, g_handled.pipe[0], &event);
  const int result = epoll_wait(set, &event, 1, -1);
  const int error = errno;
  close(set);
  errno = error;
  return result;
}
// Interrupted, it may see the semaphore all the same.
int wait_semaphore() { return sem_wait(&g_handled.semaphore) && errno != EINTR ? -1 : 0; }
int join_reader() {
  std::thread other([] { poll_pipe(); });
  other.join();
  return 1;
}
int lock_held() {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> locked = false;
  std::thread other([&] {
    pthread_mutex_lock(&mutex);
    locked = true;
    poll_pipe();
    pthread_mutex_unlock(&mutex);
  });
  const timespec moment{0, 100'000};
  while (!locked) nanosleep(&moment, nullptr);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  other.join();
  return 1;
}
constexpr std::array kWaits{
    WaitRow{"read", 1, -1, read_pipe},          WaitRow{"poll", -1, -1, poll_pipe},
    WaitRow{"epoll_wait", -1, -1, epoll_pipe},  WaitRow{"sem_wait", 0, 0, wait_semaphore},
    WaitRow{"pthread_join", 1, 1, join_reader}, WaitRow{"pthread_mutex_lock", 1, 1, lock_held},
};

void set_handler(int flags) {
  struct sigaction action {};
  action.sa_handler = handle, action.sa_flags = flags;
  sigaction(SIGUSR1, &action, nullptr);
}

void check_waits(Bench& bench, const WaitRow& row, bool restarts) {
  Checks& checks = *bench.checks;
  const std::string what = row.what + std::string(restarts ? ", SA_RESTART" : "");
  set_handler(restarts ? int(SA_RESTART) : 0);
  drain();
  g_handled.came = 0;
  const RealTimer timer(20'000'000);
  errno = 0;
  const int result = row.call(), error = errno;
  const int wanted = restarts ? row.restarted : row.interrupted;
  checks.equal(what, result, wanted);
  if (wanted < 0) checks.equal(what + ", errno", error, EINTR);
  checks.equal(what + ", the handler", g_handled.came, 1);
}

// Events of devices and channels: without SA_RESTART the call gives -1 and EINTR.
void check_interrupted(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_comp_channel* const channel = ibv_create_comp_channel(bench.b.context);
  ibv_context* const own = ibv_open_device(bench.b.context->device);
  set_handler(0);
  for (const bool asynchronous : {false, true}) {
    const RealTimer timer(20'000'000);
    g_handled.came = 0;
    ibv_async_event event;
    ibv_cq* cq;
    void* context;
    errno = 0;
    checks.equal(
        "a wait for an event",
        asynchronous ? ibv_get_async_event(own, &event) : ibv_get_cq_event(channel, &cq, &context),
        -1);
    checks.equal("errno", errno, EINTR);
    checks.equal("the handler", g_handled.came, 1);
  }
  checks.equal("destroyed", ibv_destroy_comp_channel(channel) | ibv_close_device(own), 0);
}

// Every ms, while the thread makes objects, posts and polls.
void check_storm(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  set_handler(SA_RESTART);
  int error = 0;
  g_handled.came = 0;
  {
    const RealTimer timer(1'000'000, 1'000'000);
    for (int i = 0; i < 3000 && !error && (i < 200 || g_handled.came < 20); ++i) {
      ibv_sge data = bench.a.sge(0, 8);
      ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data, std::uint64_t(i));
      set_remote(wr, bench.b);
      error = post(pair.a, wr);
      ibv_wc wc{};
      while (!ibv_poll_cq(bench.a.cq, 1, &wc)) continue;
      if (wc.status != IBV_WC_SUCCESS || wc.wr_id != std::uint64_t(i)) error = EIO;
      ibv_mr* const mr = ibv_reg_mr(bench.a.pd, bench.a.buffer.data(), 64, 0);
      if (!mr || ibv_dereg_mr(mr)) error = errno;
      if (i % 16 == 0) drain();
    }
  }
  checks.equal("work under signals", error, 0);
  checks.holds("the handler has come", g_handled.came > 1);
}
}  // namespace

void check_handlers(Bench& bench) {
  Handled& h = g_handled;
  h.context = bench.b.context, h.pd = bench.b.pd, h.cq = bench.b.cq;
  bench.checks->equal("a pipe", pipe(h.pipe), 0);
  sem_init(&h.semaphore, 0, 0);
  for (const WaitRow& row : kWaits)
    for (const bool restarts : {false, true}) check_waits(bench, row, restarts);
  check_interrupted(bench);
  check_storm(bench);
  bench.checks->equal("what failed in the handler", h.failed, 0);
  signal(SIGUSR1, SIG_IGN);
  close(h.pipe[0]), close(h.pipe[1]);
}
}  // namespace cases
