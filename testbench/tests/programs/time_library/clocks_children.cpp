// SPDX-License-Identifier: Apache-2.0
// Program of hca_verbs_clocks: children that are `forked` and open no device, in the time of their
// parent.
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
// What parent and child share.
struct Shared {
  sem_t posted;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool has_changed;
  double child_at;
};
Shared& make_shared() {
  void* const at =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::exit(3);
  auto& made = *static_cast<Shared*>(at);
  sem_init(&made.posted, 1, 0);
  pthread_mutexattr_t mutex;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&made.mutex, &mutex);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&made.changed, &condition);
  return made;
}

template <class Child>
pid_t start(Child child) {
  const pid_t made = fork();
  if (!made) {
    child();
    _exit(0);
  }
  return made;
}
void await(Bench& bench, pid_t child) {
  int status = -1;
  bench.checks->equal("waitpid", waitpid(child, &status, 0), child);
  bench.checks->equal("its status", status, 0);
}
void expect(Bench& bench, const char* what, double begun, double wanted) {
  const double took = now() - begun;
  std::printf("%s: %.6f s\n", what, took);
  bench.checks->holds(what, took > wanted - 1e-9 && took < wanted + 1e-4);
}
}  // namespace

void fork_without_device(Bench& bench) {
  Shared& shared = make_shared();
  double begun = now();
  int ends[2] = {-1, -1};
  bench.checks->equal("pipe", pipe(ends), 0);
  pid_t child = start([&] {
    sleep(10);
    shared.child_at = now();
    bench.checks->equal("write", write(ends[1], "x", 1), 1);
    sleep(10);
  });
  for (int i = 0; i < 3; ++i) sleep(1);
  expect(bench, "the parent sleeps", begun, 3);
  char byte;
  bench.checks->equal("read", read(ends[0], &byte, 1), 1);
  expect(bench, "a pipe", begun, 10);
  bench.checks->holds("both see one time",
                      shared.child_at >= begun + 10 && shared.child_at <= now());
  await(bench, child);
  expect(bench, "the child ends", begun, 20);
  close(ends[0]), close(ends[1]);

  begun = now();
  child = start([&] {
    sleep(5);
    sem_post(&shared.posted);
  });
  bench.checks->equal("sem_wait", sem_wait(&shared.posted), 0);
  expect(bench, "a semaphore", begun, 5);
  await(bench, child);

  begun = now();
  child = start([&] {
    pthread_mutex_lock(&shared.mutex);
    sem_post(&shared.posted);
    sleep(2);
    shared.has_changed = false;
    pthread_mutex_unlock(&shared.mutex);
    // The clock of a waiter for the condition stands still meanwhile.
    pthread_mutex_lock(&shared.mutex);
    shared.has_changed = true;
    pthread_cond_signal(&shared.changed);
    pthread_mutex_unlock(&shared.mutex);
  });
  sem_wait(&shared.posted);
  pthread_mutex_lock(&shared.mutex);
  expect(bench, "a lock", begun, 2);
  while (!shared.has_changed) pthread_cond_wait(&shared.changed, &shared.mutex);
  pthread_mutex_unlock(&shared.mutex);
  await(bench, child);

  // Who becomes another program is not waited for.
  char* const none = nullptr;
  for (int i = 0; i < 9; ++i)
    await(bench, start([&] {
            if (i % 3 == 0) execl("/bin/sh", "sh", "-c", "exit 0", nullptr);
            if (i % 3 == 1) execlp("true", "true", nullptr);
            if (i % 3 == 2) execle("/bin/true", "true", nullptr, &none);
            _exit(1);
          }));
}
}  // namespace cases
