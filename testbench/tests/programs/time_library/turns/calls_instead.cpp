// SPDX-License-Identifier: Apache-2.0
// What the library of clocks calls of the C library and may wait there, and what other threads see.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "testbench/programs/server/interposed.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"
#include "testbench/tests/programs/time_library/turns/simulation.h"

namespace hca::explored {
namespace {
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
int create(pthread_t* made, const pthread_attr_t*, void* (*routine)(void*), void* argument) {
  return make_thread(made, routine, argument);
}
int join(pthread_t thread, void** result) {
  static auto* const really = real<decltype(::pthread_join)>("pthread_join");
  call("pthread_join");
  block_until([=] { return has_ended(thread); }, "pthread_join");
  return really(thread, result);
}
int try_to_join(pthread_t thread, void** result) {
  static auto* const really = real<decltype(::pthread_join)>("pthread_join");
  call("pthread_tryjoin_np");
  return has_ended(thread) ? really(thread, result) : EBUSY;
}
int lock(pthread_mutex_t* mutex) {
  call("pthread_mutex_lock");
  block_until([=] { return !mutex->__data.__lock; }, "pthread_mutex_lock");
  return pthread_mutex_trylock(mutex);
}
int look(pollfd* all, nfds_t count, const timespec* longest, const sigset_t* mask) {
  static auto* const really = real<decltype(::ppoll)>("ppoll");
  constexpr timespec kNone{};
  const bool waits = !longest || longest->tv_sec || longest->tv_nsec;
  call("ppoll");
  int ready = count ? really(all, count, &kNone, mask) : 0;
  if (ready || !waits) return ready;
  pause("ppoll");
  return count ? really(all, count, &kNone, mask) : 0;
}
// Only of the server's socket: it is there.
int look_at_server(pollfd* all, nfds_t count, int milliseconds) {
  static auto* const really = real<decltype(::poll)>("poll");
  return count == 1 && all->fd < 0 ? 0 : really(all, count, milliseconds);
}
ssize_t put(int descriptor, const void* from, size_t bytes) {
  static auto* const really = real<decltype(::write)>("write");
  if (descriptor < 0) return wake_server(), ssize_t(bytes);
  call("write");
  return really(descriptor, from, bytes);
}

// The same with a step before.
int unlock(pthread_mutex_t* mutex) {
  static auto* const really = real<decltype(::pthread_mutex_unlock)>("pthread_mutex_unlock");
  call("pthread_mutex_unlock");
  return really(mutex);
}
int unlock_rwlock(pthread_rwlock_t* of) {
  static auto* const really = real<decltype(::pthread_rwlock_unlock)>("pthread_rwlock_unlock");
  call("pthread_rwlock_unlock");
  return really(of);
}
int try_to_read(pthread_rwlock_t* of) {
  static auto* const really =
      real<decltype(::pthread_rwlock_tryrdlock)>("pthread_rwlock_tryrdlock");
  call("pthread_rwlock_tryrdlock");
  return really(of);
}
int post(sem_t* semaphore) {
  static auto* const really = real<decltype(::sem_post)>("sem_post");
  call("sem_post");
  return really(semaphore);
}

struct Instead {
  const char* name;
  void* function;
};
template <class Function>
void* as_pointer(Function* function) {
  return reinterpret_cast<void*>(function);
}
}  // namespace

void* call_instead(const char* name) {
  static const std::array kAll{Instead{"pthread_create", as_pointer(create)},
                               Instead{"pthread_join", as_pointer(join)},
                               Instead{"pthread_tryjoin_np", as_pointer(try_to_join)},
                               Instead{"pthread_mutex_lock", as_pointer(lock)},
                               Instead{"pthread_mutex_unlock", as_pointer(unlock)},
                               Instead{"pthread_rwlock_unlock", as_pointer(unlock_rwlock)},
                               Instead{"pthread_rwlock_tryrdlock", as_pointer(try_to_read)},
                               Instead{"sem_post", as_pointer(post)},
                               Instead{"ppoll", as_pointer(look)},
                               Instead{"poll", as_pointer(look_at_server)},
                               Instead{"write", as_pointer(put)}};
  for (const Instead& one : kAll)
    if (!std::strcmp(one.name, name)) return one.function;
  return nullptr;
}
}  // namespace hca::explored

// What the library calls by name.
using hca::explored::call;
HCA_INSTEAD int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  static auto* const really =
      hca::explored::real<decltype(::pthread_mutex_trylock)>("pthread_mutex_trylock");
  call("pthread_mutex_trylock");
  return really(mutex);
}
HCA_INSTEAD int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  static auto* const really =
      hca::explored::real<decltype(::pthread_rwlock_trywrlock)>("pthread_rwlock_trywrlock");
  call("pthread_rwlock_trywrlock");
  return really(lock);
}
HCA_INSTEAD int sem_trywait(sem_t* semaphore) noexcept {
  static auto* const really = hca::explored::real<decltype(::sem_trywait)>("sem_trywait");
  call("sem_trywait");
  return really(semaphore);
}

// ---- Time stamps do not trap here, and no code is searched.
namespace hca::time_library {
void trap_time_stamps(bool) {}
void set_up_time_stamps() {}
void see_new_code() {}
void set_up_examination() {}
void ignore_examination() {}
}  // namespace hca::time_library
