// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a small program one at a time: before each access to a shared word, a
// schedule chooses who continues. No real time is used: a waiter continues after a wake-up. If
// nobody can continue although not all threads have ended, it is a hang.
#pragma once
#include <pthread.h>

#include "model/proto/types.h"

namespace hca::explored {
enum class Op : u8 { Load, Store, Exchange, Add, Or, Sleep, Wake, Call, Pause, Block, Begin, End };

// Chooses the next thread.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // Chooses one of `options`; `may_stay`: option 0 is the running thread. Each call is one step.
  virtual unsigned choose(unsigned options, bool may_stay) = 0;
};

// ---- Called by the controlling thread: one schedule, from the creation of its first threads to
// their end.
struct Beginning {
  const char* name;
  void (*run)();
};
void run_schedule(Schedule& schedule, const Beginning& first, const Beginning& second);
extern u64 steps_shown;                           // the last steps shown of a failing schedule
extern void (*on_fault)();                        // prints the schedule, before the trace
extern const char* (*name_of_word)(const void*);  // nullptr: it has no name

// ---- Called by the threads of a schedule; no effect in other threads.
void step(Op op, const void* word, u64 value);
inline void call(const char* name) { step(Op::Call, name, 0); }
void sleep(const void* word);  // until woken
void wake(const void* word);   // one
void pause(const char* why);   // until another thread has made a step
void block(bool (*ready)(void*), void* at, const char* why);
template <class Ready>
void block_until(Ready ready, const char* why) {
  block([](void* at) { return (*static_cast<Ready*>(at))(); }, &ready, why);
}
[[noreturn]] void fault(const char* what);
int make_thread(pthread_t* made, void* (*routine)(void*), void* argument);
void name_thread(const char* name);  // of the next created thread
bool has_ended(pthread_t thread);
unsigned threads_left();  // that have not ended
u64 steps();              // of this schedule so far

// ---- Of words (shared_word.h)
// an exchange that returned the value it stored: a lock
void contends(const void* word, bool contends);
void turn_changed(const void* turn, unsigned before, unsigned after);
extern void (*on_turn)(const void* turn, unsigned before, unsigned after, bool contends);
}  // namespace hca::explored
