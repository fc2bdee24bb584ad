// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/time_library/turns/explorer.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "testbench/programs/server/kernel_call.h"

namespace hca::explored {
void (*on_fault)() = nullptr;
u64 steps_shown = 40;
const char* (*name_of_word)(const void*) = nullptr;
void (*on_turn)(const void*, unsigned, unsigned, bool) = nullptr;

namespace {
constexpr unsigned kMostActors = 12;
constexpr u64 kMostSteps = 20'000;  // of a schedule: more is a loop without end
constexpr std::array kOps{"reads", "writes", "exchanges", "adds",   "sets bits", "sleeps",
                          "wakes", "calls",  "pauses",    "blocks", "begins",    "ends"};

struct Actor {
  std::atomic<u32> goes{0};
  const char* name = "";
  void* (*routine)(void*) = nullptr;
  void* argument = nullptr;
  pthread_t thread{};
  bool (*ready)(void*) = nullptr;  // none: it can go on
  void* ready_at = nullptr;
  const void* sleeps_on = nullptr;
  bool pauses = false, ended = false, second_round = false;
  u64 own_steps = 0, paused_at = 0;  // the latter: how many steps others had made
  unsigned in_vain = 0;              // so often it looked again where no other could go on
  const void* contends = nullptr;
};
struct Trace {
  Op op;
  const Actor* who;
  const void* word;
  u64 value;
};
struct Explorer {
  std::array<Actor, kMostActors> actors;
  unsigned count = 0;
  Actor* current = nullptr;
  Schedule* schedule = nullptr;
  u64 steps = 0;
  std::array<Trace, 1 << 15> trace{};
  u64 traced = 0;
  const char* next_name = "thread";
  std::atomic<u32> finished{0};
  pthread_key_t key{};
};
Explorer g;
thread_local constinit Actor* t_actor = nullptr;

void put(std::atomic<u32>& word) {
  word.store(1);
  attach::kernel_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
void take(std::atomic<u32>& word) {
  while (!word.exchange(0))
    attach::kernel_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}

void note(Op op, const void* word, u64 value) {
  g.trace[g.traced++ % g.trace.size()] = {op, g.current, word, value};
}
u64 steps_of_others(const Actor& one) { return g.steps - one.own_steps; }
bool can_go_on(const Actor& one) {
  if (one.ended) return false;
  if (one.pauses) return steps_of_others(one) > one.paused_at;
  return !one.ready || one.ready(one.ready_at);
}

// A schedule that goes on for long may keep one waiting that is in no simulated time: then all go
// on by turns.
unsigned choice_of(unsigned count, bool may_stay) {
  constexpr u64 kFairAfter = 4000, kBetween = 16;
  if (!may_stay || g.steps < kFairAfter) return g.schedule->choose(count, may_stay);
  return g.steps % kBetween ? 0 : 1 + unsigned(g.steps / kBetween % (count - 1));
}

// Who goes on: the one that runs first, those that only look last.
void decide(bool may_stay) {
  std::array<Actor*, kMostActors> options;
  unsigned count = 0;
  if (may_stay) options[count++] = g.current;
  for (const bool pauses : {false, true}) {
    if (pauses && count && !may_stay) break;
    const auto first = pauses ? unsigned(g.current - g.actors.data()) + 1 : 0;  // in turn
    for (unsigned i = 0; i < g.count; ++i) {
      Actor& one = g.actors[(first + i) % g.count];
      if (one.pauses == pauses && !(may_stay && &one == g.current) && can_go_on(one))
        options[count++] = &one;
    }
  }
  // What was changed since it looked it sees where it looks once more.
  constexpr unsigned kLooks = 3;
  for (unsigned i = 0; i < g.count && !count; ++i) {
    Actor& one = g.actors[i];
    if (!one.ended && one.pauses && one.in_vain < kLooks) ++one.in_vain, options[count++] = &one;
  }
  if (!count) {
    for (unsigned i = 0; i < g.count; ++i)
      if (!g.actors[i].ended) fault("a hang: no thread can go on");
    g.current = nullptr;
    return put(g.finished);
  }
  Actor* const next = options[count > 1 ? choice_of(count, may_stay) : 0];
  if (next == g.current) return;
  Actor* const before = g.current;
  g.current = next;
  put(next->goes);
  if (!before->ended) take(before->goes);
}
void count_step() {
  ++g.current->own_steps;
  if (++g.steps > kMostSteps) fault("it goes on for ever");
}

// After the destructors of other keys, which take steps, too.
void end_actor(void* at) {
  auto& one = *static_cast<Actor*>(at);
  if (!std::exchange(one.second_round, true)) {
    pthread_setspecific(g.key, &one);
    return;
  }
  note(Op::End, nullptr, 0);
  count_step();
  one.ended = true;
  t_actor = nullptr;
  decide(false);
}
void* begin_actor(void* at) {
  auto& one = *static_cast<Actor*>(at);
  take(one.goes);
  t_actor = &one;
  pthread_setspecific(g.key, &one);
  note(Op::Begin, nullptr, 0);
  return one.routine(one.argument);
}
using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int make_actor(const char* name, pthread_t* made, void* (*routine)(void*), void* argument) {
  static auto* const create = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (g.count == kMostActors) fault("too many threads");
  Actor& one = g.actors[g.count];
  one.goes = 0, one.name = name, one.routine = routine, one.argument = argument;
  one.ready = nullptr, one.sleeps_on = one.contends = nullptr;
  one.pauses = one.ended = one.second_round = false;
  one.own_steps = one.paused_at = one.in_vain = 0;
  if (const int error = create(&one.thread, nullptr, begin_actor, &one)) return error;
  *made = one.thread;
  ++g.count;
  return 0;
}
void wait_for_turn(Actor& one) {
  decide(false);
  one.ready = nullptr, one.pauses = false;
}
}  // namespace

void run_schedule(Schedule& schedule, const Beginning& first, const Beginning& second) {
  static const bool made = !pthread_key_create(&g.key, end_actor);
  if (!made) std::abort();
  g.count = 0, g.steps = g.traced = 0, g.schedule = &schedule;
  const auto run = [](void* at) -> void* { return static_cast<const Beginning*>(at)->run(), at; };
  std::array<pthread_t, 2> threads;
  make_actor(first.name, &threads[0], run, const_cast<Beginning*>(&first));
  make_actor(second.name, &threads[1], run, const_cast<Beginning*>(&second));
  using Join = int(pthread_t, void**);
  static auto* const join = reinterpret_cast<Join*>(dlsym(RTLD_NEXT, "pthread_join"));
  g.current = &g.actors[0];
  put(g.current->goes);
  take(g.finished);
  for (const pthread_t thread : threads) join(thread, nullptr);
}

void step(Op op, const void* word, u64 value) {
  if (!t_actor) return;
  count_step();
  decide(true);
  note(op, word, value);
}
void sleep(const void* word) {
  if (!t_actor) return;
  Actor& me = *t_actor;
  me.sleeps_on = word;
  block_until([&] { return !me.sleeps_on; }, "sleeps");
}
void wake(const void* word) {
  for (unsigned i = 0; i < g.count; ++i)
    if (g.actors[i].sleeps_on == word) {
      g.actors[i].sleeps_on = nullptr;
      return;
    }
}
void pause(const char* why) {
  if (!t_actor) return;
  count_step();
  note(Op::Pause, why, 0);
  Actor& me = *t_actor;
  if (const u64 others = steps_of_others(me); others > me.paused_at)
    me.in_vain = 0, me.paused_at = others;
  me.pauses = true;
  wait_for_turn(me);
}
void block(bool (*ready)(void*), void* at, const char* why) {
  if (!t_actor || ready(at)) return;
  count_step();
  note(Op::Block, why, 0);
  t_actor->ready = ready, t_actor->ready_at = at;
  wait_for_turn(*t_actor);
}
void contends(const void* word, bool contends) {
  if (t_actor) t_actor->contends = contends ? word : nullptr;
}
void turn_changed(const void* turn, unsigned before, unsigned after) {
  if (t_actor && on_turn) on_turn(turn, before, after, t_actor->contends);
}
int make_thread(pthread_t* made, void* (*routine)(void*), void* argument) {
  const int error = make_actor(g.next_name, made, routine, argument);
  call("pthread_create");
  return error;
}
void name_thread(const char* name) { g.next_name = name; }
bool has_ended(pthread_t thread) {
  for (unsigned i = 0; i < g.count; ++i)
    if (g.actors[i].thread == thread && !g.actors[i].ended) return false;
  return true;
}
unsigned threads_left() {
  unsigned left = 0;
  for (unsigned i = 0; i < g.count; ++i) left += !g.actors[i].ended;
  return left;
}
u64 steps() { return g.steps; }

void fault(const char* what) {
  std::printf("FAULT: %s\n", what);
  if (on_fault) on_fault();
  const u64 from = g.traced > steps_shown ? g.traced - steps_shown : 0;
  for (u64 i = from; i < g.traced; ++i) {
    const Trace& one = g.trace[i % g.trace.size()];
    const bool is_text = one.op == Op::Call || one.op == Op::Pause || one.op == Op::Block;
    const char* const name = is_text                    ? static_cast<const char*>(one.word)
                             : one.word && name_of_word ? name_of_word(one.word)
                                                        : nullptr;
    std::printf("  %5llu  %-10s %-9s %s", static_cast<unsigned long long>(i),
                one.who ? one.who->name : "", kOps[unsigned(one.op)], name ? name : "");
    if (!name && one.word) std::printf("%p", one.word);
    if (!is_text && one.word) std::printf(" %llu", static_cast<unsigned long long>(one.value));
    std::printf("\n");
  }
  for (unsigned i = 0; i < g.count; ++i) {
    const Actor& one = g.actors[i];
    std::printf("  %s %s\n", one.name,
                one.ended        ? "has ended"
                : can_go_on(one) ? "can go on"
                                 : "waits");
  }
  std::fflush(stdout);
  _exit(1);
}
}  // namespace hca::explored
