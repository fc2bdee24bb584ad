// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "testbench/attach/thread_state.h"
#include "testbench/attach/whereabouts.h"

namespace hca::attach {
namespace {
// Times are in nanoseconds, of the processor where a thread computes. When a thread that makes no
// call is examined first: if it is known to wait in memory, and else. Then after four times as
// long, for four times as many instructions.
constexpr u64 kAskWaiting = 30'000, kAsk = 300'000, kAskLater = 4, kAskAgain = 300'000'000;
constexpr u32 kSteps = 256, kMostSteps = 8192;
// Before a thread that only seems to wait is taken for one that does, the first time.
constexpr u64 kSeems = 4'000'000;
// For how long a thread that cannot be examined, of another user's process or under a debugger, may
// run before the simulation goes on without it: by who else has something to do, and for one that
// has waited in memory before.
constexpr u64 kAlone = 1'000'000'000, kWithOthers = 20'000'000, kSpins = 200'000;
struct PatienceRow {
  u64 computes, spins;
};
constexpr std::array kPatience{PatienceRow{kWithOthers, kSpins},       // Due::Hca
                               PatienceRow{kWithOthers, kWithOthers},  // Program
                               PatienceRow{kAlone, kWithOthers},       // ProgramLater
                               PatienceRow{kAlone, kAlone}};           // Nobody
// For how long a thread may sleep in the kernel in what nobody knows here; and for how many looks
// for a lock, while no thread of its program runs that could let it go on.
constexpr u64 kAsleep = 250'000'000;
constexpr u32 kParked = 500;
constexpr u64 kExit = 10'000'000'000;  // for how long a program may take to end
constexpr u64 kTold = 10'000'000'000;  // for how long one computes before it is told
constexpr long kBetweenLooks = 100'000;
}  // namespace

// ---- Threads
Thread::Thread(Process& process, SharedThread& shared, unsigned core)
    : process_(process), shared_(shared), core_(core) {}
Thread::~Thread() {
  cpu().run(nullptr, 0);
  process_.device().give_core_back(core_);
}

testbench::HostCpu& Thread::cpu() const { return process_.device().node().core(core_); }

Cycle Thread::cycles_of(u64 picoseconds) const {
  const u64 period = process_.device().period();
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
  scheduled_ = false, deadline_ = engine::kNever;
  const Turn turn = shared_.turn.load(std::memory_order_acquire);
  if (turn == Turn::None) return 0;
  const u64 period = process_.device().period();
  shared_.now.store(now * period, std::memory_order_relaxed);
  shared_.simulated_on.store(u32(sched_getcpu()), std::memory_order_relaxed);
  shared_.cost.store(0, std::memory_order_relaxed);
  shared_.turn.store(Turn::Runs);
  wake(shared_);
  const bool was_silent = std::exchange(silent_, false);
  const bool saw_write = std::exchange(written_, false) && was_silent;
  silent_ = !process_.runs(shared_, spins_);
  if (silent_ && turn != Turn::Silent) silent_since_ = now;
  if (saw_write && !silent_) spins_ = true, found_ = last_written_;
  process_.take_posted();
  if (silent_) return 0;
  wait_ = shared_.wait, ring_ = shared_.ring;
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
  if (!scheduled_ && shared_.turn.load(std::memory_order_acquire) == Turn::Wants)
    resume(process_.device().node().now() + 1);
}
void Thread::resume_if_polling() {
  if (silent_ || wait_ != Wait::Completion) return;
  if (works_)
    written_ = true;
  else if (!scheduled_)
    resume(process_.device().node().now() + 1);
}
void Thread::resume_if_waiting(bool in_flight) {
  if (silent_ || (wait_ != Wait::Descriptor && wait_ != Wait::Memory)) return;
  if (in_flight) shared_.in_flight = 1;
  if (!scheduled_) resume(process_.device().node().now() + 1);
}

// Who spins in memory may wait for any byte, but most likely for the one of the last time. The
// longer a thread has waited the longer are the times between its turns for others: a turn in vain
// takes real time.
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
  scheduled_ = written_ = true, last_written_ = address + bytes - 1;
  cpu().notice_at(at, expected ? 0 : waited / kShare);
}
void Thread::event(Cycle at) {
  if (silent_ || wait_ != Wait::Descriptor) return;
  scheduled_ = true;
  cpu().interrupt_at(at);
}

bool Thread::pays() const {
  const bool waits = !silent_ && shared_.turn.load(std::memory_order_acquire) == Turn::Waits;
  const u64 takes = wait_ == Wait::Work ? shared_.picoseconds : works_ ? shared_.work : 0;
  return waits && takes && 2 * shared_.cost.load(std::memory_order_relaxed) >= takes;
}

// ---- Programs
Process::Process(u32 number, Device& device, const testbench::HostConfig& host, int socket,
                 IsDue due)
    : number_(number),
      device_(device),
      socket_(socket),
      due_(std::move(due)),
      memory_(memfd_create("hca turns", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  void* at = MAP_FAILED;
  if (memory_ && !ftruncate(memory_.get(), sizeof(SharedProcess)) &&
      !fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    at = mmap(nullptr, sizeof(SharedProcess), PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (at == MAP_FAILED)
    throw std::runtime_error(std::string("turns of a program: ") + std::strerror(errno));
  shared_ = static_cast<SharedProcess*>(at);
  shared_->costs = {host.post_send,  host.doorbell, host.post_recv,  host.poll,
                    host.completion, host.arm,      host.event,      host.create,
                    host.modify,     host.region,   host.region_page};
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (!getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) pid_ = peer.pid;
  // Simulated time waits for it from now on.
  shared_->threads[0].tid = u32(pid_);
  shared_->threads[0].turn = Turn::Wants;
  shared_->places = 1;
  if (pid_) exit_ = Descriptor(int(syscall(SYS_pidfd_open, pid_, 0)));
}
Process::~Process() {
  end();
  munmap(shared_, sizeof(SharedProcess));
}
void Process::await_exit() const {
  constexpr int kLongest = 1000;
  pollfd exit{exit_.get(), POLLIN, 0};
  if (exit_ && is_ending(pid_)) poll(&exit, 1, kLongest);
}
void Process::end() {
  for (auto& thread : threads_) thread.reset();
}

void Process::take_wake() {
  u64 count;
  if (read(wake_.get(), &count, sizeof count) < 0) return;  // it wrote nothing
}
void Process::add(Session& session) { sessions_.push_back(&session); }
void Process::remove(const Session& session) { std::erase(sessions_, &session); }
bool Process::has_other_devices() const {
  return std::ranges::any_of(sessions_, [&](const Session* s) { return &s->device() != &device_; });
}

// It is the program that says how many.
std::span<SharedThread> Process::shared_threads() const {
  const std::size_t places = shared_->places.load(std::memory_order_acquire);
  return std::span(shared_->threads).first(std::min(places, kMostThreads));
}

void Process::see_threads() {
  places_ = std::max(places_, shared_threads().size());
  for (std::size_t i = 0; i < places_; ++i) {
    SharedThread& shared = shared_->threads[i];
    const Turn turn = shared.turn.load(std::memory_order_acquire);
    if (turn == Turn::None) {
      threads_[i].reset();
      continue;
    }
    if (!threads_[i]) {
      const std::optional<unsigned> core = device_.take_core();
      if (!core) continue;  // it waits until another has ended
      threads_[i] = std::make_unique<Thread>(*this, shared, *core);
    }
    threads_[i]->resume_if_wanting();
  }
}
void Process::resume_polling() {
  for (const auto& thread : threads())
    if (thread) thread->resume_if_polling();
}
void Process::resume_waiting(bool in_flight) {
  for (const auto& thread : threads())
    if (thread) thread->resume_if_waiting(in_flight);
}

void Process::take_posted() {
  for (Session* session : sessions_) session->take_posted();
}

// Another host than its own is in step with it (Testbed::keep_in_step()).
Cycle Process::now_at(const Device& device) const {
  const u64 picoseconds = device.node().cpu.self.now() * device.period();
  return (picoseconds + device_.period() - 1) / device_.period();
}
void Process::written(const Device& device, u32 attachment, u64 address, u64 bytes,
                      bool completion) {
  const Cycle at = now_at(device);
  for (const auto& thread : threads())
    if (thread) thread->written(at, attachment, address, bytes, completion);
}
void Process::event(const Device& device) {
  const Cycle at = now_at(device);
  for (const auto& thread : threads())
    if (thread) thread->event(at);
}

bool Process::wants_others() const {
  return shared_->told.load(std::memory_order_acquire) ||
         std::ranges::any_of(shared_threads(), [](const SharedThread& thread) {
           return thread.turn.load(std::memory_order_acquire) == Turn::Wants;
         });
}

bool Process::has_threads() const {
  return std::ranges::any_of(threads(), [](const auto& thread) { return thread != nullptr; });
}

bool Process::works() const {
  return std::ranges::any_of(shared_threads(), [](const SharedThread& thread) {
    return thread.turn.load(std::memory_order_acquire) == Turn::Waits && thread.wait == Wait::Work;
  });
}

bool Process::pays() const {
  return std::ranges::any_of(threads(),
                             [](const auto& thread) { return thread && thread->pays(); });
}

bool Process::is_gone() const {
  pollfd end{socket_, 0, 0};
  return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLERR));
}

// Of a turn: when it is asked, and whether it has not answered.
struct Process::Question {
  u64 next;          // when, of the processor
  u64 asked_at = 0;  // the same, the last time
  u32 steps = kSteps;
  bool open = false, refused = false;
  u64 awake = 0;   // when it was seen so, since the turn began
  u32 parked = 0;  // looks on end at which it slept for a lock
};

// By its own account (testbench/time_library/spin.h).
bool Process::waits_for_memory(SharedThread& thread, bool spins, Question& question, u64 cpu_time) {
  const u32 asked = thread.asked.load(std::memory_order_relaxed);
  if (question.open) {
    const u32 finding = thread.finding.load(std::memory_order_acquire);
    if (finding >> kFindingBits == (asked & (~u32{0} >> kFindingBits))) {
      question.open = false;
      const auto found = Finding(finding & ((1u << kFindingBits) - 1));
      const bool guessed = found == Finding::Looks && (spins || cpu_time > kSeems);
      if (guessed) note_lost(thread, guesses_, false);
      return found == Finding::Waits || guessed;
    }
    // It is being examined; a question may get lost where the thread ends or has lost its turn.
    if (cpu_time < question.asked_at + kAskAgain) return false;
  }
  if (cpu_time < question.next || question.refused) return false;
  if ((question.refused = is_traced(pid_))) return false;
  take_posted();
  thread.steps = question.steps, thread.asked = asked + 1;
  question.open = !syscall(SYS_tgkill, pid_, thread.tid, kExamine);
  question.refused = !question.open && errno == EPERM;
  question.steps = std::min(kMostSteps, u32(kAskLater) * question.steps);
  question.asked_at = cpu_time;
  question.next = std::min(kAskLater * cpu_time, cpu_time + kAskAgain);
  return false;
}

// The simulation goes on without it.
bool Process::note_lost(const SharedThread& thread, u64& count, bool asleep) {
  ++count;
  if (first_lost_.empty())
    first_lost_ = whereabouts(pid_, thread.tid, asleep ? 0 : thread.at.load());
  return true;
}

bool Process::is_silent(SharedThread& thread, bool spins, Question& question, u64 cpu_time,
                        u64 real_time) {
  if (shared_->ends.load(std::memory_order_acquire)) return real_time > kExit;
  if (waits_for_memory(thread, spins, question, cpu_time)) return true;
  if (question.refused && cpu_time > kSpins) {
    take_posted();
    const PatienceRow& patience = kPatience[u8(due_())];
    if (cpu_time > (spins ? patience.spins : patience.computes))
      return note_lost(thread, guesses_, false);
  }
  if (!sleeps_in_kernel(pid_, thread.tid)) {
    question.awake = real_time, question.parked = 0;
    return false;
  }
  question.parked = is_parked(pid_, thread.tid) ? question.parked + 1 : 0;
  const bool sleeps = real_time - question.awake > kAsleep || question.parked >= kParked;
  return sleeps && note_lost(thread, sleeps_, true);
}

// Once: a program that waits for what nobody here can see would look like one that hangs.
void Process::tell_stands(u64 cpu_time) {
  if (cpu_time < kTold || std::exchange(told_stands_, true)) return;
  fmt::print("{}: a program has computed for {} s without a call: simulated time stands\n",
             device_.name(), kTold / 1'000'000'000);
  std::fflush(stdout);
}

bool Process::runs(SharedThread& thread, bool spins) {
  const auto has_turn = [&] { return thread.turn.load(std::memory_order_acquire) == Turn::Runs; };
  watch_for(thread, Turn::Runs, thread.processor);
  if (has_turn()) sleep_on(thread, Turn::Runs, kBetweenLooks);
  if (has_turn()) {
    u64 cpu = 0, real = 0;
    u32 made = 0;
    Question question{};
    const auto begin_patience = [&] {
      question = {.next = spins ? kAskWaiting : kAsk};
      cpu = cpu_time_of(pid_), real = nanoseconds_of(CLOCK_MONOTONIC);
      made = thread.threads_made.load(std::memory_order_relaxed);
    };
    begin_patience();
    while (has_turn()) {
      sleep_on(thread, Turn::Runs, kBetweenLooks);
      if (!has_turn()) break;
      if ((gone_ = is_gone())) return false;
      tell_stands(cpu_time_of(pid_) - cpu);
      if (thread.threads_made.load(std::memory_order_relaxed) != made) begin_patience();
      Turn runs = Turn::Runs;
      if (is_silent(thread, spins, question, cpu_time_of(pid_) - cpu,
                    nanoseconds_of(CLOCK_MONOTONIC) - real) &&
          thread.turn.compare_exchange_strong(runs, Turn::Silent))
        return false;
    }
  }
  return thread.turn.load(std::memory_order_acquire) != Turn::None;
}
}  // namespace hca::attach
