// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the files of the time library.
#pragma once
#include <poll.h>
#include <signal.h>

#include <functional>

#include "testbench/programs/server/interposed.h"
#include "testbench/programs/server/packet_socket.h"
#include "testbench/programs/time_library/clock.h"

namespace hca::time_library {
// True if the program has a clock at a server: it runs in simulated time.
bool is_open();

// ---- The calling thread
u64 now();  // picoseconds: the simulation's time plus its own work since
void spend(u64 picoseconds);
// Waits until the simulation has reached the thread's time. True: a signal handler has run.
bool settle();
// The time as a program reads it. Repeated reads count as waiting: time advances.
u64 read_clock();
// Waits until a descriptor is ready, or until this simulated time. Returns the result of poll(), or
// of ppoll() with this mask.
int await(pollfd* descriptors, nfds_t count, u64 end, const sigset_t* mask = nullptr);
// The time limit; nullptr: none.
u64 end_after(const timespec* duration);
bool is_time(const timespec& time);
inline u64 end_of(u64 picoseconds) {
  const u64 from = now();
  return picoseconds < attach::kForEver - from ? from + picoseconds : attach::kForEver;
}
// False: a signal handler ran meanwhile.
bool sleep_until(u64 end);
// Reports an action that others may wait for: attach::kOwn and the like.
void tell(u32 whom);
bool is_network(int descriptor);

// ---- Threads (turns.cpp)
// Reserves a place for a new thread, which wants a turn; nullptr: none is left.
attach::SharedThread* reserve_turns();
std::size_t place_of(const attach::SharedThread& slot);
std::size_t used_places();
void take_turns(attach::SharedThread& slot);  // called by the new thread; its first turn has begun
u64 number_of_turn();  // unique for each turn; a thread without a turn gets one
void act();            // marks the turn as active: it did more than read a clock
// Gives up the turn of this number, if the thread still has it, until another thread reports an
// action, or until that time. `again`: it only polled in this turn. `may_be`: true if the awaited
// event may have happened, even by a thread outside simulated time; empty: only threads of this
// program can cause it.
void wait_for_others(u64 number, bool again, u64 end, const std::function<bool()>& may_be);
// Waits until done() is true, which the thread calls in each of its turns. False: the time limit
// has passed, or the server is gone (threads.cpp).
bool wait_until(const std::function<bool()>& done, u64 end = attach::kForEver,
                const std::function<bool()>& may_be = nullptr);
// Wakes threads that wait in such a call. `shared`: also those of other programs.
void tell_waiting(bool shared = false);
// The time at which a clock shows this, in the scale of now().
u64 end_at(clockid_t clock, const timespec& until);
// thread_begins(): the calling thread has its entry. thread_ends(): it is about to end.
void thread_begins(const attach::SharedThread& slot);
void thread_ends(const attach::SharedThread& slot);
void forget_threads();  // in a child process

// ---- Timers
u64 next_timer();  // when the next is due; kForEver: none
// Fires the timers that are due. True: a signal handler has run.
bool ring_timers();
bool calls_go_on();  // after such a handler
void forget_timer(int descriptor);
void forget_timers();  // in a child process
// The value of a clock at the beginning of simulated time, in whole seconds.
u64 start_of(clockid_t clock);

// ---- rdtsc
void trap_time_stamps(bool traps);  // in this thread, and in those that it creates
void set_up_time_stamps();
// a library may have been loaded: if the counter does not trap, its code is searched
void see_new_code();
// Handles a SIGSEGV that is not a trap as the program wants (signals.cpp).
void pass_fault_on(int signal, siginfo_t* info, void* context);
// Signals with handlers, one bit each from signal 1 on.
u64 handled_signals();
// The mask that the program wants, without fault signals.
sigset_t without_faults(const sigset_t& wanted);
// Installs our handler instead of the program's, which is stored.
void take_faults(void (*handler)(int, siginfo_t*, void*));
inline constexpr u64 kPicosecondsPerTick = 1000;
}  // namespace hca::time_library
