// SPDX-License-Identifier: Apache-2.0
// Reader-writer locks, barriers, and locks with a time limit: a waiting thread gives up its turn.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>

#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
bool is_time(const timespec& time) {
  constexpr long kPerSecond = 1'000'000'000;
  return time.tv_nsec >= 0 && time.tv_nsec < kPerSecond;
}

namespace {
bool is_own(const pthread_mutex_t& mutex) { return mutex.__data.__owner == int(gettid()); }
bool is_own(const pthread_rwlock_t& lock) { return lock.__data.__cur_writer == int(gettid()); }

// Tries until it is not busy. `real`: what then says that it is the thread's own already, or waits
// if there is no server any more.
template <class Lock, class Try, class Real>
int lock_until(Lock& lock, Try try_it, Real real, u64 end,
               const std::function<bool()>& may_be = nullptr) {
  if (!is_open()) return real();
  int error = try_it();
  if (error != EBUSY) return error;
  if (is_own(lock)) return real();
  if (wait_until([&] { return (error = try_it()) != EBUSY; }, end, may_be)) return error;
  return is_open() ? ETIMEDOUT : real();
}

int lock_mutex(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  const auto real = [=] { return HCA_NEXT(pthread_mutex_clocklock)(mutex, clock, until); };
  if (!is_open() || !is_time(*until)) return real();
  return lock_until(
      *mutex, [=] { return pthread_mutex_trylock(mutex); }, real, end_at(clock, *until));
}

// ---- Reader-writer locks, in the C library's representation. The number of writers that gave up
// their turns is in a word that the library does not use: readers of other programs see it there.
bool prefers_writers(const pthread_rwlock_t& lock) {
  return lock.__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}
std::atomic_ref<unsigned> writers_of(const pthread_rwlock_t& lock) {
  return std::atomic_ref(const_cast<unsigned&>(lock.__data.__pad3));
}
bool is_for_writers(const pthread_rwlock_t& lock) {
  return prefers_writers(lock) && writers_of(lock).load();
}
int try_to_read(pthread_rwlock_t* lock) {
  return is_for_writers(*lock) ? EBUSY : HCA_NEXT(pthread_rwlock_tryrdlock)(lock);
}
std::function<bool()> may_be_free(const pthread_rwlock_t& lock, bool to_write) {
  constexpr unsigned kWriter = 2, kOneReader = 8;
  if (!lock.__data.__shared) return nullptr;
  return [&lock, to_write] {
    const unsigned state = __atomic_load_n(&lock.__data.__readers, __ATOMIC_RELAXED);
    return !(state & kWriter) && (to_write ? state < kOneReader : !is_for_writers(lock));
  };
}
template <class Real>
int lock_to_read(pthread_rwlock_t* lock, Real real, u64 end = attach::kForEver) {
  return lock_until(
      *lock, [=] { return try_to_read(lock); }, real, end, may_be_free(*lock, false));
}
// Readers of a lock that prefers writers wait after them, unless their time limit comes first.
template <class Real>
int lock_to_write(pthread_rwlock_t* lock, Real real, u64 end = attach::kForEver) {
  if (is_open() && prefers_writers(*lock) && !is_own(*lock)) {
    ++writers_of(*lock);
    const int error = lock_until(
        *lock, [=] { return pthread_rwlock_trywrlock(lock); }, real, end, may_be_free(*lock, true));
    --writers_of(*lock);
    if (error) tell_waiting(lock->__data.__shared);
    return error;
  }
  return lock_until(
      *lock, [=] { return pthread_rwlock_trywrlock(lock); }, real, end, may_be_free(*lock, true));
}
u64 end_of(clockid_t clock, const timespec* until) {
  return is_open() ? end_at(clock, *until) : attach::kForEver;
}

// ---- Barriers, in the C library's representation: threads that began to wait before simulated
// time began continue with the others.
struct Barrier {
  attach::Shared<u32> in, round;  // who came; up to whom they may leave
  u32 count;
  int shared;
  attach::Shared<u32> out;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t));
Barrier& barrier_of(pthread_barrier_t* barrier) { return *reinterpret_cast<Barrier*>(barrier); }

void futex(attach::Shared<u32>& word, int what, u32 value, bool shared) {
  attach::kernel_call(SYS_futex, &word, shared ? what : what | FUTEX_PRIVATE_FLAG, value, nullptr,
                      nullptr, 0);
}
// So many come before all begins anew.
u32 most_of(const Barrier& barrier) {
  constexpr u32 kMost = UINT_MAX / 2;
  return kMost - kMost % barrier.count;
}
void open_round(Barrier& barrier, u32 mine, bool shared) {
  u32 round = barrier.round;
  while (round + barrier.count <= mine)
    if (barrier.round.compare_exchange_weak(round, mine - mine % barrier.count)) {
      futex(barrier.round, FUTEX_WAKE, INT_MAX, shared);
      tell_waiting(shared);
      return;
    }
}
// A thread that has left does not touch the barrier any more: it may be gone.
void leave(Barrier& barrier, bool shared) {
  const u32 most = most_of(barrier);
  if (++barrier.out == most) {
    barrier.round = 0;
    barrier.out = 0;
    barrier.in = 0;
    futex(barrier.in, FUTEX_WAKE, INT_MAX, shared);
  }
  tell_waiting(shared);
}
int wait_at(Barrier& barrier) {
  const u32 count = barrier.count, mine = ++barrier.in;
  const bool shared = barrier.shared;
  open_round(barrier, mine, shared);
  const auto is_open_now = [&] { return barrier.round >= mine; };
  if (!wait_until(is_open_now, attach::kForEver, shared ? is_open_now : std::function<bool()>()))
    for (u32 round; (round = barrier.round) < mine;)
      futex(barrier.round, FUTEX_WAIT, round, shared);
  leave(barrier, shared);
  return mine % count ? 0 : PTHREAD_BARRIER_SERIAL_THREAD;
}
}  // namespace
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

HCA_INSTEAD int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                        const timespec* until) noexcept {
  return lock_mutex(mutex, clock, until);
}
HCA_INSTEAD int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  return lock_mutex(mutex, CLOCK_REALTIME, until);
}

HCA_INSTEAD int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  return is_open() ? try_to_read(lock) : HCA_NEXT(pthread_rwlock_tryrdlock)(lock);
}
HCA_INSTEAD int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  return lock_to_read(lock, [=] { return HCA_NEXT(pthread_rwlock_rdlock)(lock); });
}
HCA_INSTEAD int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  return lock_to_write(lock, [=] { return HCA_NEXT(pthread_rwlock_wrlock)(lock); });
}
HCA_INSTEAD int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* until) noexcept {
  const auto real = [=] { return HCA_NEXT(pthread_rwlock_clockrdlock)(lock, clock, until); };
  return is_time(*until) ? lock_to_read(lock, real, end_of(clock, until)) : real();
}
HCA_INSTEAD int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                           const timespec* until) noexcept {
  const auto real = [=] { return HCA_NEXT(pthread_rwlock_clockwrlock)(lock, clock, until); };
  return is_time(*until) ? lock_to_write(lock, real, end_of(clock, until)) : real();
}
HCA_INSTEAD int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  return pthread_rwlock_clockrdlock(lock, CLOCK_REALTIME, until);
}
HCA_INSTEAD int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) noexcept {
  return pthread_rwlock_clockwrlock(lock, CLOCK_REALTIME, until);
}
HCA_INSTEAD int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const bool shared = lock->__data.__shared;  // after the call it may be gone
  const int error = HCA_NEXT(pthread_rwlock_unlock)(lock);
  tell_waiting(shared);
  return error;
}

HCA_INSTEAD int pthread_barrier_wait(pthread_barrier_t* plain) noexcept {
  Barrier& barrier = barrier_of(plain);
  const bool begins_anew = barrier.in >= most_of(barrier);
  return is_open() && !begins_anew ? wait_at(barrier) : HCA_NEXT(pthread_barrier_wait)(plain);
}
// Waits until all threads that may leave have left.
HCA_INSTEAD int pthread_barrier_destroy(pthread_barrier_t* plain) noexcept {
  Barrier& barrier = barrier_of(plain);
  if (is_open()) wait_until([&] { return barrier.out >= barrier.in; });
  return HCA_NEXT(pthread_barrier_destroy)(plain);
}
