// SPDX-License-Identifier: Apache-2.0
// Turns of the threads of this program.
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "testbench/programs/server/held_signals.h"
#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/program.h"
#include "testbench/programs/time_library/turns.h"

namespace hca::time_library {
using attach::Activity;
using attach::SharedThread;
using attach::Wait;

namespace {
constexpr u64 kMicrosecond = 1'000'000;
constexpr long kLookAtServer = 100'000'000;  // ns: between two looks at whether it is there

void wake_server() {
  const u64 one = 1;
  if (HCA_NEXT(write)(program().wake.get(), &one, sizeof one) < 0) return;  // it is awake
}

bool server_is_there() {
  pollfd end{program().socket.get(), 0, 0};
  // A signal may interrupt it, even without a time to wait: that is not the end of the server.
  if (HCA_NEXT(poll)(&end, 1, 0) != 1) return true;
  program().open = false;
  trap_time_stamps(false);
  return false;
}

}  // namespace

// Until it runs. False: there is no server any more.
bool await_turn(SharedThread& slot) {
  for (unsigned looks = 0;; ++looks) {
    Activity activity = slot.activity.load(std::memory_order_acquire);
    if (activity == Activity::Runs) return true;
    if (activity == Activity::Silent || activity == Activity::None) {
      if (slot.activity.compare_exchange_strong(activity, Activity::Wants)) wake_server();
      continue;
    }
    attach::watch_for(slot, activity, slot.simulated_on);
    if (slot.activity.load(std::memory_order_acquire) != activity) continue;
    if (looks && !server_is_there()) return false;
    attach::sleep_on(slot, activity, kLookAtServer);
  }
}

namespace {
// A thread that ends gives its turn up; the one that ends the program does not.
void give_back(void* at) {
  auto& slot = *static_cast<SharedThread*>(at);
  if (!is_open()) return;
  thread_ends(slot);
  slot.activity.store(Activity::None);
  attach::wake(slot);
}
pthread_key_t make_key() {
  pthread_key_t key;
  if (pthread_key_create(&key, give_back)) std::abort();
  return key;
}

SharedThread* find_slot() {
  attach::SharedProcess& shared = *program().shared;
  for (u32 place = 0; place < attach::kMostThreads; ++place) {
    SharedThread& slot = shared.threads[place];
    Activity none = Activity::None;
    if (!slot.activity.compare_exchange_strong(none, Activity::Wants)) continue;
    slot.tid = u32(attach::kernel_call(SYS_gettid));
    u32 places = shared.places;
    while (places <= place && !shared.places.compare_exchange_weak(places, place + 1)) continue;
    return &slot;
  }
  return nullptr;
}

}  // namespace

void set_slot(SharedThread& slot) {
  static const pthread_key_t key = make_key();
  slot.tid = u32(attach::kernel_call(SYS_gettid));
  t_mine.slot = &slot;  // before what may ask for memory, and so look at a clock
  pthread_setspecific(key, &slot);
  thread_begins(slot);
}

namespace {
[[noreturn]] void end_without_place() {
  const std::string line = "hca: more than " + std::to_string(attach::kMostThreads) +
                           " threads in simulated time; allowed: this many, or --time=wall\n";
  attach::kernel_call(SYS_write, STDERR_FILENO, line.data(), line.size());
  std::abort();
}

}  // namespace

// The thread's place, with its turn; nullptr: the program is not in simulated time.
SharedThread* mine() {
  if (!is_open()) return nullptr;
  Mine& my = t_mine;
  if (!my.slot) {
    SharedThread* const slot = find_slot();
    if (!slot) end_without_place();
    set_slot(*slot);
    wake_server();
  }
  // A handler of a signal, while its thread waits: it wants the turn in between.
  Activity waits = Activity::Waits;
  if (my.slot->activity.compare_exchange_strong(waits, Activity::Wants)) wake_server();
  return await_turn(*my.slot) ? my.slot : nullptr;
}

namespace {
constexpr u64 kAnyTurn = attach::kForEver;
// False: it has no turn to give up, or not the one of this number. The words that the thread read
// in that turn may have changed since, without a wake-up. `in_vain`: it only polled in this turn,
// so no other thread that waits in memory needs to check because of it.
bool give_up(SharedThread& slot, Wait wait, u64 picoseconds, u64 number = kAnyTurn,
             bool in_vain = false) {
  see_new_code();
  attach::SharedProcess& shared = *program().shared;
  if (!in_vain && shared.looking.load(std::memory_order_relaxed))
    shared.told.fetch_or(attach::kOwn);
  while (await_turn(slot) && (number == kAnyTurn || number == slot.now)) {
    slot.work = wait == Wait::Completion ? std::exchange(t_mine.debt, 0) : 0;
    slot.wait = wait, slot.picoseconds = picoseconds;
    slot.processor.store(u32(sched_getcpu()), std::memory_order_relaxed);
    Activity runs = Activity::Runs;
    if (!slot.activity.compare_exchange_strong(runs, Activity::Waits)) continue;
    attach::wake(slot);
    return true;
  }
  return false;
}
void yield(SharedThread& slot, Wait wait, u64 picoseconds) {
  if (give_up(slot, wait, picoseconds)) await_turn(slot);
}
}  // namespace

Program& program() {
  static constinit attach::Kept<Program> kept;
  return kept.value;
}
bool is_open() { return program().open.load(std::memory_order_acquire); }

u64 now() {
  SharedThread* const slot = mine();
  return slot ? slot->now.load(std::memory_order_relaxed) + t_mine.debt : 0;
}

// Something else than to read a clock.
void act() {
  t_mine.reads = 0;
  t_mine.spun = 0;
}

void spend(u64 picoseconds) {
  act();
  t_mine.debt += picoseconds;
}

bool settle() {
  SharedThread* const slot = mine();
  if (slot && t_mine.debt) {
    const u64 end = slot->now + std::exchange(t_mine.debt, 0);
    // Again, if a handler of a signal had the turn meanwhile.
    while (is_open() && slot->now < end) yield(*slot, Wait::Work, end - slot->now);
  }
  return slot && ring_timers();
}

bool sleep_until(u64 end) {
  while (true) {
    const u64 at = now(), until = std::min(end, next_timer());
    spend(until > at ? until - at : 0);
    if (settle()) return false;
    if (!is_open() || now() >= end) return true;
  }
}

// To look at it a few times is free. The longer it goes on, the coarser: a program that calibrates
// its clock looks at it for 200 ms.
u64 read_clock() {
  constexpr u32 kFree = 16;
  constexpr u64 kLeast = 20'000, kMost = 10 * kMicrosecond, kShare = 8;
  Mine& my = t_mine;
  my.watches = true;
  if (++my.reads > kFree) {
    const u64 takes = std::clamp(my.spun / kShare, kLeast, kMost);
    my.debt += takes;
    my.spun += takes;
    if (my.debt >= std::max(kMicrosecond, my.spun / kShare)) settle();
  }
  ring_timers();
  return now();
}

// For events outside the simulation, after it has given up its turn; real time.
namespace {
constexpr timespec kLook{0, 200'000};
template <class Look>
void look_meanwhile(SharedThread& slot, Look is_there) {
  for (Activity activity;
       (activity = slot.activity.load(std::memory_order_acquire)) == Activity::Waits;) {
    if (is_there() && slot.activity.compare_exchange_strong(activity, Activity::Wants))
      wake_server();
    if (!server_is_there()) break;
  }
}
}  // namespace

// Only the kernel lets signals in, in each check: none is missed between two.
int await(pollfd* descriptors, nfds_t count, u64 end, const sigset_t* mask) {
  constexpr int kDelivery = 5;  // ms, real: what was sent to this host has come by then
  act();
  settle();
  const attach::HeldSignals held(handled_signals());
  sigset_t let = mask ? *mask : held.before();
  sigaddset(&let, attach::kExamine);  // the server's own, which interrupts no call of the program
  const auto look = [&](pollfd* all, nfds_t many, int milliseconds) {
    const timespec longest{0, long(milliseconds) * 1'000'000};
    return HCA_NEXT(ppoll)(all, many, milliseconds < 0 ? nullptr : &longest, &let);
  };
  for (bool again = false;;) {
    SharedThread* const slot = mine();
    const u64 number = slot ? slot->now.load() : 0;
    int ready = look(descriptors, count, 0);
    if (!slot) return look(descriptors, count, end == attach::kForEver ? -1 : 0);
    const u64 at = now(), until = std::min(end, next_timer());
    if (ready || at >= end) return ready;
    if (ring_timers()) return errno = EINTR, -1;
    if (at >= until) continue;
    const u64 longest = until == attach::kForEver ? until : until - at;
    if (!give_up(*slot, Wait::Descriptor, longest, number, again)) continue;
    look_meanwhile(*slot, [&] {
      ready = HCA_NEXT(ppoll)(descriptors, count, &kLook, &let);
      return ready != 0;
    });
    const int error = errno;
    if (!await_turn(*slot)) continue;
    if (ready < 0) return errno = error, -1;
    const bool comes = slot->in_flight.exchange(0) && now() < until &&
                       std::any_of(descriptors, descriptors + count,
                                   [](const pollfd& one) { return is_network(one.fd); });
    ready = look(descriptors, count, comes ? kDelivery : 0);
    if (ready) return ready;
    again = true;
  }
}

thread_local constinit Mine t_mine;
SharedThread* slot_with_turn() {
  SharedThread* const slot = t_mine.slot;
  const bool runs = slot && slot->activity.load(std::memory_order_acquire) == Activity::Runs;
  return runs ? slot : nullptr;
}
void wait_in_memory(SharedThread& slot, bool (*changed)()) {
  attach::SharedProcess& shared = *program().shared;
  shared.looking.fetch_add(1);
  for (bool again = false;; again = true) {
    const u64 at = now(), number = slot.now, until = next_timer();
    if (changed()) break;
    const u64 longest = until == attach::kForEver ? until : until - at;
    if (until > at && give_up(slot, Wait::Memory, longest, number, again)) {
      for (Activity activity;
           (activity = slot.activity.load(std::memory_order_acquire)) == Activity::Waits;) {
        attach::watch_for(slot, activity, slot.simulated_on);
        attach::sleep_on(slot, activity, kLookAtServer);
        if (changed() && slot.activity.compare_exchange_strong(activity, Activity::Wants))
          wake_server();
        if (!server_is_there()) break;
      }
    }
    if (!await_turn(slot) || ring_timers()) break;
  }
  shared.looking.fetch_sub(1);
}
// It polls its other queues as well before it looks there.
constexpr u32 kPollsOfRound = 4;
void wait_for_completion(const attach::CompletionRing& ring, u64 longest) {
  SharedThread* const slot = mine();
  if (!slot) return;
  const u64 at = now(), timer = next_timer();
  const bool looks = t_mine.looks_at_memory;
  slot->ring = ring;
  slot->any_write = looks;
  slot->wrote_else = 0;
  const u64 debt = t_mine.debt;
  if (timer > at) yield(*slot, Wait::Completion, std::min(longest, timer - at));
  const bool in_vain = now() >= at + debt + longest;
  t_mine.looks_at_memory = looks || (slot->wrote_else && in_vain);
  if (looks && !in_vain) t_mine.free_polls = kPollsOfRound;
  ring_timers();
}

// The server checks when a turn ends; it would not notice a report by a thread without one.
void tell(u32 whom) {
  auto* const shared = program().shared;
  if (!shared) return;
  shared->told.fetch_or(whom);
  if (!slot_with_turn()) wake_server();
}

SharedThread* reserve_turns() {
  if (t_mine.slot) t_mine.slot->threads_made.fetch_add(1, std::memory_order_relaxed);
  return find_slot();
}
std::size_t place_of(const SharedThread& slot) {
  return std::size_t(&slot - program().shared->threads.data());
}
std::size_t used_places() {
  const attach::SharedProcess* const shared = program().shared;
  return shared ? std::min<std::size_t>(shared->places, attach::kMostThreads) : 0;
}
void take_turns(SharedThread& slot) {
  set_slot(slot);
  mine();
}
u64 number_of_turn() {
  const SharedThread* const slot = mine();
  return slot ? slot->now.load() : 0;
}
void wait_for_others(u64 number, bool again, u64 end, const std::function<bool()>& may_be) {
  SharedThread* const slot = mine();
  if (!slot) return;
  const u64 at = now(), until = std::min(end, next_timer());
  const u64 longest = until == attach::kForEver ? until : until - at;
  if (until > at && give_up(*slot, Wait::Descriptor, longest, number, again)) {
    if (may_be)
      look_meanwhile(*slot, [&] {
        if (!may_be()) HCA_NEXT(ppoll)(nullptr, 0, &kLook, nullptr);
        return may_be();
      });
    await_turn(*slot);
  }
  ring_timers();
}
}  // namespace hca::time_library
