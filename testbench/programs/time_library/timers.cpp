// SPDX-License-Identifier: Apache-2.0
// Timers that ring in simulated time: alarm(), the interval timer of real time, those that are
// descriptors. Whoever sees that one is due rings it.
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>

#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
namespace {
constexpr u64 kNanosecond = 1000, kMicrosecond = 1000 * kNanosecond, kSecond = 1'000'000'000'000;

struct Timer {
  u64 due = attach::kForEver, interval = 0;
  clockid_t clock = CLOCK_REALTIME;
};
struct Timers {
  std::mutex mutex;
  Timer alarm;
  std::unique_ptr<std::map<int, Timer>> descriptors;  // none before the first one
  std::atomic<u64> next{attach::kForEver};

  void see_next() {
    u64 first = alarm.due;
    if (descriptors)
      for (const auto& [fd, timer] : *descriptors) first = std::min(first, timer.due);
    next = first;
  }
};
Timers& timers() {
  static constinit attach::Kept<Timers> kept;
  return kept.value;
}

// How often it has rung by then.
u64 take_due(Timer& timer, u64 at) {
  if (timer.due > at) return 0;
  u64 times = 1;
  if (timer.interval) times += (at - timer.due) / timer.interval;
  timer.due = timer.interval ? timer.due + times * timer.interval : attach::kForEver;
  return times;
}

// The time left of a timer; 0: it does not run.
u64 left_of(const Timer& timer) {
  const u64 at = now();
  return timer.due == attach::kForEver ? 0 : std::max(timer.due, at + 1) - at;
}

// True: a handler has run.
bool ring_alarm() {
  struct sigaction action {};
  sigset_t blocked;
  sigaction(SIGALRM, nullptr, &action);
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  const bool handled = action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL &&
                       !sigismember(&blocked, SIGALRM);
  HCA_NEXT(kill)(getpid(), SIGALRM);
  return handled;
}

// `after`, `interval`: picoseconds; no `after`: it does not run any more.
Timer set(Timer& timer, u64 after, u64 interval) {
  Timers& all = timers();
  const std::lock_guard guard(all.mutex);
  const Timer before = timer;
  timer.due = after ? end_of(after) : attach::kForEver;
  timer.interval = interval;
  all.see_next();
  return before;
}
Timer* find(int descriptor) {
  Timers& all = timers();
  const std::lock_guard guard(all.mutex);
  if (!all.descriptors) return nullptr;
  const auto found = all.descriptors->find(descriptor);
  return found == all.descriptors->end() ? nullptr : &found->second;
}

u64 picoseconds_of(const timeval& time) {
  return u64(time.tv_sec) * kSecond + u64(time.tv_usec) * kMicrosecond;
}
u64 picoseconds_of(const timespec& time) {
  return u64(time.tv_sec) * kSecond + u64(time.tv_nsec) * kNanosecond;
}
itimerval interval_of(const Timer& timer) {
  const auto value = [](u64 picoseconds) {
    return timeval{time_t(picoseconds / kSecond),
                   suseconds_t(picoseconds % kSecond / kMicrosecond)};
  };
  return {value(timer.interval), value(left_of(timer))};
}
itimerspec spec_of(const Timer& timer) {
  const auto value = [](u64 picoseconds) {
    return timespec{time_t(picoseconds / kSecond), long(picoseconds % kSecond / kNanosecond)};
  };
  return {value(timer.interval), value(left_of(timer))};
}
}  // namespace

u64 next_timer() { return timers().next.load(std::memory_order_relaxed); }

bool ring_timers() {
  Timers& all = timers();
  if (next_timer() == attach::kForEver || next_timer() > now()) return false;
  bool rings;
  {
    const std::lock_guard guard(all.mutex);
    const u64 at = now();
    rings = take_due(all.alarm, at);
    if (all.descriptors)
      for (auto& [fd, timer] : *all.descriptors)
        if (const u64 times = take_due(timer, at))
          if (HCA_NEXT(write)(fd, &times, sizeof times) < 0) continue;  // it was not read for ages
    all.see_next();
  }
  return rings && ring_alarm();
}

// The interrupting signal is one of the handled ones: the call continues if all of them have
// SA_RESTART.
bool calls_go_on() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (!(handled_signals() >> (signal - 1) & 1)) continue;
    if (!sigaction(signal, nullptr, &action) && !(action.sa_flags & SA_RESTART)) return false;
  }
  return true;
}

void forget_timer(int descriptor) {
  Timers& all = timers();
  const std::lock_guard guard(all.mutex);
  if (all.descriptors && all.descriptors->erase(descriptor)) all.see_next();
}
void forget_timers() {
  Timers& all = timers();
  all.alarm = {};
  all.descriptors.reset();
  all.see_next();
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

HCA_INSTEAD unsigned alarm(unsigned seconds) noexcept {
  if (!is_open()) return HCA_NEXT(alarm)(seconds);
  return unsigned((left_of(set(timers().alarm, seconds * kSecond, 0)) + kSecond - 1) / kSecond);
}
HCA_INSTEAD useconds_t ualarm(useconds_t after, useconds_t interval) noexcept {
  if (!is_open()) return HCA_NEXT(ualarm)(after, interval);
  const Timer before = set(timers().alarm, after * kMicrosecond, interval * kMicrosecond);
  return useconds_t(left_of(before) / kMicrosecond);
}
HCA_INSTEAD int setitimer(__itimer_which_t which, const itimerval* wanted,
                          itimerval* before) noexcept {
  if (!is_open() || which != ITIMER_REAL) return HCA_NEXT(setitimer)(which, wanted, before);
  const Timer was =
      set(timers().alarm, picoseconds_of(wanted->it_value), picoseconds_of(wanted->it_interval));
  if (before) *before = interval_of(was);
  return 0;
}
HCA_INSTEAD int getitimer(__itimer_which_t which, itimerval* is) noexcept {
  if (!is_open() || which != ITIMER_REAL) return HCA_NEXT(getitimer)(which, is);
  *is = interval_of(timers().alarm);
  return 0;
}
// Until a handler has run; without an alarm only another process can ring.
HCA_INSTEAD int pause() {
  while (is_open() && next_timer() != attach::kForEver)
    if (!sleep_until(next_timer())) {
      errno = EINTR;
      return -1;
    }
  return HCA_NEXT(pause)();
}

// Reading an event counter gives what reading a timer gives: how often it has rung.
HCA_INSTEAD int timerfd_create(clockid_t clock, int flags) noexcept {
  static_assert(int(TFD_CLOEXEC) == EFD_CLOEXEC && int(TFD_NONBLOCK) == EFD_NONBLOCK);
  if (!is_open()) return HCA_NEXT(timerfd_create)(clock, flags);
  const int made = eventfd(0, flags);
  if (made < 0) return made;
  Timers& all = timers();
  const std::lock_guard guard(all.mutex);
  if (!all.descriptors) all.descriptors = std::make_unique<std::map<int, Timer>>();
  (*all.descriptors)[made].clock = clock;
  return made;
}
HCA_INSTEAD int timerfd_settime(int fd, int flags, const itimerspec* wanted,
                                itimerspec* before) noexcept {
  Timer* const timer = is_open() ? find(fd) : nullptr;
  if (!timer) return HCA_NEXT(timerfd_settime)(fd, flags, wanted, before);
  u64 after = picoseconds_of(wanted->it_value);
  if (after && (flags & TFD_TIMER_ABSTIME)) {
    const u64 at = start_of(timer->clock) * kSecond + now();
    after = std::max(after, at + 1) - at;
  }
  u64 rung;
  pollfd one{fd, POLLIN, 0};
  if (HCA_NEXT(poll)(&one, 1, 0) == 1 && HCA_NEXT(read)(fd, &rung, sizeof rung) < 0) return -1;
  const Timer was = set(*timer, after, picoseconds_of(wanted->it_interval));
  if (before) *before = spec_of(was);
  return 0;
}
HCA_INSTEAD int timerfd_gettime(int fd, itimerspec* is) noexcept {
  const Timer* const timer = is_open() ? find(fd) : nullptr;
  if (!timer) return HCA_NEXT(timerfd_gettime)(fd, is);
  *is = spec_of(*timer);
  return 0;
}
