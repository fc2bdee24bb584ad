// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/engine/random.h"
#include "model/engine/wait.h"
#include "model/engine/wheel.h"

namespace hca::engine {
enum class Mode { Sleep, EveryCycle };

// Up to 64 blocks on one clock. In each cycle the due blocks tick in any order: links show new
// items one cycle later, so no block can observe the order, and no commit phase is needed.
// docs/design/engine.md has the contract.
class Domain {
 public:
  struct Options {
    Mode mode = Mode::Sleep;
    unsigned shuffle_seed = 0;       // 0: fixed order
    unsigned stall_per_256 = 0;      // tests: a block is not ticked in random cycles, a function of
                                     // (name, cycle, stall_seed) only
    const char* never_stalled = "";  // names, separated by blanks
    u64 stall_seed = 0;
  };
  using Rearm = void (*)(void* host, Cycle at);

  explicit Domain(Options options) : options_(options), order_(options.shuffle_seed) {
    note_checks();
  }
  Domain(const Domain&) = delete;

  // Registers a block with a public tick(); returns its bit. The name must outlive the domain.
  template <class B>
  u64 add(B& block, const char* name) {
    if (last_) broken("registered after a block that ticks last", name, 0);
    return enter(block, name);
  }
  // The same for a block that ticks after all others of a cycle, independent of their order: its
  // changes lie between two cycles. Several such blocks tick in order of registration; no other
  // block may be registered after them.
  template <class B>
  u64 add_last(B& block, const char* name) {
    const u64 bit = enter(block, name);
    last_ |= bit;
    return bit;
  }

  Cycle now() const { return now_; }
  Cycle next() const { return options_.mode == Mode::EveryCycle ? now_ + 1 : wheel_.next(now_); }
  // True if no block is due in any later cycle. If work is left, this is a hang, in every mode.
  bool asleep() const { return wheel_.next(now_) == kNever; }

  // Called by the blocks of this domain while it runs: ticks `blocks`, at least one, in a later
  // cycle.
  void wake_next(u64 blocks) { wheel_.set_near(blocks, now_ + 1); }
  [[gnu::always_inline]] void wake(u64 blocks, Cycle at) {
    if (!Wheel::is_near(at, now_)) [[unlikely]]
      return wake_far(blocks, at);
    wheel_.set_near(blocks, at);
  }
  // The same from outside; a sleeping host may have to be notified.
  void wake_from_outside(u64 blocks, Cycle at) {
    wake(blocks, at);
    if (at < armed_) rearm_(host_, at);
  }

  // A block pushed, popped or took; only used by the sleep check.
  void acted(u64 block) { acted_ |= block; }

  // Runs all due cycles before `end`, which is later than now(); returns next().
  Cycle run_until(Cycle end) { return run_from(next(), end); }
  // The same for a caller that already has next(): `at` must be that cycle.
  Cycle run_from(Cycle at, Cycle end) {
    if (checked_) [[unlikely]]
      return run_checked(end);
    if (sample_) [[unlikely]]
      return run_sampled(at, end);
    at = run_plain(at, end);
    now_ = end - 1;
    return at;
  }

  // A host (SystemC) that sleeps until cycle `at` is notified of earlier wake-ups.
  void host_sleeps(void* host, Rearm rearm, Cycle at) {
    host_ = host;
    rearm_ = rearm;
    armed_ = at;
  }
  // The cycle until which the host slept: next(), if it was notified of all wake-ups.
  Cycle host_runs() { return std::exchange(armed_, 0); }
  u64 ticks() const { return ticks_; }
  // The last cycle in which a block was due, in any mode.
  Cycle worked_at() const { return worked_; }

  // The name of the lowest block in the mask.
  const char* name_of(u64 blocks) const {
    return blocks ? names_[unsigned(std::countr_zero(blocks))] : "outside";
  }
  // Links, budgets and mailboxes register here when connected; their addresses must not change.
  void watch(Watched watched) { watched_.push_back(watched); }
  const std::vector<Watched>& watched() const { return watched_; }
  // The same for objects that count the cycles of their waits.
  void watch(const Stalls& stalls) { stalls_.push_back(stalls); }
  const std::vector<Stalls>& stalls() const { return stalls_; }
  // Called before and after all blocks of each executed cycle; costs nothing if none is set. A null
  // `behind` removes the observer `who`.
  using Observer = void (*)(void* who, Cycle at);
  void observe(void* who, Observer before, Observer behind) {
    std::erase_if(observers_, [who](const Observation& o) { return o.who == who; });
    if (behind) observers_.push_back({who, before, behind});
    note_checks();
  }
  // Called before the blocks of the first cycle with a due block from the one on that the last call
  // returned, which is later than that call's; at first in the next cycle. One at a time; null
  // removes it. A simulation that is only sampled runs at full speed between the samples.
  using Sample = Cycle (*)(void* who, Cycle at);
  void sample(void* who, Sample look) {
    sampler_ = who, sample_ = look;
    sample_from_ = 0;
  }
  // Lists who waits for what since which cycle, oldest first, and where to look, for a person.
  // Empty if nobody waits.
  std::string stuck_report() const;
  std::vector<Wait> waits() const;

 private:
  struct Observation {
    void* who;
    Observer before, behind;
  };

  // One function for each block type and place in the domain: the processor predicts which one is
  // next, and finds the block without waiting for the cycle's mask. (One function per place alone,
  // which looks up the type, is 1 to 3 % slower.) A tick() defined in its class must be short or
  // not inlined, because it is compiled for each place.
  using Tick = void (*)(const Domain& domain);
  template <class B, unsigned kPlace>
  [[gnu::hot]] static void tick_at(const Domain& domain) {
    static_cast<B*>(domain.places_[kPlace].block)->tick();
  }
  template <class B>
  static constexpr std::array<Tick, 64> kTicks = [
  ]<unsigned... kPlace>(std::integer_sequence<unsigned, kPlace...>) {
    return std::array<Tick, 64>{tick_at<B, kPlace>...};
  }
  (std::make_integer_sequence<unsigned, 64>());
  template <class B>
  u64 enter(B& block, const char* name) {
    if (count_ == places_.size()) broken("more than 64 blocks in a domain", name, 0);
    places_[count_] = {&block, kTicks<B>[count_]};
    enter_name(name);
    return u64{1} << count_++;
  }

  // Runs the due cycles from `at` on, before `end`; returns the next one.
  [[gnu::always_inline]] Cycle run_plain(Cycle at, Cycle end) {
    while (at < end) {
      // Up to this cycle all due wake-ups are near, including those requested meanwhile.
      const Cycle near_end = std::min(end, wheel_.bring_near(at));
      do {
        now_ = at;
        u64 due = wheel_.take_near(at);
        do {
          tick(lowest_bit(due));
          ++ticks_;
        } while (due &= due - 1);
        at = wheel_.leave_near(at);
      } while (at < near_end);
      worked_ = now_;
      at = std::min(at, wheel_.next_far());
    }
    return at;
  }
  void tick(u64 index) const { places_[index].tick(*this); }
  void note_checks() {
    checked_ = options_.mode == Mode::EveryCycle || options_.shuffle_seed ||
               options_.stall_per_256 || !observers_.empty();
  }
  [[gnu::cold, gnu::noinline]] void wake_far(u64 blocks, Cycle at);
  void enter_name(const char* name);
  Cycle run_checked(Cycle end);
  Cycle run_sampled(Cycle at, Cycle end);
  unsigned list(u64 run, std::array<u8, 64>& order);
  bool stalled(unsigned index) const;

  struct Place {
    void* block = nullptr;
    Tick tick = nullptr;
  };
  // First the members that each cycle needs, in few cache lines.
  alignas(64) Cycle now_ = 0;
  Cycle armed_ = 0;
  u64 acted_ = 0, ticks_ = 0;
  Cycle worked_ = 0;
  void* host_ = nullptr;
  Rearm rearm_ = nullptr;
  u64 last_ = 0;  // blocks that tick after all others
  unsigned count_ = 0;
  bool checked_ = false;  // cycles are run by run_checked()
  Sample sample_ = nullptr;
  std::array<Place, 64> places_{};
  Wheel wheel_;
  Options options_;
  Random order_;
  u64 never_stalled_ = 0;
  std::array<u64, 64> name_hashes_{};
  std::array<const char*, 64> names_{};
  std::vector<Watched> watched_;
  std::vector<Stalls> stalls_;
  std::vector<Observation> observers_;
  void* sampler_ = nullptr;
  Cycle sample_from_ = 0;
};

// A block's handle on its domain.
struct Waker {
  Domain* domain = nullptr;
  u64 block = 0;
  Cycle now() const { return domain->now(); }
  void wake(Cycle at) const { domain->wake(block, at); }
  void wake_from_outside(Cycle at) const { domain->wake_from_outside(block, at); }
  void acted() const { domain->acted(block); }
  const char* name() const { return domain ? domain->name_of(block) : "unconnected"; }
};

// Common base of all blocks: a clock and a way to be ticked later. No virtual functions: a domain
// calls tick() directly.
class Block {
 public:
  Waker self;

 protected:
  Cycle now() const { return self.now(); }
  void wake_at(Cycle at) const { self.wake(at); }
};
}  // namespace hca::engine
