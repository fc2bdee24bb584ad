// SPDX-License-Identifier: Apache-2.0
// Clocks and sleeps.
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
namespace {
constexpr u64 kSecond = 1'000'000'000'000, kNanosecond = 1000;

bool shows_time(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
      return true;
    default:
      return false;  // of the processor
  }
}

timespec show(clockid_t clock) {
  const u64 at = read_clock();
  return {time_t(start_of(clock) + at / kSecond), long(at % kSecond / kNanosecond)};
}

u64 picoseconds_of(const timespec& duration) {
  return u64(duration.tv_sec) * kSecond + u64(duration.tv_nsec) * kNanosecond;
}
bool is_valid(const timespec& duration) {
  return duration.tv_sec >= 0 && duration.tv_nsec >= 0 && duration.tv_nsec < 1'000'000'000;
}
// Returns the time left: not 0 if a signal handler has run.
u64 sleep_for(u64 picoseconds) {
  pthread_testcancel();
  const u64 end = end_of(picoseconds);
  return sleep_until(end) ? 0 : end - std::min(end, now());
}
int sleep_for(u64 picoseconds, timespec* left) {
  const u64 rest = sleep_for(picoseconds);
  if (left) *left = {time_t(rest / kSecond), long(rest % kSecond / kNanosecond)};
  return rest ? EINTR : 0;
}

// The file as it is, with the rate of the counter that programs see.
FILE* processors() {
  constexpr std::string_view kRate = "cpu MHz";
  FILE* const real = HCA_NEXT(fopen)("/proc/cpuinfo", "r");
  if (!real) return nullptr;
  std::string text;
  for (std::array<char, 4096> line; std::fgets(line.data(), int(line.size()), real);)
    text +=
        std::string_view(line.data()).starts_with(kRate) ? "cpu MHz\t\t: 1000.000\n" : line.data();
  std::fclose(real);
  FILE* const made = std::tmpfile();
  if (!made) return nullptr;
  std::fwrite(text.data(), 1, text.size(), made);
  std::rewind(made);
  return made;
}
static_assert(kSecond / kPicosecondsPerTick == 1'000'000'000);
}  // namespace

// The value of a system clock at the first look, in whole seconds: differences are those of
// simulated time in every run.
u64 start_of(clockid_t clock) {
  static constinit std::atomic<u64> of_day{0}, since_boot{0};  // 0: nobody has looked yet
  const bool is_of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  std::atomic<u64>& start = is_of_day ? of_day : since_boot;
  if (!start) {
    timespec real{};
    HCA_NEXT(clock_gettime)(is_of_day ? CLOCK_REALTIME : CLOCK_MONOTONIC, &real);
    u64 none = 0;
    start.compare_exchange_strong(
        none, u64(real.tv_sec + 1) - std::min(u64(real.tv_sec), now() / kSecond));
  }
  return start;
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

u64 hca_time_start_of_day() { return start_of(CLOCK_REALTIME) * (kSecond / kNanosecond); }

HCA_INSTEAD int clock_gettime(clockid_t clock, timespec* out) noexcept {
  if (!is_open() || !shows_time(clock)) return HCA_NEXT(clock_gettime)(clock, out);
  *out = show(clock);
  return 0;
}
HCA_INSTEAD int gettimeofday(timeval* out, void* zone) noexcept {
  if (!is_open()) return HCA_NEXT(gettimeofday)(out, zone);
  const timespec at = show(CLOCK_REALTIME);
  *out = {at.tv_sec, at.tv_nsec / 1000};
  return 0;
}
HCA_INSTEAD time_t time(time_t* out) noexcept {
  if (!is_open()) return HCA_NEXT(time)(out);
  const time_t at = show(CLOCK_REALTIME).tv_sec;
  return out ? *out = at : at;
}

// The time since boot; what the processor has worked is real.
HCA_INSTEAD clock_t times(tms* out) noexcept {
  const clock_t real = HCA_NEXT(times)(out);
  if (!is_open()) return real;
  const timespec at = show(CLOCK_MONOTONIC);
  const long rate = sysconf(_SC_CLK_TCK);
  return at.tv_sec * rate + at.tv_nsec * rate / 1'000'000'000;
}
struct timeb;
HCA_INSTEAD int ftime(timeb* out) {
  struct Fields {  // of <sys/timeb.h>, which calls the function deprecated
    time_t time;
    unsigned short millitm;
    short timezone, dstflag;
  };
  const timespec at = is_open() ? show(CLOCK_REALTIME) : [] {
    timespec real{};
    HCA_NEXT(clock_gettime)(CLOCK_REALTIME, &real);
    return real;
  }();
  *reinterpret_cast<Fields*>(out) = {at.tv_sec, static_cast<unsigned short>(at.tv_nsec / 1'000'000),
                                     0, 0};
  return 0;
}

HCA_INSTEAD int nanosleep(const timespec* duration, timespec* left) {
  if (!is_open()) return HCA_NEXT(nanosleep)(duration, left);
  if (!is_valid(*duration)) {
    errno = EINVAL;
    return -1;
  }
  const int error = sleep_for(picoseconds_of(*duration), left);
  if (!error) return 0;
  errno = error;
  return -1;
}
HCA_INSTEAD int clock_nanosleep(clockid_t clock, int flags, const timespec* until, timespec* left) {
  if (!is_open() || !shows_time(clock)) return HCA_NEXT(clock_nanosleep)(clock, flags, until, left);
  if (!is_valid(*until)) return EINVAL;
  const u64 wanted = picoseconds_of(*until);
  const u64 from = flags & TIMER_ABSTIME ? start_of(clock) * kSecond + now() : 0;
  if (wanted <= from) return 0;
  return sleep_for(wanted - from, flags & TIMER_ABSTIME ? nullptr : left);
}
HCA_INSTEAD int usleep(useconds_t microseconds) {
  if (!is_open()) return HCA_NEXT(usleep)(microseconds);
  const bool slept = !sleep_for(u64{microseconds} * 1000 * kNanosecond);
  return slept ? 0 : (errno = EINTR, -1);
}
HCA_INSTEAD unsigned sleep(unsigned seconds) {
  if (!is_open()) return HCA_NEXT(sleep)(seconds);
  return unsigned((sleep_for(seconds * kSecond) + kSecond - 1) / kSecond);
}

// Others continue, and time advances by the duration of the call: a thread that yields repeatedly,
// with other calls in between, waits for something that takes time.
HCA_INSTEAD int sched_yield() noexcept {
  constexpr u64 kTakes = 500 * 1000;  // ps
  if (!is_open()) return HCA_NEXT(sched_yield)();
  spend(kTakes);
  settle();
  return 0;
}
HCA_INSTEAD void thrd_yield() { sched_yield(); }

// The rate that programs find there is that of the counter.
HCA_INSTEAD FILE* fopen(const char* path, const char* mode) {
  if (!is_open() || std::strcmp(path, "/proc/cpuinfo") != 0) return HCA_NEXT(fopen)(path, mode);
  return processors();
}
HCA_INSTEAD FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }
