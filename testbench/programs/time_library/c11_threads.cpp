// SPDX-License-Identifier: Apache-2.0
// Threads, locks and clocks as C11 names them: they are those of POSIX.
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <new>

#include "testbench/programs/time_library/library.h"

namespace {
int thrd_of(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}
static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));
pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

struct Start {
  thrd_start_t routine;
  void* argument;
};
void* begin(void* at) {
  const Start start = *static_cast<Start*>(at);
  delete static_cast<Start*>(at);
  return reinterpret_cast<void*>(std::intptr_t{start.routine(start.argument)});
}
}  // namespace

HCA_INSTEAD int thrd_create(thrd_t* made, thrd_start_t routine, void* argument) {
  auto* const start = new (std::nothrow) Start{routine, argument};
  const int error = start ? pthread_create(made, nullptr, begin, start) : ENOMEM;
  if (error) delete start;
  return thrd_of(error);
}
HCA_INSTEAD int thrd_join(thrd_t thread, int* result) {
  void* given = nullptr;
  const int error = pthread_join(thread, &given);
  if (!error && result) *result = int(reinterpret_cast<std::intptr_t>(given));
  return thrd_of(error);
}
HCA_INSTEAD int thrd_sleep(const timespec* duration, timespec* left) {
  const int error = clock_nanosleep(CLOCK_REALTIME, 0, duration, left);
  return error ? (error == EINTR ? -1 : -2) : 0;
}
HCA_INSTEAD int timespec_get(timespec* out, int base) noexcept {
  return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, out) ? base : 0;
}

HCA_INSTEAD int mtx_lock(mtx_t* mutex) { return thrd_of(pthread_mutex_lock(posix(mutex))); }
HCA_INSTEAD int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  return thrd_of(pthread_mutex_timedlock(posix(mutex), until));
}
HCA_INSTEAD int mtx_unlock(mtx_t* mutex) { return thrd_of(pthread_mutex_unlock(posix(mutex))); }
HCA_INSTEAD int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return thrd_of(pthread_cond_wait(posix(condition), posix(mutex)));
}
HCA_INSTEAD int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return thrd_of(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}
HCA_INSTEAD int cnd_signal(cnd_t* condition) {
  return thrd_of(pthread_cond_signal(posix(condition)));
}
HCA_INSTEAD int cnd_broadcast(cnd_t* condition) {
  return thrd_of(pthread_cond_broadcast(posix(condition)));
}
