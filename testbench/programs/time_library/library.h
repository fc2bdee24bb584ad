// SPDX-License-Identifier: Apache-2.0
// Between the files of the library of clocks.
#pragma once
#include <poll.h>
#include <signal.h>

#include <functional>

#include "testbench/programs/server/interposed.h"
#include "testbench/programs/server/packet_socket.h"
#include "testbench/programs/time_library/clock.h"

namespace hca::time_library {
// The program has a clock at a server: it is in simulated time.
bool is_open();

// ---- The thread that calls
u64 now();  // picoseconds: simulated time of the simulation, and its own work since
void spend(u64 picoseconds);
// Until the simulation is where the thread is. True: a handler of a signal has run.
bool settle();
// The time as a program reads it. Who reads it again and again waits for it: time passes.
u64 read_clock();
// Until one of the descriptors is ready or this simulated time has come: what poll() returns, or
// ppoll() with this mask.
int await(pollfd* descriptors, nfds_t count, u64 end, const sigset_t* mask = nullptr);
// Until then; nullptr: for ever.
u64 end_after(const timespec* duration);
bool is_time(const timespec& time);
inline u64 end_of(u64 picoseconds) {
  const u64 from = now();
  return picoseconds < attach::kForEver - from ? from + picoseconds : attach::kForEver;
}
// False: a handler of a signal has run meanwhile.
bool sleep_until(u64 end);
// Others may wait for what was done: attach::kOwn and the like.
void tell(u32 whom);
bool is_network(int descriptor);

// ---- Threads (turns.cpp)
// A place for a thread that will come, which wants a turn; nullptr: there is none left.
attach::SharedThread* reserve_turns();
std::size_t place_of(const attach::SharedThread& slot);
std::size_t used_places();
void take_turns(attach::SharedThread& slot);  // of the calling thread, the first has come
u64 number_of_turn();                         // another in each; who has none gets one
void act();                                   // it does something else than to read a clock
// Gives the turn of this number up, if the thread has it still, until another one tells that it did
// something, or until that time. `again`: it has only looked in this turn. `may_be`: what it waits
// for may be there, also if who did it is not in simulated time; none: only threads of this program
// do it.
void wait_for_others(u64 number, bool again, u64 end, const std::function<bool()>& may_be);
// Until it is done, which the thread tries in each of its turns. False: the time has come, or there
// is no server any more (threads.cpp).
bool wait_until(const std::function<bool()>& done, u64 end = attach::kForEver,
                const std::function<bool()>& may_be = nullptr);
// Who waits in such a call may go on. `shared`: threads of other programs as well.
void tell_waiting(bool shared = false);
// When a clock shows this, as now() tells it.
u64 end_at(clockid_t clock, const timespec& until);
// The calling thread has its place; it is as good as gone.
void thread_begins(const attach::SharedThread& slot);
void thread_ends(const attach::SharedThread& slot);
void forget_threads();  // in a child

// ---- Timers
u64 next_timer();  // when the next is due; kForEver: none
// Those that are due. True: a handler of a signal has run.
bool ring_timers();
bool calls_go_on();  // behind such a handler
void forget_timer(int descriptor);
void forget_timers();  // in a child
// What a clock showed when simulated time began, in whole seconds.
u64 start_of(clockid_t clock);

// ---- rdtsc
void trap_time_stamps(bool traps);  // of this thread, and of those that it creates
void set_up_time_stamps();
void see_new_code();  // a library may have come: where the counter does not trap it is searched
// Of a SIGSEGV that is none of a trap: as the program wants it (signals.cpp).
void pass_fault_on(int signal, siginfo_t* info, void* context);
// Signals that have handlers, a bit for each from 1 on.
u64 handled_signals();
// What the program wants to block, without that.
sigset_t without_faults(const sigset_t& wanted);
// Ours instead of the program's, which is kept.
void take_faults(void (*handler)(int, siginfo_t*, void*));
inline constexpr u64 kPicosecondsPerTick = 1000;
}  // namespace hca::time_library
