// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/process.h"

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

#include "testbench/programs/server/thread_state.h"
#include "testbench/programs/server/whereabouts.h"

namespace hca::attach {
namespace {
// Times are in nanoseconds, of the processor where a thread computes. When a thread that makes no
// call is examined first: if it is known to wait in memory, and else. Then after four times as
// long, for four times as many instructions.
constexpr u64 kAskWaiting = 30'000, kAsk = 300'000, kAskLater = 4, kAskAgain = 300'000'000;
constexpr u32 kSteps = 256, kMostSteps = 8192;
// Before a thread that only seems to wait is taken for one that does, the first time.
constexpr u64 kSeems = 4'000'000;
// How long a thread that cannot be examined (another user's process, or under a debugger) may run
// before the simulation continues without it: if nobody else has work, if others have, and if it
// has waited in memory before.
constexpr u64 kAlone = 1'000'000'000, kWithOthers = 20'000'000, kSpins = 200'000;
struct PatienceRow {
  u64 computes, spins;
};
constexpr std::array kPatience{PatienceRow{kWithOthers, kSpins},       // Due::Hca
                               PatienceRow{kWithOthers, kWithOthers},  // Program
                               PatienceRow{kAlone, kWithOthers},       // ProgramLater
                               PatienceRow{kAlone, kAlone}};           // Nobody
// How long a thread may sleep in an unknown place of the kernel; and how many checks it may sleep
// for a lock while no thread of its program runs that could release it.
constexpr u64 kAsleep = 250'000'000;
constexpr u32 kParked = 500;
constexpr u64 kExit = 10'000'000'000;  // for how long a program may take to end
constexpr u64 kTold = 10'000'000'000;  // for how long one computes before it is told
constexpr long kBetweenLooks = 100'000;
}  // namespace

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
  shared_->threads[0].activity = Activity::Wants;
  shared_->places = 1;
  threads_ = std::make_unique<ProgramThreads>(*this, *shared_);
  if (pid_) exit_ = Descriptor(int(syscall(SYS_pidfd_open, pid_, 0)));
}
Process::~Process() {
  threads_.reset();
  munmap(shared_, sizeof(SharedProcess));
}
void Process::await_exit() const {
  constexpr int kLongest = 1000;
  pollfd exit{exit_.get(), POLLIN, 0};
  if (exit_ && is_ending(pid_)) poll(&exit, 1, kLongest);
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
  threads_->written(now_at(device), attachment, address, bytes, completion);
}
void Process::event(const Device& device) { threads_->event(now_at(device)); }

bool Process::is_gone() const {
  pollfd end{socket_, 0, 0};
  return poll(&end, 1, 0) == 1 && (end.revents & (POLLHUP | POLLERR));
}

// For a turn: when the thread is examined, and whether it has not answered.
struct Process::Question {
  u64 next;          // when, of the processor
  u64 asked_at = 0;  // the same, the last time
  u32 steps = kSteps;
  bool open = false, refused = false;
  u64 awake = 0;   // when it was seen so, since the turn began
  u32 parked = 0;  // looks on end at which it slept for a lock
};

// By its own account (testbench/programs/time_library/spin.h).
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
  thread.steps = question.steps;
  thread.asked = asked + 1;
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
    question.awake = real_time;
    question.parked = 0;
    return false;
  }
  question.parked = is_parked(pid_, thread.tid) ? question.parked + 1 : 0;
  const bool sleeps = real_time - question.awake > kAsleep || question.parked >= kParked;
  return sleeps && note_lost(thread, sleeps_, true);
}

// Reported once: a program that waits for something unknown would look like a hang.
void Process::tell_stands(u64 cpu_time) {
  if (cpu_time < kTold || std::exchange(told_stands_, true)) return;
  fmt::print("{}: a program has computed for {} s without a call: simulated time stands\n",
             device_.name(), kTold / 1'000'000'000);
  std::fflush(stdout);
}

bool Process::runs(SharedThread& thread, bool spins) {
  const auto has_turn = [&] {
    return thread.activity.load(std::memory_order_acquire) == Activity::Runs;
  };
  watch_for(thread, Activity::Runs, thread.processor);
  if (has_turn()) sleep_on(thread, Activity::Runs, kBetweenLooks);
  if (has_turn()) {
    u64 cpu = 0, real = 0;
    u32 made = 0;
    Question question{};
    const auto begin_patience = [&] {
      question = {.next = spins ? kAskWaiting : kAsk};
      cpu = cpu_time_of(pid_);
      real = nanoseconds_of(CLOCK_MONOTONIC);
      made = thread.threads_made.load(std::memory_order_relaxed);
    };
    begin_patience();
    while (has_turn()) {
      sleep_on(thread, Activity::Runs, kBetweenLooks);
      if (!has_turn()) break;
      if ((gone_ = is_gone())) return false;
      tell_stands(cpu_time_of(pid_) - cpu);
      if (thread.threads_made.load(std::memory_order_relaxed) != made) begin_patience();
      Activity runs = Activity::Runs;
      if (is_silent(thread, spins, question, cpu_time_of(pid_) - cpu,
                    nanoseconds_of(CLOCK_MONOTONIC) - real) &&
          thread.activity.compare_exchange_strong(runs, Activity::Silent))
        return false;
    }
  }
  return thread.activity.load(std::memory_order_acquire) != Activity::None;
}
}  // namespace hca::attach
