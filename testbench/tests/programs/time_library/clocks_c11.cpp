// SPDX-License-Identifier: Apache-2.0
// A program of hca_verbs_clocks: threads as `c11` names them; times that are none, and a thread
// that is waited for until a time comes.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include <cerrno>
#include <cstdio>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
timespec in_seconds(time_t seconds) {
  timespec until{};
  timespec_get(&until, TIME_UTC);
  until.tv_sec += seconds;
  return until;
}
struct Shared {
  mtx_t mutex;
  cnd_t changed;
  bool is_set = false;
};
// Sets it after 10 s, and holds the lock for 5 s more.
int set(void* at) {
  auto& shared = *static_cast<Shared*>(at);
  const timespec ten{10, 0}, five{5, 0};
  thrd_sleep(&ten, nullptr);
  mtx_lock(&shared.mutex);
  shared.is_set = true;
  cnd_signal(&shared.changed);
  thrd_sleep(&five, nullptr);
  mtx_unlock(&shared.mutex);
  return -3;
}
void* sleep_for_long(void*) {
  const timespec ten{10, 0};
  nanosleep(&ten, nullptr);
  return nullptr;
}

void expect_behind(Bench& bench, const char* what, double begun, double wanted) {
  const double took = now() - begun;
  bench.checks->holds(what, took > wanted - 1e-6 && took < wanted + 1e-3);
  std::printf("%s: %.3f s\n", what, took);
}

void refuse_times(Checks& checks) {
  constexpr timespec kNone{1, 1'000'000'000};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_mutex_lock(&mutex);
  checks.equal("a condition", pthread_cond_timedwait(&condition, &mutex, &kNone), EINVAL);
  checks.equal("by a clock", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &kNone),
               EINVAL);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  checks.equal("a lock that is not held", pthread_cond_wait(&condition, &checked), EPERM);
  checks.equal("a semaphore", sem_timedwait(&semaphore, &kNone), -1);
  checks.equal("errno", errno, EINVAL);
  sem_destroy(&semaphore);
}
}  // namespace

void use_c11(Bench& bench) {
  Checks& checks = *bench.checks;
  double begun = now();
  timespec of_day{};
  clock_gettime(CLOCK_REALTIME, &of_day);
  checks.holds("the time of day", in_seconds(0).tv_sec - of_day.tv_sec <= 1);
  const timespec two{2, 0};
  checks.equal("thrd_sleep", thrd_sleep(&two, nullptr), 0);
  expect_behind(bench, "thrd_sleep", begun, 2);

  Shared shared;
  mtx_init(&shared.mutex, mtx_timed), cnd_init(&shared.changed);
  begun = now();
  thrd_t thread;
  checks.equal("thrd_create", thrd_create(&thread, set, &shared), thrd_success);
  mtx_lock(&shared.mutex);
  timespec until = in_seconds(3);
  checks.equal("cnd_timedwait", cnd_timedwait(&shared.changed, &shared.mutex, &until),
               thrd_timedout);
  expect_behind(bench, "cnd_timedwait", begun, 3);
  while (!shared.is_set) cnd_wait(&shared.changed, &shared.mutex);
  expect_behind(bench, "cnd_wait", begun, 15);
  mtx_unlock(&shared.mutex);
  int result = 0;
  checks.equal("thrd_join", thrd_join(thread, &result), thrd_success);
  checks.equal("what it returned", result, -3);

  begun = now();
  checks.equal("thrd_create", thrd_create(&thread, set, &shared), thrd_success);
  const timespec eleven{11, 0};
  thrd_sleep(&eleven, nullptr);
  until = in_seconds(1);
  checks.equal("mtx_timedlock", mtx_timedlock(&shared.mutex, &until), thrd_timedout);
  expect_behind(bench, "mtx_timedlock", begun, 12);
  checks.equal("thrd_join", thrd_join(thread, nullptr), thrd_success);
  expect_behind(bench, "thrd_join", begun, 15);

  begun = now();
  pthread_t sleeper{};
  pthread_create(&sleeper, nullptr, sleep_for_long, nullptr);
  until = in_seconds(4);
  checks.equal("a join, for 4 s", pthread_timedjoin_np(sleeper, nullptr, &until), ETIMEDOUT);
  expect_behind(bench, "pthread_timedjoin_np", begun, 4);
  until = in_seconds(10);
  checks.equal("for 10 s", pthread_timedjoin_np(sleeper, nullptr, &until), 0);
  expect_behind(bench, "pthread_timedjoin_np", begun, 10);
  refuse_times(checks);
}
}  // namespace cases
