// SPDX-License-Identifier: Apache-2.0
// Threads of a program that wait for each other: one that waits gives its turn up, and looks again
// when another has done something that it may wait for.
#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/wait_list.h"

namespace hca::time_library {
namespace {
constexpr u64 kSecond = 1'000'000'000'000, kNanosecond = 1000;

struct Threads {
  WaitList conditions;
  // Threads with turns, by their places, and the last place that had one; 0: none.
  using Table = std::array<attach::Shared<pthread_t>, attach::kMostThreads>;
  Table live{}, ended{};
  attach::Shared<u32> waiting{0};
  std::atomic<u32> made_before{0};  // simulated time began: they have no turns before they wait
};
Threads& threads() {
  static constinit attach::Kept<Threads> kept;
  return kept.value;
}

// ---- Between programs, as the C library keeps it
bool is_shared(const pthread_mutex_t& mutex) {
  constexpr int kShared = 128;
  return mutex.__data.__kind & kShared;
}
bool is_shared(const pthread_cond_t& condition) { return condition.__data.__wrefs & 1; }
bool is_shared(const sem_t* semaphore) {
  constexpr std::size_t kPlace = 8;  // after the value and the number of waiters
  int shared;
  std::memcpy(&shared, semaphore->__size + kPlace, sizeof shared);
  return shared;
}
std::function<bool()> may_be_free(const pthread_mutex_t& mutex) {
  constexpr unsigned kOwner = 0x3fffffff;
  if (!is_shared(mutex)) return nullptr;
  return
      [&] { return !(unsigned(__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED)) & kOwner); };
}
std::function<bool()> may_be_posted(sem_t* semaphore) {
  if (!is_shared(semaphore)) return nullptr;
  return [=] {
    int value = 0;
    return !sem_getvalue(semaphore, &value) && value > 0;
  };
}

// ---- Threads
constexpr pthread_t kComing = ~pthread_t{0};  // one that is being made
struct Start {
  void* (*routine)(void*);
  void* argument;
  attach::SharedThread* slot;
};
// A call that allocates memory waits for its turn first.
void* begin(void* at) {
  auto* const own = static_cast<Start*>(at);
  take_turns(*own->slot);
  const Start start = *own;
  delete own;
  return start.routine(start.argument);
}
bool is_in(const Threads::Table& table, pthread_t thread) {
  const auto used = std::span(table).first(used_places());
  return std::ranges::any_of(used, [&](const auto& one) { return one == thread; });
}
bool is_live(pthread_t thread) { return is_in(threads().live, thread); }
// The end of a thread. A thread with turns reports it; for one without the C library reports it
// where the thread is joined.
class End {
 public:
  End(pthread_t thread, void** result) : thread_(thread), result_(result) {}
  bool has_come() {
    if (is_live(thread_)) {
      had_turns_ = true;
      return false;
    }
    if (had_turns_ || !threads().made_before || is_in(threads().ended, thread_)) return true;
    if (error_ == EBUSY) error_ = HCA_NEXT(pthread_tryjoin_np)(thread_, result_);
    return error_ != EBUSY;
  }
  // False: the time has come, or there is no server any more.
  bool wait(u64 end = attach::kForEver) {
    if (thread_ == pthread_self()) return true;
    const bool is_told = !threads().made_before || is_live(thread_);
    const std::function<bool()> comes = [this] { return has_come(); };
    return wait_until(comes, end, is_told ? std::function<bool()>() : comes);
  }
  int join() { return error_ == EBUSY ? HCA_NEXT(pthread_join)(thread_, result_) : error_; }

 private:
  const pthread_t thread_;
  void** const result_;
  bool had_turns_ = false;
  int error_ = EBUSY;  // it is not joined
};

// ---- Conditions
template <class... Rest>
int wait_really(const char* name, Rest... rest) {
  // The first version of this symbol is another function.
  using Function = int(Rest...);
  auto* const real = reinterpret_cast<Function*>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
  return real(rest...);
}
int await_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, u64 end) {
  WaitList& waiters = threads().conditions;
  WaitList::Waiter mine{condition};
  int error;
  {
    const WaitList::Entry entry(waiters, mine);
    error = pthread_mutex_unlock(mutex);  // it may be another's
    if (!error) wait_until([&] { return waiters.is_woken(mine); }, end);
  }
  if (error) return error;
  pthread_mutex_lock(mutex);
  return mine.woken || end == attach::kForEver ? 0 : ETIMEDOUT;
}
void wake_condition(const pthread_cond_t* condition, bool all_of_them) {
  if (threads().conditions.wake(condition, all_of_them ? ~u32{0} : 1)) tell_waiting();
}
clockid_t clock_of(const pthread_cond_t& condition) {
  constexpr unsigned kMonotonic = 2;  // as the C library keeps it
  return condition.__data.__wrefs & kMonotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}
}  // namespace

void tell_waiting(bool shared) {
  if (!is_open()) return;
  if (shared)
    tell(attach::kPipe);
  else if (threads().waiting)
    tell(attach::kOwn);
}

bool wait_until(const std::function<bool()>& done, u64 end, const std::function<bool()>& may_be) {
  Threads& all = threads();
  ++all.waiting;
  bool is = done();
  // It waits only in the turn in which it has tried: before its first one, during its work, and
  // where its turn was taken away, others report events that it does not see.
  act();
  for (bool again = false; !is && is_open(); again = true) {
    settle();
    const u64 number = number_of_turn();
    if (now() >= end || (is = done())) break;
    wait_for_others(number, again, end, may_be);
    is = done();
  }
  --all.waiting;
  return is;
}

u64 end_at(clockid_t clock, const timespec& until) {
  const u64 wanted = u64(until.tv_sec) * kSecond + u64(until.tv_nsec) * kNanosecond;
  return wanted - std::min(wanted, start_of(clock) * kSecond);
}

void forget_threads() {
  Threads& all = threads();
  all.conditions.forget();
  for (auto* const table : {&all.live, &all.ended})
    for (auto& one : *table) one = 0;
  all.waiting = 0;
  all.made_before = 0;
}
void thread_begins(const attach::SharedThread& slot) {
  threads().live[place_of(slot)] = pthread_self();
}
void thread_ends(const attach::SharedThread& slot) {
  threads().ended[place_of(slot)] = pthread_self();
  threads().live[place_of(slot)] = 0;
  tell_waiting();
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

// The new thread wants its first turn where the one that makes it is.
HCA_INSTEAD int pthread_create(pthread_t* made, const pthread_attr_t* attributes,
                               void* (*routine)(void*), void* argument) noexcept {
  attach::SharedThread* const slot = is_open() ? reserve_turns() : nullptr;
  if (!slot) {
    ++threads().made_before;
    return HCA_NEXT(pthread_create)(made, attributes, routine, argument);
  }
  auto& live = threads().live[place_of(*slot)];
  live = kComing;
  auto* const start = new (std::nothrow) Start{routine, argument, slot};
  const int error = start ? HCA_NEXT(pthread_create)(made, attributes, begin, start) : EAGAIN;
  pthread_t coming = kComing;
  if (!error) {
    live.compare_exchange_strong(coming, *made);
    return 0;
  }  // or it has begun
  live = 0;
  slot->activity = attach::Activity::None;
  delete start;
  return error;
}
HCA_INSTEAD int pthread_join(pthread_t thread, void** result) {
  End end(thread, result);
  if (is_open()) end.wait();
  return end.join();
}
HCA_INSTEAD int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                     const timespec* until) {
  if (!is_open() || !until || !is_time(*until))
    return HCA_NEXT(pthread_clockjoin_np)(thread, result, clock, until);
  End end(thread, result);
  return end.wait(end_at(clock, *until)) || !is_open() ? end.join() : ETIMEDOUT;
}
HCA_INSTEAD int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

HCA_INSTEAD int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!is_open()) return HCA_NEXT(pthread_mutex_lock)(mutex);
  int error = pthread_mutex_trylock(mutex);
  const bool own = mutex->__data.__owner == int(gettid());
  if (error != EBUSY || own) return error == EBUSY ? HCA_NEXT(pthread_mutex_lock)(mutex) : error;
  wait_until([&] { return (error = pthread_mutex_trylock(mutex)) != EBUSY; }, attach::kForEver,
             may_be_free(*mutex));
  return error == EBUSY ? HCA_NEXT(pthread_mutex_lock)(mutex) : error;
}
HCA_INSTEAD int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const bool shared = is_shared(*mutex);  // after the call it may be another's
  const int error = HCA_NEXT(pthread_mutex_unlock)(mutex);
  tell_waiting(shared);
  return error;
}

HCA_INSTEAD int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!is_open() || is_shared(*condition))
    return wait_really("pthread_cond_wait", condition, mutex);
  return await_condition(condition, mutex, attach::kForEver);
}
HCA_INSTEAD int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       const timespec* until) {
  if (!is_open() || is_shared(*condition))
    return wait_really("pthread_cond_timedwait", condition, mutex, until);
  if (!is_time(*until)) return EINVAL;
  return await_condition(condition, mutex, end_at(clock_of(*condition), *until));
}
HCA_INSTEAD int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       clockid_t clock, const timespec* until) {
  if (!is_open() || is_shared(*condition))
    return HCA_NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
  if (!is_time(*until)) return EINVAL;
  return await_condition(condition, mutex, end_at(clock, *until));
}
HCA_INSTEAD int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (is_open()) wake_condition(condition, false);
  return wait_really("pthread_cond_signal", condition);
}
HCA_INSTEAD int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (is_open()) wake_condition(condition, true);
  return wait_really("pthread_cond_broadcast", condition);
}

HCA_INSTEAD int sem_wait(sem_t* semaphore) {
  const bool taken = is_open() && wait_until([&] { return !sem_trywait(semaphore); },
                                             attach::kForEver, may_be_posted(semaphore));
  return taken ? 0 : HCA_NEXT(sem_wait)(semaphore);
}
HCA_INSTEAD int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  if (!is_open() || !is_time(*until)) return HCA_NEXT(sem_clockwait)(semaphore, clock, until);
  if (wait_until([&] { return !sem_trywait(semaphore); }, end_at(clock, *until),
                 may_be_posted(semaphore)))
    return 0;
  return is_open() ? (errno = ETIMEDOUT, -1) : HCA_NEXT(sem_clockwait)(semaphore, clock, until);
}
HCA_INSTEAD int sem_timedwait(sem_t* semaphore, const timespec* until) {
  if (!is_open()) return HCA_NEXT(sem_timedwait)(semaphore, until);
  return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}
HCA_INSTEAD int sem_post(sem_t* semaphore) noexcept {
  const bool shared = is_shared(semaphore);  // after the call it may be gone
  const int error = HCA_NEXT(sem_post)(semaphore);
  tell_waiting(shared);
  return error;
}
