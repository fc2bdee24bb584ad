// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a small program one at a time: before each access to a word that they share,
// a schedule says who goes on. No real time passes in it: who waits goes on when somebody has woken
// it, and where nobody can go on although not all have ended, that is a hang.
#pragma once
#include <pthread.h>

#include "model/proto/types.h"

namespace hca::explored {
enum class Op : u8 { Load, Store, Exchange, Add, Or, Sleep, Wake, Call, Pause, Block, Begin, End };

// Says who goes on.
class Schedule {
 public:
  virtual ~Schedule() = default;
  // One of `options`; `may_stay`: number 0 is the thread that runs. Each call is one step.
  virtual unsigned choose(unsigned options, bool may_stay) = 0;
};

// ---- From the controlling thread: one schedule, from the making of its first threads to their
// end.
struct Beginning {
  const char* name;
  void (*run)();
};
void run_schedule(Schedule& schedule, const Beginning& first, const Beginning& second);
extern u64 steps_shown;                           // of a schedule with a fault: the last ones
extern void (*on_fault)();                        // says of which schedule, before the trace
extern const char* (*name_of_word)(const void*);  // nullptr: it has none

// ---- From the threads of a schedule; from others they do nothing.
void step(Op op, const void* word, u64 value);
inline void call(const char* name) { step(Op::Call, name, 0); }
void sleep(const void* word);  // until woken
void wake(const void* word);   // one
void pause(const char* why);   // until another has made a step
void block(bool (*ready)(void*), void* at, const char* why);
template <class Ready>
void block_until(Ready ready, const char* why) {
  block([](void* at) { return (*static_cast<Ready*>(at))(); }, &ready, why);
}
[[noreturn]] void fault(const char* what);
int make_thread(pthread_t* made, void* (*routine)(void*), void* argument);
void name_thread(const char* name);  // the one that is made next
bool has_ended(pthread_t thread);
unsigned threads_left();  // that have not ended
u64 steps();              // of this schedule so far

// ---- Of words (shared_word.h)
void contends(const void* word, bool contends);  // an exchange that gave what it put there: a lock
void turn_changed(const void* turn, unsigned before, unsigned after);
extern void (*on_turn)(const void* turn, unsigned before, unsigned after, bool contends);
}  // namespace hca::explored
