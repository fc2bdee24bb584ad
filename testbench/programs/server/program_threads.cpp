// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/program_threads.h"

#include <algorithm>

namespace hca::attach {
// ---- Threads
Thread::Thread(ThreadHost& host, SharedThread& shared, unsigned core)
    : host_(host), shared_(shared), core_(core) {}
Thread::~Thread() {
  cpu().run(nullptr, 0);
  host_.give_core_back(core_);
}

testbench::HostCpu& Thread::cpu() const { return host_.core(core_); }

Cycle Thread::cycles_of(u64 picoseconds) const {
  const u64 period = host_.period();
  return std::max<Cycle>(1, (std::min(picoseconds, kForEver - period) + period - 1) / period);
}

// It waits for a completion, which may have come while it worked.
Cycle Thread::await(Cycle now) {
  if (std::exchange(written_, false)) return act(now);
  scheduled_ = false;
  deadline_ = now + cycles_of(shared_.picoseconds);
  return 0;
}

Cycle Thread::act(Cycle now) {
  if (std::exchange(works_, false)) return await(now);
  scheduled_ = false;
  deadline_ = engine::kNever;
  const Activity activity = shared_.activity.load(std::memory_order_acquire);
  if (activity == Activity::None) return 0;
  const u64 period = host_.period();
  shared_.now.store(now * period, std::memory_order_relaxed);
  shared_.simulated_on.store(u32(sched_getcpu()), std::memory_order_relaxed);
  shared_.cost.store(0, std::memory_order_relaxed);
  shared_.activity.store(Activity::Runs);
  wake(shared_);
  const bool was_silent = std::exchange(silent_, false);
  const bool saw_write = std::exchange(written_, false) && was_silent;
  silent_ = !host_.runs(shared_, spins_);
  if (silent_ && activity != Activity::Silent) silent_since_ = now;
  if (saw_write && !silent_) {
    spins_ = true;
    found_ = last_written_;
  }
  host_.take_posted();
  if (silent_) return 0;
  wait_ = shared_.wait;
  ring_ = shared_.ring;
  spins_ |= wait_ == Wait::Memory;
  if (const u64 work = shared_.work; wait_ == Wait::Completion && work) {
    works_ = true;
    return cycles_of(work);
  }
  const u64 picoseconds = shared_.picoseconds;
  if (wait_ == Wait::Work) return cycles_of(picoseconds);
  if (picoseconds != kForEver) deadline_ = now + cycles_of(picoseconds);
  return 0;
}

void Thread::resume(Cycle at) {
  scheduled_ = true;
  cpu().run(this, at);
}
void Thread::resume_if_wanting() {
  if (!scheduled_ && shared_.activity.load(std::memory_order_acquire) == Activity::Wants)
    resume(host_.now() + 1);
}
void Thread::resume_if_polling() {
  if (silent_ || wait_ != Wait::Completion) return;
  if (works_)
    written_ = true;
  else if (!scheduled_)
    resume(host_.now() + 1);
}
void Thread::resume_if_waiting(bool in_flight) {
  if (silent_ || (wait_ != Wait::Descriptor && wait_ != Wait::Memory)) return;
  if (in_flight) shared_.in_flight = 1;
  if (!scheduled_) resume(host_.now() + 1);
}

// A thread that spins in memory may wait for any byte, but most likely for the same one as last
// time. The longer a thread has waited, the longer are the times between its turns for others: a
// turn in vain takes real time.
bool Thread::awaits(u32 attachment, u64 address) const {
  return !ring_.bytes || (ring_.attachment == attachment && address - ring_.address < ring_.bytes);
}
bool Thread::looks_at(u64 address, u64 bytes) const {
  constexpr u64 kWord = 8;
  const auto end = shared_.looked_at.begin() + std::min<std::size_t>(shared_.looks, kMostLooks);
  return std::any_of(shared_.looked_at.begin(), end,
                     [&](u64 word) { return word < address + bytes && address < word + kWord; });
}
void Thread::written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion) {
  if (!silent_ && wait_ == Wait::Memory) {
    if (!looks_at(address, bytes)) return;
    scheduled_ = true;
    return cpu().notice_at(at, 0);
  }
  if (!silent_ && wait_ != Wait::Completion) return;
  if (!silent_ && !shared_.any_write && !(completion && awaits(attachment, address))) {
    shared_.wrote_else.store(1, std::memory_order_relaxed);
    return;
  }
  if (works_) {
    written_ = true;
    return;
  }
  constexpr Cycle kShare = 8;
  const bool expected = !silent_ || found_ - address < bytes;
  const Cycle waited = at - silent_since_;
  scheduled_ = written_ = true;
  last_written_ = address + bytes - 1;
  cpu().notice_at(at, expected ? 0 : waited / kShare);
}
void Thread::event(Cycle at) {
  if (silent_ || wait_ != Wait::Descriptor) return;
  scheduled_ = true;
  cpu().interrupt_at(at);
}

bool Thread::pays() const {
  const bool waits =
      !silent_ && shared_.activity.load(std::memory_order_acquire) == Activity::Waits;
  const u64 takes = wait_ == Wait::Work ? shared_.picoseconds : works_ ? shared_.work : 0;
  return waits && takes && 2 * shared_.cost.load(std::memory_order_relaxed) >= takes;
}

// ---- All of a program
// It is the program that says how many.
std::span<SharedThread> ProgramThreads::shared_threads() const {
  const std::size_t places = shared_.places.load(std::memory_order_acquire);
  return std::span(shared_.threads).first(std::min(places, kMostThreads));
}
void ProgramThreads::end() {
  for (auto& thread : threads_) thread.reset();
}

void ProgramThreads::see() {
  places_ = std::max(places_, shared_threads().size());
  for (std::size_t i = 0; i < places_; ++i) {
    SharedThread& shared = shared_.threads[i];
    const Activity activity = shared.activity.load(std::memory_order_acquire);
    if (activity == Activity::None) {
      threads_[i].reset();
      continue;
    }
    if (!threads_[i]) {
      const std::optional<unsigned> core = host_.take_core();
      if (!core) continue;  // it waits until another has ended
      threads_[i] = std::make_unique<Thread>(host_, shared, *core);
    }
    threads_[i]->resume_if_wanting();
  }
}
void ProgramThreads::resume_polling() {
  for (const auto& thread : all())
    if (thread) thread->resume_if_polling();
}
void ProgramThreads::resume_waiting(bool in_flight) {
  for (const auto& thread : all())
    if (thread) thread->resume_if_waiting(in_flight);
}
void ProgramThreads::written(Cycle at, u32 attachment, u64 address, u64 bytes, bool completion) {
  for (const auto& thread : all())
    if (thread) thread->written(at, attachment, address, bytes, completion);
}
void ProgramThreads::event(Cycle at) {
  for (const auto& thread : all())
    if (thread) thread->event(at);
}

bool ProgramThreads::want_others() const {
  return shared_.told.load(std::memory_order_acquire) ||
         std::ranges::any_of(shared_threads(), [](const SharedThread& thread) {
           return thread.activity.load(std::memory_order_acquire) == Activity::Wants;
         });
}
bool ProgramThreads::any() const {
  return std::ranges::any_of(all(), [](const auto& thread) { return thread != nullptr; });
}
bool ProgramThreads::work() const {
  return std::ranges::any_of(shared_threads(), [](const SharedThread& thread) {
    return thread.activity.load(std::memory_order_acquire) == Activity::Waits &&
           thread.wait == Wait::Work;
  });
}
bool ProgramThreads::pay() const {
  return std::ranges::any_of(all(), [](const auto& thread) { return thread && thread->pays(); });
}
}  // namespace hca::attach
