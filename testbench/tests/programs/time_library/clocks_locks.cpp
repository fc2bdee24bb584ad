// SPDX-License-Identifier: Apache-2.0
// Programs of hca_verbs_clocks: threads meet at `barriers`, two programs at a `barrier`, `readers`
// share a lock with writers, a `crowd` of many threads.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <vector>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
void sleep_us(long microseconds) {
  const timespec time{0, microseconds * 1000};
  nanosleep(&time, nullptr);
}
timespec in_seconds(clockid_t clock, time_t seconds) {
  timespec until{};
  clock_gettime(clock, &until);
  until.tv_sec += seconds;
  return until;
}

// The last to come says so. `rounds` of threads that come 10 us apart.
void come_and_go(pthread_barrier_t& barrier, int rounds, long mine, std::atomic<int>& last) {
  for (int i = 0; i < rounds; ++i) {
    sleep_us(10 * mine);
    last += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  }
}
}  // namespace

void meet_at_barriers(Bench& bench) {
  constexpr int kThreads = 4;
  constexpr double kRound = 10e-6 * kThreads;
  Checks& checks = *bench.checks;
  pthread_barrier_t barrier;
  checks.equal("init", pthread_barrier_init(&barrier, nullptr, kThreads), 0);
  std::atomic<int> last = 0;
  const double begun = now();
  std::vector<std::thread> threads;
  for (int i = 1; i < kThreads; ++i)
    threads.emplace_back([&, i] { come_and_go(barrier, kTimes, i, last); });
  come_and_go(barrier, kTimes, kThreads, last);
  checks.equal("destroy", pthread_barrier_destroy(&barrier), 0);
  const double took = now() - begun;
  for (std::thread& thread : threads) thread.join();
  std::printf("%.9f s\n", took);
  checks.equal("one of each round is the last", last, kTimes);
  checks.holds("a round takes what its slowest does",
               took >= kTimes * kRound && took < kTimes * kRound * 1.1);
}

// Of two programs.
void meet_child_at_barrier(Bench& bench) {
  Checks& checks = *bench.checks;
  struct Shared {
    pthread_barrier_t barrier;
    std::atomic<int> last;
  };
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  checks.equal("init", pthread_barrier_init(&shared->barrier, &attributes, 2), 0);
  constexpr int kRounds = 20;
  const pid_t child = fork();
  if (!child) {
    come_and_go(shared->barrier, kRounds, 2, shared->last);
    _exit(0);
  }
  const double begun = now();
  come_and_go(shared->barrier, kRounds, 1, shared->last);
  const double took = now() - begun;
  checks.equal("the child ends", waitpid(child, nullptr, 0), child);
  checks.equal("one of each round is the last", shared->last, kRounds);
  std::printf("%.6f s\n", took);
  checks.holds("a round takes 20 us", took >= kRounds * 20e-6 && took < kRounds * 30e-6);
  munmap(shared, sizeof(Shared));
}

void share_locks(Bench& bench) {
  Checks& checks = *bench.checks;
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const double begun = now();
  std::vector<std::thread> readers;
  std::atomic<int> inside = 0, most = 0;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      pthread_rwlock_rdlock(&lock);
      most = std::max(most.load(), ++inside);
      sleep(10);
      --inside;
      pthread_rwlock_unlock(&lock);
    });
  sleep(1);
  timespec until = in_seconds(CLOCK_REALTIME, 2);
  checks.equal("to write, for 2 s", pthread_rwlock_timedwrlock(&lock, &until), ETIMEDOUT);
  checks.holds("takes 2 s", now() - begun > 2.99 && now() - begun < 3.01);
  checks.equal("to write", pthread_rwlock_wrlock(&lock), 0);
  checks.holds("when all have read", now() - begun > 9.99 && now() - begun < 10.01 && !inside);
  checks.equal("readers at once", most, 3);
  checks.equal("once more", pthread_rwlock_wrlock(&lock), EDEADLK);
  std::thread other([&] {
    timespec end = in_seconds(CLOCK_MONOTONIC, 1);
    checks.equal("to read, for 1 s", pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &end),
                 ETIMEDOUT);
    end = in_seconds(CLOCK_REALTIME, 1);
    checks.equal("a mutex, for 1 s", pthread_mutex_timedlock(&mutex, &end), ETIMEDOUT);
    end = in_seconds(CLOCK_REALTIME, 10);
    checks.equal("a mutex, for 10 s", pthread_mutex_timedlock(&mutex, &end), 0);
    pthread_mutex_unlock(&mutex);
  });
  pthread_mutex_lock(&mutex);
  sleep(5);
  pthread_mutex_unlock(&mutex);
  other.join();
  pthread_rwlock_unlock(&lock);
  for (std::thread& reader : readers) reader.join();
  std::printf("%.9f s\n", now() - begun);
}

// Readers that come again and again, never all gone at once: a writer that is preferred gets it.
void prefer_writers(Bench& bench) {
  Checks& checks = *bench.checks;
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_t lock;
  pthread_rwlock_init(&lock, &attributes);
  const double begun = now();
  std::atomic<bool> written = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&, i] {
      sleep_us(50 * i);
      for (int times = 0; times < kTimes && !written; ++times) {
        pthread_rwlock_rdlock(&lock);
        sleep_us(100);
        pthread_rwlock_unlock(&lock);
      }
    });
  sleep_us(500);
  checks.equal("to write", pthread_rwlock_wrlock(&lock), 0);
  checks.holds("when those have read that were there", now() - begun < 700e-6);
  written = true;
  pthread_rwlock_unlock(&lock);
  for (std::thread& reader : readers) reader.join();

  checks.equal("to read", pthread_rwlock_rdlock(&lock), 0);
  std::thread writer([&] {
    timespec end = in_seconds(CLOCK_REALTIME, 2);
    checks.equal("to write, for 2 s", pthread_rwlock_timedwrlock(&lock, &end), ETIMEDOUT);
    sleep(1);
    checks.equal("to write", pthread_rwlock_wrlock(&lock), 0);
    pthread_rwlock_unlock(&lock);
  });
  sleep_us(1000);
  checks.equal("to read, while one waits to write", pthread_rwlock_tryrdlock(&lock), EBUSY);
  timespec end = in_seconds(CLOCK_REALTIME, 1);
  checks.equal("for 1 s", pthread_rwlock_timedrdlock(&lock, &end), ETIMEDOUT);
  end = in_seconds(CLOCK_REALTIME, 2);
  checks.equal("for 2 s, when it has given up", pthread_rwlock_timedrdlock(&lock, &end), 0);
  checks.holds("behind 2 s", now() - begun > 2 && now() - begun < 2.01);
  pthread_rwlock_unlock(&lock);
  sleep(2);
  pthread_rwlock_unlock(&lock);
  writer.join();
  std::printf("%.9f s\n", now() - begun);
}

// More than a host has cores.
void be_a_crowd(Bench& bench) {
  constexpr int kCrowd = 200;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kCrowd + 1);
  const double begun = now();
  std::atomic<int> awake = 0;
  std::vector<std::thread> crowd;
  for (int i = 0; i < kCrowd; ++i)
    crowd.emplace_back([&] {
      pthread_barrier_wait(&barrier);
      sleep(1);
      ++awake;
    });
  pthread_barrier_wait(&barrier);
  for (std::thread& one : crowd) one.join();
  std::printf("%.6f s\n", now() - begun);
  bench.checks->equal("all have slept", awake, kCrowd);
  bench.checks->holds("at once", now() - begun > 1 && now() - begun < 1.01);
}
}  // namespace cases
