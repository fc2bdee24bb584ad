// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/time_library/turns/simulation.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/program.h"
#include "testbench/programs/time_library/system_calls.h"
#include "testbench/programs/time_library/turns.h"

namespace hca::explored {
using attach::Activity;
using attach::SharedThread;
using engine::Cycle;

namespace {
constexpr unsigned kCores = 10;
constexpr u64 kHertz = 1'000'000'000;
constexpr Cycle kDeviceTakes = 3000;
std::optional<Simulation> g_simulation;
attach::SharedProcess& g_shared = *new attach::SharedProcess();
}  // namespace

// ---- The device
void SmallDevice::ring() {
  if (doorbell.exchange(0)) wake_at(now() + kDeviceTakes);
}
void SmallDevice::tick() {
  word.store(1);
  if (descriptor >= 0) {
    const u64 one = 1;
    static auto* const put = reinterpret_cast<decltype(::write)*>(dlsym(RTLD_NEXT, "write"));
    if (put(descriptor, &one, sizeof one) < 0) fault("an event cannot be written");
  }
  threads_.written(now(), 0, u64(&word), sizeof word, true);
  threads_.event(now());
}

// ---- The server
Simulation::Simulation(attach::SharedProcess& shared) : shared_(shared), threads_(*this, shared) {
  domain_.add(device, "device");
  device.self = {&domain_, 1};
  for (unsigned i = 0; i < kCores; ++i) {
    auto& core = *cores_.emplace_back(std::make_unique<testbench::HostCpu>(
        testbench::HostConfig{}, kHertz, i ? cores_[0].get() : nullptr));
    core.self = {&domain_, domain_.add_last(core, "core")};
  }
}

std::optional<unsigned> Simulation::take_core() {
  for (unsigned i = 0; i < kCores; ++i)
    if (!(taken_ >> i & 1)) return taken_ |= 1u << i, i;
  return std::nullopt;
}

// Process::runs() looks at what the thread does as well, which takes real time.
bool Simulation::runs(SharedThread& thread, bool) {
  while (thread.activity.load() == Activity::Runs) {
    if (!takes_away) {
      attach::sleep_on(thread, Activity::Runs, 0);
      continue;
    }
    pause("takes a turn away");
    Activity runs = Activity::Runs;
    --takes_away, took_away = true;
    if (thread.activity.compare_exchange_strong(runs, Activity::Silent)) return false;
  }
  return thread.activity.load() != Activity::None;
}
void Simulation::take_posted() { device.ring(); }

// As Server::give_turns().
void Simulation::give_turns() {
  if (const u32 told = shared_.told.exchange(0)) threads_.resume_waiting(told & attach::kNetwork);
  threads_.see();
}

// As Server::run().
void Simulation::run() {
  while (threads_left() > 1) {
    wakes = 0;
    take_posted();
    give_turns();
    if (const Cycle next = domain_.next(); next != engine::kNever)
      domain_.run_until(next + 1);
    else
      block_until([&] { return wakes || threads_left() == 1; }, "the server");
  }
  threads_.end();
}

// ---- Both
Simulation& simulation() { return *g_simulation; }
attach::SharedProcess& set_up_simulation() {
  const auto used = u64(&g_shared.threads[kCores]) - u64(&g_shared);
  std::memset(static_cast<void*>(&g_shared), 0, used);
  g_shared.threads[0].activity.set(Activity::Wants);
  g_shared.places.set(1);
  g_simulation.emplace(g_shared);
  return g_shared;
}
void wake_server() {
  call("wakes the server");
  ++g_simulation->wakes;
}
void open_clock() {
  time_library::Program& here = time_library::program();
  here.shared = &g_shared;
  here.open = true;
  time_library::set_slot(g_shared.threads[0]);
  if (!time_library::mine()) fault("there is no first turn");
}
void close_clock() {
  time_library::Program& here = time_library::program();
  here.open = false, here.shared = nullptr;
  time_library::forget_timers();
  time_library::forget_threads();
  time_library::forget_futexes();
  g_simulation.reset();
}

// ---- What must be so
void see_turn(const void* turn, unsigned before, unsigned after, bool contends) {
  if (Activity(before) == Activity::Runs && contends)
    fault("a thread gives its turn up while it waits for a spin lock");
  if (Activity(after) != Activity::Runs) return;
  for (const SharedThread& one : std::span(g_shared.threads).first(kCores))
    if (&one.activity != turn && one.activity.peek() == Activity::Runs)
      fault("two threads have the turn");
}
void check_turn(const char* call) {
  const SharedThread* const slot = time_library::t_mine.slot;
  if (slot && slot->activity.peek() != Activity::Runs && !simulation().took_away) {
    std::printf("%s: ", call);
    fault("a thread runs without its turn");
  }
}
const char* word_name(const void* word) {
  static std::array<char, 64> text;
  const auto at = u64(word), from = u64(&g_shared);
  constexpr std::size_t kBegin = offsetof(attach::SharedProcess, threads);
  const auto name = [&](const char* of, unsigned long place) {
    std::snprintf(text.data(), text.size(), "%s of %lu", of, place);
    return text.data();
  };
  if (word == &g_shared.told) return "told";
  if (word == &g_shared.looking) return "looking";
  if (word == &g_shared.places) return "places";
  if (at < from + kBegin || at >= from + sizeof g_shared) return nullptr;
  const auto place = (at - from - kBegin) / sizeof(SharedThread);
  const SharedThread& one = g_shared.threads[place];
  struct Row {
    const void* word;
    const char* name;
  };
  for (const Row& row :
       {Row{&one.activity, "turn"}, Row{&one.sleeps, "sleeps"}, Row{&one.now, "now"},
        Row{&one.in_flight, "in flight"}, Row{&one.cost, "cost"}})
    if (row.word == word) return name(row.name, place);
  return name("a word", place);
}
}  // namespace hca::explored
