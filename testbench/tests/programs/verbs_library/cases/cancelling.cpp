// SPDX-License-Identifier: Apache-2.0
// pthread_cancel(3): the calls in which a thread waits for events, and those of the system that
// simulated time stands in for, are cancellation points.
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
struct Waits {
  ibv_context* context;
  ibv_comp_channel* channel;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  sem_t empty{};
};
struct WaitRow {
  const char* name;
  void (*wait)(Waits&);
};
void unlock(void* mutex) { pthread_mutex_unlock(static_cast<pthread_mutex_t*>(mutex)); }
constexpr std::array kWaits{
    WaitRow{"ibv_get_cq_event()",
            [](Waits& w) {
              ibv_cq* cq;
              void* context;
              ibv_get_cq_event(w.channel, &cq, &context);
            }},
    WaitRow{"ibv_get_async_event()",
            [](Waits& w) {
              ibv_async_event event;
              ibv_get_async_event(w.context, &event);
            }},
    WaitRow{"pthread_cond_wait()",
            [](Waits& w) {
              pthread_mutex_lock(&w.mutex);
              pthread_cleanup_push(unlock, &w.mutex);
              for (;;) pthread_cond_wait(&w.never, &w.mutex);
              pthread_cleanup_pop(1);
            }},
    WaitRow{"sem_wait()", [](Waits& w) { sem_wait(&w.empty); }},
    WaitRow{"usleep()",
            [](Waits&) {
              for (;;) usleep(10);
            }},
};
struct Waiter {
  Waits* waits;
  void (*wait)(Waits&);
};
void* run(void* at) {
  const auto& waiter = *static_cast<Waiter*>(at);
  waiter.wait(*waiter.waits);
  return nullptr;
}
}  // namespace

void check_cancelling(Bench& bench) {
  Waits waits{bench.a.context, ibv_create_comp_channel(bench.a.context)};
  sem_init(&waits.empty, 0, 0);
  fcntl(bench.a.context->async_fd, F_SETFL, 0);  // to wait in a read
  for (const WaitRow& row : kWaits) {
    Waiter waiter{&waits, row.wait};
    pthread_t thread;
    void* result = nullptr;
    pthread_create(&thread, nullptr, run, &waiter);
    usleep(2000);
    bench.checks->equal(std::string("pthread_cancel() in ") + row.name, pthread_cancel(thread), 0);
    pthread_join(thread, &result);
    bench.checks->holds(std::string("cancelled in ") + row.name, result == PTHREAD_CANCELED);
  }
  bench.checks->equal("the channel is there", ibv_destroy_comp_channel(waits.channel), 0);
}
}  // namespace cases
