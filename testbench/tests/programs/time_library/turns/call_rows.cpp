// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/time_library/turns/call_rows.h"

#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/program.h"
#include "testbench/programs/time_library/turns.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"
#include "testbench/tests/programs/time_library/turns/simulation.h"

namespace hca::explored {
namespace {
constexpr u64 kLong = 1'000'000'000'000;  // ps: a wait of that length was told too late

struct Objects {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_rwlock_t lock, for_writers;
  pthread_barrier_t barrier;
  sem_t semaphore;
  attach::Shared<u32> flag, word;
  int event = -1;
  pthread_t teller;
};
Objects g;

void must(bool is, const char* what) {
  if (!is) fault(what);
}
void must_return_0(int error, const char* what) { must(!error, what); }
timespec far_from_now() {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  ++until.tv_sec;
  return until;
}
// Simulated time waits for the teller: it has turns, and keeps them.
bool g_waits;
bool g_early;  // those that wait are in simulated time from its beginning
unsigned g_waiters;
void must_be_in_time(const char* what) {
  must(!g_waits || !g_early || time_library::now() < kLong / 2, what);
}
// A wait with a time-out is told before that.
template <class Call>
void in_time(Call call, const char* what) {
  int error;
  do {
    const timespec until = far_from_now();
    error = call(&until);
    if (error < 0) error = errno;
  } while (error == ETIMEDOUT && !g_waits);
  must_return_0(error, what);
  must_be_in_time("what was told came with its time-out");
}

// ---- Locks: the teller holds the lock, and releases it.
void hold_mutex() { must_return_0(pthread_mutex_lock(&g.mutex), "pthread_mutex_lock"); }
void release_mutex() { must_return_0(pthread_mutex_unlock(&g.mutex), "pthread_mutex_unlock"); }
void take_mutex() { hold_mutex(), release_mutex(); }
void take_mutex_in_time() {
  in_time([](const timespec* until) { return pthread_mutex_timedlock(&g.mutex, until); },
          "pthread_mutex_timedlock");
  release_mutex();
}
template <pthread_rwlock_t Objects::*kLock>
void hold_to_write() {
  must_return_0(pthread_rwlock_wrlock(&(g.*kLock)), "pthread_rwlock_wrlock");
}
template <pthread_rwlock_t Objects::*kLock>
void hold_to_read() {
  must_return_0(pthread_rwlock_rdlock(&(g.*kLock)), "pthread_rwlock_rdlock");
}
template <pthread_rwlock_t Objects::*kLock>
void release_rwlock() {
  must_return_0(pthread_rwlock_unlock(&(g.*kLock)), "pthread_rwlock_unlock");
}
template <pthread_rwlock_t Objects::*kLock>
void take_to_write() {
  hold_to_write<kLock>(), release_rwlock<kLock>();
}
template <pthread_rwlock_t Objects::*kLock>
void take_to_read() {
  hold_to_read<kLock>(), release_rwlock<kLock>();
}
void take_to_write_in_time() {
  in_time([](const timespec* until) { return pthread_rwlock_timedwrlock(&g.lock, until); },
          "pthread_rwlock_timedwrlock");
  release_rwlock<&Objects::lock>();
}
void take_to_read_in_time() {
  in_time([](const timespec* until) { return pthread_rwlock_timedrdlock(&g.lock, until); },
          "pthread_rwlock_timedrdlock");
  release_rwlock<&Objects::lock>();
}

// ---- Conditions
void await_flag() {
  hold_mutex();
  while (!g.flag.load())
    must_return_0(pthread_cond_wait(&g.condition, &g.mutex), "pthread_cond_wait");
  release_mutex();
}
void await_flag_in_time() {
  hold_mutex();
  while (!g.flag.load()) {
    const timespec until = far_from_now();
    const int error = pthread_cond_timedwait(&g.condition, &g.mutex, &until);
    must(!error || (error == ETIMEDOUT && !g_waits), "pthread_cond_timedwait");
    if (!error) must_be_in_time("a condition was signalled, and its wait came with the time-out");
  }
  release_mutex();
}
template <int (*kWake)(pthread_cond_t*)>
void set_flag() {
  hold_mutex();
  g.flag.store(1);
  release_mutex();
  must_return_0(kWake(&g.condition), "pthread_cond_signal");
}
int signal_each(pthread_cond_t* condition) {
  int error = 0;
  for (unsigned i = 0; i < g_waiters; ++i) error |= pthread_cond_signal(condition);
  return error;
}
int broadcast(pthread_cond_t* condition) { return pthread_cond_broadcast(condition); }

// ---- Semaphores, barriers, ends of threads
void take_semaphore() { must_return_0(sem_wait(&g.semaphore), "sem_wait"); }
void take_semaphore_in_time() {
  in_time([](const timespec* until) { return sem_timedwait(&g.semaphore, until); },
          "sem_timedwait");
}
void post_to_each() {
  for (unsigned i = 0; i < g_waiters; ++i) must_return_0(sem_post(&g.semaphore), "sem_post");
}
void meet() {
  const int last = pthread_barrier_wait(&g.barrier);
  must(!last || last == PTHREAD_BARRIER_SERIAL_THREAD, "pthread_barrier_wait");
}
void join_teller() { must_return_0(pthread_join(g.teller, nullptr), "pthread_join"); }
void join_teller_in_time() {
  in_time([](const timespec* until) { return pthread_timedjoin_np(g.teller, nullptr, until); },
          "pthread_timedjoin_np");
}

// ---- Futexes
template <int kWait>
void await_word() {
  while (!g.word.load())
    if (syscall(SYS_futex, &g.word, kWait, 0, nullptr, nullptr, FUTEX_BITSET_MATCH_ANY))
      must(errno == EAGAIN, "a wait for a futex");
}
void await_word_in_time() {
  const timespec longest{1, 0};
  while (!g.word.load())
    if (syscall(SYS_futex, &g.word, FUTEX_WAIT_PRIVATE, 0, &longest))
      must(errno == EAGAIN || (errno == ETIMEDOUT && !g_waits),
           "a wait for a futex came with its time-out");
}
template <int kWake>
void set_word() {
  g.word.store(1);
  must(syscall(SYS_futex, &g.word, kWake, INT_MAX) >= 0, "a wake of a futex");
}

// ---- Descriptors, completions, events, memory
void await_event() {
  pollfd one{g.event, POLLIN, 0};
  int ready;
  do ready = poll(&one, 1, 1000);
  while (!ready && !g_waits);
  must(ready == 1, "poll() of what was told came with its time-out");
}
void write_event() {
  const u64 one = 1;
  must(write(g.event, &one, sizeof one) == sizeof one, "write");
}
// As the verbs library, which wakes a server that sleeps.
void ring_doorbell() {
  simulation().device.doorbell.store(1);
  wake_server();
}
void ring_for_event() {
  simulation().device.descriptor = g.event;
  ring_doorbell();
}
void await_completion() {
  const attach::CompletionRing ring{u64(&simulation().device.word), sizeof(u64), 0};
  if (!time_library::mine()) fault("there is no turn");
  while (!simulation().device.word.load()) time_library::wait_for_completion(ring, kLong);
  must_be_in_time("a completion came with its time-out");
}
template <class Word>
void look_at(Word& word, bool (*changed)()) {
  attach::SharedThread* const slot = time_library::mine();
  if (!slot) fault("there is no turn");
  slot->looks = 1, slot->looked_at[0] = u64(&word);
  time_library::wait_in_memory(*slot, changed);
  must(changed(), "a wait in memory ended before it changed");
}
void look_at_device() {
  look_at(simulation().device.word, [] { return simulation().device.word.load() != 0; });
}
void look_at_word() {
  look_at(g.word, [] { return g.word.load() != 0; });
}
void write_word() {
  if (!time_library::mine()) fault("there is no turn");
  g.word.store(1);
  time_library::spend(1'000'000), time_library::settle();
}
void sleep_a_little() { must_return_0(usleep(1), "usleep"); }

constexpr auto kLock = &Objects::lock, kForWriters = &Objects::for_writers;
constexpr std::array kCalls{
    CallRow{"pthread_mutex_lock", hold_mutex, take_mutex, release_mutex},
    CallRow{"pthread_mutex_timedlock", hold_mutex, take_mutex_in_time, release_mutex},
    CallRow{"pthread_rwlock_rdlock", hold_to_write<kLock>, take_to_read<kLock>,
            release_rwlock<kLock>},
    CallRow{"pthread_rwlock_timedrdlock", hold_to_write<kLock>, take_to_read_in_time,
            release_rwlock<kLock>},
    CallRow{"pthread_rwlock_wrlock", hold_to_read<kLock>, take_to_write<kLock>,
            release_rwlock<kLock>},
    CallRow{"pthread_rwlock_timedwrlock", hold_to_write<kLock>, take_to_write_in_time,
            release_rwlock<kLock>},
    CallRow{"pthread_rwlock_wrlock of a lock for writers", hold_to_read<kForWriters>,
            take_to_write<kForWriters>, release_rwlock<kForWriters>},
    CallRow{"pthread_cond_wait, signal", nullptr, await_flag, set_flag<signal_each>},
    CallRow{"pthread_cond_wait, broadcast", nullptr, await_flag, set_flag<broadcast>},
    CallRow{"pthread_cond_timedwait", nullptr, await_flag_in_time, set_flag<broadcast>},
    CallRow{"sem_wait", nullptr, take_semaphore, post_to_each},
    CallRow{"sem_timedwait", nullptr, take_semaphore_in_time, post_to_each},
    CallRow{"pthread_barrier_wait", nullptr, meet, meet},
    CallRow{"pthread_join", nullptr, join_teller, nullptr, 1, true},
    CallRow{"pthread_timedjoin_np", nullptr, join_teller_in_time, nullptr, 1, true},
    CallRow{"futex, private", nullptr, await_word<FUTEX_WAIT_PRIVATE>,
            set_word<FUTEX_WAKE_PRIVATE>},
    CallRow{"futex, of all programs", nullptr, await_word<FUTEX_WAIT>, set_word<FUTEX_WAKE>},
    CallRow{"futex, with bits", nullptr, await_word<FUTEX_WAIT_BITSET_PRIVATE>,
            set_word<FUTEX_WAKE_PRIVATE>},
    CallRow{"futex, with a time-out", nullptr, await_word_in_time, set_word<FUTEX_WAKE_PRIVATE>},
    CallRow{"usleep", nullptr, sleep_a_little, nullptr},
    CallRow{"poll, of what a thread writes", nullptr, await_event, write_event},
    CallRow{"poll, of what the HCA writes", nullptr, await_event, ring_for_event},
    CallRow{"a completion", nullptr, await_completion, ring_doorbell},
    CallRow{"memory that the HCA writes", nullptr, look_at_device, ring_doorbell},
    CallRow{"memory that a thread writes", nullptr, look_at_word, write_word}};
}  // namespace

std::span<const CallRow> call_rows() { return kCalls; }
pthread_t& teller() { return g.teller; }

void set_up_calls(unsigned waiters, bool time_waits, bool early) {
  g_waits = time_waits, g_early = early, g_waiters = waiters;
  if (g.event >= 0) {
    u64 count;
    while (read(g.event, &count, sizeof count) > 0) continue;
  } else {
    g.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  pthread_mutex_init(&g.mutex, nullptr);
  pthread_cond_init(&g.condition, nullptr);
  pthread_rwlock_init(&g.lock, nullptr);
  pthread_rwlockattr_t writers;
  pthread_rwlockattr_init(&writers);
  pthread_rwlockattr_setkind_np(&writers, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&g.for_writers, &writers);
  pthread_barrier_init(&g.barrier, nullptr, waiters + 1);
  sem_init(&g.semaphore, 0, 0);
  g.flag.set(0), g.word.set(0);
}
}  // namespace hca::explored
