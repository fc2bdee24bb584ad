// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <systemc>
#include <type_traits>

#include "model/engine/domain.h"
#include "model/engine/rate.h"
#include "model/sc_hosts.h"

namespace hca {
// sc_time::from_value() for a simulation that runs: without the look at the kernel's resolution.
inline sc_core::sc_time time_from_value(u64 value) {
  sc_core::sc_time time;
  static_assert(std::is_standard_layout_v<sc_core::sc_time> && sizeof time == sizeof value);
  std::memcpy(static_cast<void*>(&time), &value, sizeof value);
  return time;
}

// Runs a domain inside SystemC. The kernel's time is cut into windows of `ahead` cycles; when the
// kernel is at the beginning of one, the domain runs to its end. More than one cycle is exact as
// long as nothing from outside can arrive earlier than `ahead` cycles after it was sent (wire or
// socket latency). Domains with the same clock and `ahead` are due together.
class DomainHost final : private DomainHosts::Host {
 public:
  DomainHost(engine::Domain& domain, sc_core::sc_time period, Cycle cycles_ahead)
      : domain_(domain), period_(period), units_(period.value()), ahead_(cycles_ahead) {
    set_ahead(cycles_ahead);
    hosts_->add(*this);
    sleep_until(domain_.next());
  }
  ~DomainHost() override { hosts_->remove(*this); }

  u64 activations() const { return activations_; }
  void set_ahead(Cycle cycles) {
    ahead_ = engine::Divisor(cycles);
    ahead = cycles * units_.value();
  }
  Cycle ahead_cycles() const { return ahead_.value(); }
  const sc_core::sc_time& period() const { return period_; }
  // The cycle that the kernel's time lies in.
  Cycle cycle() const { return units_.quotient(hosts_->now()); }
  // The first cycle edge not before `delay` from the kernel's time.
  Cycle cycle_behind(const sc_core::sc_time& delay) const {
    return units_.quotient(hosts_->now() + delay.value() + units_.value() - 1);
  }
  // From the kernel's time to a cycle of the domain; the first for calls that the domain makes
  // while it runs.
  sc_core::sc_time delay_in_run(Cycle at) const {
    return time_from_value(at * units_.value() - started_);
  }
  sc_core::sc_time delay_to(Cycle at) const {
    return sc_core::sc_time::from_value(at * units_.value()) - sc_core::sc_time_stamp();
  }

 private:
  [[gnu::hot]] void run(u64 reached, u64 last) override {
    ++activations_;
    started_ = hosts_->now();
    domain_.host_runs();
    const Cycle end = window_of(units_.quotient(last)) + ahead_.value();
    domain_.run_until(std::min(end, units_.quotient(reached)));
    sleep_until(domain_.next());
  }
  // The cycle in which the activation that runs cycle `at` begins.
  Cycle window_of(Cycle at) const { return ahead_.rounded_down(at); }
  [[gnu::hot]] void sleep_until(Cycle at) {
    const Cycle from = at == kNever ? kNever : std::max(window_of(at), cycle());
    domain_.host_sleeps(
        this, [](void* host, Cycle c) { static_cast<DomainHost*>(host)->sleep_until(c); }, at);
    next_at = at == kNever ? kNever : at * units_.value();
    due_at = from == kNever ? kNever : from * units_.value();
    hosts_->is_due(*this);
  }

  engine::Domain& domain_;
  sc_core::sc_time period_;
  engine::Divisor units_;  // of the kernel's time in a cycle
  engine::Divisor ahead_;
  u64 started_ = 0;
  u64 activations_ = 0;
  std::shared_ptr<DomainHosts> hosts_ = DomainHosts::of_simulation();
};
}  // namespace hca
