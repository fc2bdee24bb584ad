// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/engine/domain.h"
#include "model/engine/knob.h"
#include "model/engine/probe.h"
#include "model/engine/rate.h"

namespace hca::testbench {
using engine::Cycle;

// How programs wait for completions: Poll: they poll the queue continuously; Event: they arm it and
// sleep until the message of its interrupt vector is in memory.
enum class HostWait : u8 { Poll, Event };
inline constexpr std::array<std::string_view, 2> kHostWaitNames{"poll", "event"};

// The cost of host software's work, in picoseconds.
struct HostConfig {
  u64 post_send = 40'000, doorbell = 0, post_recv = 15'000;
  u64 notice = 40'000, poll = 0, completion = 10'000;
  HostWait wait = HostWait::Poll;
  u64 arm = 50'000, interrupt = 2'000'000, event = 150'000;
  u64 warm_up = 0, push_line = 0, doorbell_lock = 0, doorbell_contention = 0;
  u64 queue_lock = 0, queue_contention = 0;
  u32 combining_buffers = 10, doorbell_registers = 0;
  // For attached programs: costs in their kernel. Orders of magnitude of today's adapters: a queue
  // pair takes hundreds of microseconds from its creation to RTS (KRCORE, USENIX ATC 2022); pinning
  // and translating 1 GiB in pages of 4 KiB takes some 70 ms.
  u64 create = 100'000'000, modify = 30'000'000, region = 10'000'000, region_page = 250'000;
};
}  // namespace hca::testbench

template <>
struct hca::engine::Knobs<hca::testbench::HostConfig> {
  using Config = testbench::HostConfig;
  static constexpr std::string_view block = "host";
  static constexpr std::string_view sentence = "the core that runs the benchmark";
  static constexpr u64 kMax = 1'000'000'000;
  static constexpr auto rows = make_rows(
      knob("post_send", &Config::post_send, Unit::Picoseconds, 0, kMax,
           "to build a send WQE, and to ring its doorbell if `doorbell` is 0"),
      knob("doorbell", &Config::doorbell, Unit::Picoseconds, 0, kMax,
           "to ring a send doorbell, once for a list of WQEs; 0: included in post_send"),
      knob("post_recv", &Config::post_recv, Unit::Picoseconds, 0, kMax,
           "to build a receive WQE and to ring its doorbell"),
      knob("notice", &Config::notice, Unit::Picoseconds, 0, kMax,
           "until a polling core sees a write by the HCA"),
      knob("poll", &Config::poll, Unit::Picoseconds, 0, kMax,
           "to poll a completion queue successfully"),
      knob("completion", &Config::completion, Unit::Picoseconds, 0, kMax,
           "to take a completion from its queue"),
      knob("wait", &Config::wait, testbench::kHostWaitNames,
           "how programs wait for completions: by polling, or asleep until an interrupt"),
      knob("arm", &Config::arm, Unit::Picoseconds, 0, kMax,
           "to arm a completion queue and to poll it once more"),
      knob("interrupt", &Config::interrupt, Unit::Picoseconds, 0, kMax,
           "from an interrupt's message in memory to the awakened program"),
      knob("event", &Config::event, Unit::Picoseconds, 0, kMax,
           "to take the entries of the event queue and to arm it again"),
      knob("warm_up", &Config::warm_up, Unit::Picoseconds, 0, 1000 * kMax,
           "once, with the first post of a core: wake-up and mapping of its pages"),
      knob("push_line", &Config::push_line, Unit::Picoseconds, 0, kMax,
           "for each 64 bytes of a pushed WQE to leave the core's write-combining buffers, after "
           "the earlier ones"),
      knob("combining_buffers", &Config::combining_buffers, Unit::Count, 1, 256,
           "write-combining buffers of a core, 64 bytes each: a pushing core waits when all are "
           "full"),
      knob("doorbell_registers", &Config::doorbell_registers, Unit::Count, 0, 256,
           "registers for send doorbells: thread i rings register i modulo this number; 0: each "
           "thread has its own"),
      knob("doorbell_lock", &Config::doorbell_lock, Unit::Picoseconds, 0, kMax,
           "time that a ring locks its register: the thread takes that much longer, and others "
           "wait meanwhile"),
      knob("doorbell_contention", &Config::doorbell_contention, Unit::Picoseconds, 0, kMax,
           "added to the lock time for each thread that already waits: the hand-over of a "
           "contended lock's cache line is slow"),
      knob("queue_lock", &Config::queue_lock, Unit::Picoseconds, 0, kMax,
           "with share_qps: time that a post locks its queue pair, or a poll its completion queue, "
           "beside its own work; others wait until both are done"),
      knob("queue_contention", &Config::queue_contention, Unit::Picoseconds, 0, kMax,
           "added to this lock time for each thread that is before it"),
      knob("create", &Config::create, Unit::Picoseconds, 0, 1000 * kMax,
           "for attached programs in simulated time: to create a CQ, queue pair, SRQ or window"),
      knob("modify", &Config::modify, Unit::Picoseconds, 0, 1000 * kMax,
           "for attached programs: to modify or destroy such an object, or to deregister a region"),
      knob("register", &Config::region, Unit::Picoseconds, 0, 1000 * kMax,
           "for attached programs: to register a region, without its pages"),
      knob("register_page", &Config::region_page, Unit::Picoseconds, 0, kMax,
           "for attached programs: to pin and translate each page of 4 KiB of a region"));
};

namespace hca::testbench {
// The activity of a core, and the knob with its duration.
enum class HostCost : u8 {
  PostSend,
  Doorbell,
  PostReceive,
  Poll,
  Completion,
  Arm,
  Event,
  WarmUp,
  DoorbellLock,
  QueueLock,
  Serve,
  Count
};
inline constexpr std::array<std::string_view, std::size_t(HostCost::Count)> kHostCostKnobs{
    "host.post_send",     "host.doorbell",   "host.post_recv",       "host.poll",
    "host.completion",    "host.arm",        "host.event",           "host.warm_up",
    "host.doorbell_lock", "host.queue_lock", "workload[].serve_time"};
using HostCosts = std::array<Cycle, std::size_t(HostCost::Count)>;

// Events of a host's probe: a doorbell is rung; it arrives at the BAR; the HCA wrote to a
// completion queue (its CQN); the core reads it.
enum class HostStep : u16 { Rung, AtBar, CqeWritten, Looked };
inline constexpr std::array<std::string_view, 4> kHostStepNames{"rung", "at BAR", "CQE written",
                                                                "looked"};

// The state of an open loop's schedule.
struct Offer {
  u64 messages = 0, dropped = 0;  // no room in its queue
  Cycle last = 0;                 // scheduled time of the last one
  std::string_view knob{};        // the knob that sets the number
  u32 entry = 0;                  // of the workload
  u64 queued = 0, room = 0;       // the most that waited in its queue so far, of so many
};

// A message whose completion a program has taken.
struct TakenMessage {
  Cycle at;
  u32 qpn;
  u64 bytes;
  u8 operation;        // testbench::Operation
  u32 entry = 0;       // of the workload
  Cycle unlocked = 0;  // when its core last released a doorbell register or a shared queue
};

// Reports a host's activity to an observer: busy cores, writes to the BAR and their arrival, CQEs
// written by the HCA, and messages whose completion a program has taken.
class HostMeter {
 public:
  virtual ~HostMeter() = default;
  virtual void worked(Cycle /*at*/, Cycle /*cycles*/, u32 /*core*/) {}
  virtual void rang(Cycle /*at*/, Cycle /*at_bar*/, u32 /*offset*/, std::span<const u8> /*data*/) {}
  virtual void wrote(Cycle /*at*/, u32 /*cqn*/, u64 /*cqes*/) {}
  virtual void completed(const TakenMessage& /*message*/) {}
  // A sleeping program will be awake this many cycles after its interrupt message.
  virtual void wakes(Cycle /*at*/, Cycle /*cycles*/) {}
  // A program has waited for completions in this interval because all messages that it may have are
  // in flight. Called once at its first post, with an empty interval.
  virtual void was_full(const void* /*program*/, Cycle /*since*/, Cycle /*until*/) {}
  // The same for an open loop.
  virtual void offers(const void* /*program*/, const Offer& /*offer*/) {}
};

// A program of host software, one action after the other.
class Program {
 public:
  virtual ~Program() = default;
  // Performs one action now; returns its cycles. 0: nothing to do until memory changes.
  virtual Cycle act(Cycle now) = 0;
  // After such an action: true if only an interrupt can change that.
  virtual bool waits_for_events() const { return false; }
  // After an action without work: when there will be work, independent of memory.
  virtual Cycle wakes_at() const { return engine::kNever; }
  virtual bool finished() const = 0;
  virtual bool failed() const = 0;
};

// A core that runs one program. It is a block of its HCA's domain and ticks after all others, so it
// sees the HCA's writes in the cycle in which they happen. It sleeps where real software polls.
class HostCpu : public engine::Block {
 public:
  // `first`: the first core of the host; nullptr: this one.
  HostCpu(const HostConfig& config, u64 hertz, HostCpu* first = nullptr)
      : post_send(cycles(config.post_send, hertz)),
        doorbell(engine::cycles_from_picoseconds(config.doorbell, hertz)),
        post_recv(cycles(config.post_recv, hertz)),
        notice_cycles(cycles(config.notice, hertz)),
        poll(engine::cycles_from_picoseconds(config.poll, hertz)),
        completion(cycles(config.completion, hertz)),
        arm(cycles(config.arm, hertz)),
        interrupt_cycles(cycles(config.interrupt, hertz)),
        event(cycles(config.event, hertz)),
        by_events(config.wait == HostWait::Event),
        warm_up_(engine::cycles_from_picoseconds(config.warm_up, hertz)),
        first_(first ? *first : *this) {}

  // At least one cycle each, except `doorbell` and `poll`: an action is not free.
  const Cycle post_send, doorbell, post_recv, notice_cycles, poll, completion, arm,
      interrupt_cycles, event;
  const bool by_events;
  u32 number = 0;  // among the cores of its host
  engine::Probe probe;
  std::vector<HostMeter*> meters;  // held by the first core, for the whole host

  // The current cost of a list of this many posts.
  Cycle take_posts(u32 count) {
    return pay(HostCost::PostSend, count * post_send) + pay(HostCost::Doorbell, doorbell) +
           pay(HostCost::WarmUp, std::exchange(warm_up_, 0));
  }
  // The cost of finding and taking this many completions, and of posting this many receive WQEs.
  Cycle take_completions(u32 count, u32 receives = 0) {
    return pay(HostCost::Poll, poll) + pay(HostCost::Completion, count * completion) +
           pay(HostCost::PostReceive, receives * post_recv);
  }
  // Counts the cost of an action.
  Cycle pay(HostCost cost, Cycle cycles) {
    first_.costs_[std::size_t(cost)] += cycles;
    return cycles;
  }
  // For all cores of the host.
  const HostCosts& costs() const { return first_.costs_; }
  // Called from outside the simulation, for a cycle that has not begun.
  void run(Program* program, Cycle at) {
    program_ = program, acts_at_ = at, finished_at_ = engine::kNever, idle_ = false;
    if (program) self.wake_from_outside(at);
  }
  // When the program finished; kNever: not yet. A chip runs ahead of the kernel, so outside the
  // simulation only this shows whether the program has finished.
  Cycle finished_at() const { return finished_at_; }
  // The HCA wrote something that the program polls, in this cycle of the HCA.
  void notice() {
    see_whether_finished();
    if (program_ && idle_ && !program_->waits_for_events()) act_in(notice_cycles);
  }
  // The same for an interrupt: the message of a vector is in memory.
  void interrupt() {
    if (!program_ || !idle_ || !act_in(interrupt_cycles)) return;
    tell([&](HostMeter& meter) { meter.wakes(now(), interrupt_cycles); });
  }
  // The same for any HCA's write in cycle `at`, not before the last one of this host; `later`:
  // extra cycles during which the core does other work.
  void notice_at(Cycle at, Cycle later = 0) {
    if (program_ && idle_ && !program_->waits_for_events())
      act_from_outside(at + notice_cycles + later);
  }
  void interrupt_at(Cycle at) {
    if (program_ && idle_) act_from_outside(at + interrupt_cycles);
  }
  // The program sleeps until an interrupt.
  bool sleeps() const { return program_ && idle_ && program_->waits_for_events(); }
  // The program of a core of this host is acting in this cycle.
  bool is_acting() const { return first_.acting_; }
  // The core that acts now; nullptr: none.
  HostCpu* acting() const { return first_.acting_; }
  // The action takes `cycles` longer; `waits` of these are only waiting.
  void hold(Cycle cycles, Cycle waits) { held_ += cycles, waits_ += waits; }
  // The same for what the core waits for and then locks until `until`.
  void lock(Cycle cycles, Cycle waits, Cycle until, HostCost cost) {
    hold(cycles, waits), pay(cost, cycles - waits), locked_until_ = until;
  }
  Cycle held() const { return held_; }
  // A write of this core waits for room in the HCA: the core does nothing until it has left.
  void hold_back() { ++behind_; }
  void go_on() {
    if (--behind_) return;
    acts_at_ = std::max(acts_at_, now() + 1);
    if (acts_at_ != engine::kNever) wake_at(acts_at_);
  }
  // Calls fn(meter) for each meter of the host.
  template <class Fn>
  void tell(Fn&& fn) const {
    for (HostMeter* meter : first_.meters) fn(*meter);
  }
  // A program has taken the completion of a message that this host sent.
  void completed(TakenMessage message) {
    message.unlocked = locked_until_;
    tell([&](HostMeter& meter) { meter.completed(message); });
  }
  [[gnu::noinline]] void tick() {
    if (!program_ || program_->failed() || behind_ || now() < acts_at_) return;
    // After the end of a program this may or may not run: a chip runs ahead of the kernel.
    if (finished_at_ == engine::kNever) probe.event(now(), HostStep::Looked);
    first_.acting_ = this;
    const Cycle taken = program_->act(now()) + held_;
    held_ = 0;
    first_.acting_ = nullptr;
    tell([&](HostMeter& meter) { meter.worked(now(), taken - waits_, number); });
    waits_ = 0;
    see_whether_finished();
    idle_ = !taken;
    acts_at_ = taken ? now() + taken : program_->wakes_at();
    if (acts_at_ != engine::kNever) wake_at(acts_at_);
  }

 private:
  static Cycle cycles(u64 picoseconds, u64 hertz) {
    return std::max<Cycle>(1, engine::cycles_from_picoseconds(picoseconds, hertz));
  }
  // False: it acts earlier anyway.
  bool act_in(Cycle cycles) {
    if (acts_at_ <= now() + cycles) return false;
    acts_at_ = now() + cycles;
    wake_at(acts_at_);
    return true;
  }
  void act_from_outside(Cycle at) {
    if (acts_at_ <= at) return;
    acts_at_ = at;
    self.wake_from_outside(at);
  }
  void see_whether_finished() {
    if (finished_at_ == engine::kNever && program_ && program_->finished()) finished_at_ = now();
  }
  Program* program_ = nullptr;
  Cycle finished_at_ = engine::kNever;
  Cycle warm_up_;
  HostCpu& first_;              // first core of the host
  HostCpu* acting_ = nullptr;   // the acting core of the host
  Cycle held_ = 0, waits_ = 0;  // by the current action
  u32 behind_ = 0;              // writes that wait for room in the HCA
  Cycle locked_until_ = 0;      // by the last doorbell that took a register
  HostCosts costs_{};           // in the first core, for the whole host
  bool idle_ = false;           // waits for memory to change
  Cycle acts_at_ = engine::kNever;
};

// The cores of a host except the first: one block of the domain, which serves all of them.
class HostCores : public engine::Block {
 public:
  [[gnu::noinline]] void tick() {
    for (const auto& core : cores) core->tick();
  }
  std::vector<std::unique_ptr<HostCpu>> cores;
};
}  // namespace hca::testbench
