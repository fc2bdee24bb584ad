// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <systemc>

#include "model/engine/domain.h"
#include "model/engine/rate.h"
#include "model/systemc/sc_hosts.h"

namespace hca {
// Runs a domain inside SystemC. The kernel's time is divided into windows of `ahead` cycles; at the
// beginning of a window the domain runs to its end. More than one cycle is exact if nothing from
// outside arrives earlier than `ahead` cycles after it was sent (wire or socket latency). Domains
// with the same clock and `ahead` are due together.
class DomainHost final : private DomainHosts::Host {
 public:
  DomainHost(engine::Domain& domain, sc_core::sc_time period, Cycle cycles_ahead)
      : domain_(domain), units_(period.value()), period_(period), ahead_(cycles_ahead) {
    set_ahead(cycles_ahead);
    for (Cycle c = 0; c < kStep; ++c) {
      steps_[c] = sc_core::sc_time::from_value(c * units_.value());
      strides_[c] = sc_core::sc_time::from_value(c * kStep * units_.value());
    }
    hosts_->add(*this);
    wake_at(domain_.next());
  }
  ~DomainHost() override { hosts_->remove(*this); }

  u64 activations() const { return activations_; }
  void set_ahead(Cycle cycles) {
    ahead_ = engine::Divisor(cycles);
    ahead = cycles * units_.value();
    hosts_->forget_last();
  }
  Cycle ahead_cycles() const { return ahead_.value(); }
  const sc_core::sc_time& period() const { return period_; }
  // The cycle that contains the kernel's time.
  Cycle cycle() const { return units_.quotient(hosts_->now()); }
  // The first cycle edge not before `delay` after the kernel's time.
  Cycle cycle_behind(const sc_core::sc_time& delay) const {
    return units_.quotient(hosts_->now() + delay.value() + units_.value() - 1);
  }
  // The distance from the kernel's time to a cycle of the domain. delay_in_run(): only for calls
  // that the domain makes while it runs; delay_to(): for any call.
  sc_core::sc_time delay_in_run(Cycle at) {
    if (at - base_ >= kSteps) [[unlikely]]
      take_base(at);
    return to_base_ + behind_base(at);
  }
  sc_core::sc_time delay_to(Cycle at) const {
    if (hosts_->is_running() && started_ == hosts_->now() && at - base_ < kSteps)
      return to_base_ + behind_base(at);
    return sc_core::sc_time::from_value(at * units_.value()) - sc_core::sc_time_stamp();
  }

 private:
  [[gnu::hot]] void run(u64 reached) override {
    ++activations_;
    if (const u64 now = hosts_->now(); now != started_) [[unlikely]] {
      started_ = now;
      take_base(first_edge());
    }
    const Cycle next = domain_.host_runs();
    sleep_until(domain_.run_from(next, std::min(last_end_cycle_, units_.quotient(reached))));
  }
  void set_last(u64 last) override {
    if (next_at != start_of(domain_.next()))
      engine::broken("woken from outside without notifying the host (wake_from_outside)",
                     "of a domain", domain_.next());
    last_end_cycle_ = window_of(units_.quotient(last)) + ahead_.value();
    last_end =
        last_end_cycle_ > units_.quotient(kNever) ? kNever : last_end_cycle_ * units_.value();
  }
  u64 due_at() const override {
    if (next_at == kNever) return kNever;
    return std::max(window_of(units_.quotient(next_at)), cycle()) * units_.value();
  }
  // The first cycle edge not before the kernel's time of this activation.
  Cycle first_edge() const { return units_.quotient(started_ + units_.value() - 1); }
  sc_core::sc_time behind_base(Cycle at) const {
    return strides_[(at - base_) / kStep] + steps_[(at - base_) % kStep];
  }
  // Caches sc_time values around `at`: sc_time::from_value() costs a kernel call.
  [[gnu::cold, gnu::noinline]] void take_base(Cycle at) {
    base_ = std::max(first_edge(), at < kSteps / 2 ? 0 : at - kSteps / 2);
    to_base_ = sc_core::sc_time::from_value(base_ * units_.value() - started_);
  }
  u64 start_of(Cycle at) const { return at == kNever ? kNever : at * units_.value(); }
  // The beginning of the window in which cycle `at` runs.
  Cycle window_of(Cycle at) const { return ahead_.rounded_down(at); }
  void sleep_until(Cycle at) {
    domain_.host_sleeps(
        this, [](void* host, Cycle c) { static_cast<DomainHost*>(host)->wake_at(c); }, at);
    next_at = start_of(at);
  }
  [[gnu::hot]] void wake_at(Cycle at) {
    sleep_until(at);
    hosts_->is_due(*this);
  }

  // Members that each activation needs lie side by side.
  engine::Domain& domain_;
  engine::Divisor units_;     // kernel time units in a cycle
  Cycle last_end_cycle_ = 0;  // last_end
  u64 started_ = 0;           // the kernel time of this activation
  u64 activations_ = 0;
  Cycle base_ = 0;
  sc_core::sc_time to_base_;  // measured from the kernel's time
  std::shared_ptr<DomainHosts> hosts_ = DomainHosts::of_simulation();
  sc_core::sc_time period_;
  engine::Divisor ahead_;
  static constexpr Cycle kStep = 64, kSteps = kStep * kStep;
  // The duration of this many cycles, and of this many times kStep cycles.
  std::array<sc_core::sc_time, kStep> steps_, strides_;
};
}  // namespace hca
