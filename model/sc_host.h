// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <systemc>

#include "model/engine/domain.h"
#include "model/sc_hosts.h"

namespace hca {
// Runs a domain inside SystemC. The kernel's time is cut into windows of `ahead` cycles; when the
// kernel is at the beginning of one, the domain runs to its end. More than one cycle is exact as
// long as nothing from outside can arrive earlier than `ahead` cycles after it was sent (wire or
// socket latency). Domains with the same clock and `ahead` are due together.
class DomainHost final : private DomainHosts::Host {
 public:
  DomainHost(engine::Domain& domain, sc_core::sc_time period, Cycle ahead)
      : domain_(domain), period_(period), ahead_(ahead) {
    hosts_->add(*this);
    sleep_until(domain_.next());
  }
  ~DomainHost() override { hosts_->remove(*this); }

  u64 activations() const { return activations_; }
  void set_ahead(Cycle ahead) { ahead_ = ahead; }
  Cycle ahead_cycles() const { return ahead_; }
  const sc_core::sc_time& period() const { return period_; }
  // The cycle that the kernel's time lies in.
  Cycle cycle() const { return sc_core::sc_time_stamp().value() / period_.value(); }
  // The first cycle edge not before `time`.
  Cycle cycle_at(const sc_core::sc_time& time) const {
    return (time.value() + period_.value() - 1) / period_.value();
  }
  // From the kernel's time to a cycle of the domain; the first for calls that the domain makes
  // while it runs.
  sc_core::sc_time delay_in_run(Cycle at) const {
    return sc_core::sc_time::from_value(at * period_value_ - started_);
  }
  sc_core::sc_time delay_to(Cycle at) const {
    return sc_core::sc_time::from_value(at * period_.value()) - sc_core::sc_time_stamp();
  }

 private:
  void run(u64 reached, u64 last) override {
    ++activations_;
    started_ = sc_core::sc_time_stamp().value();
    domain_.host_runs();
    domain_.run_until(std::min(window_of(last / period_value_) + ahead_, reached / period_value_));
    sleep_until(domain_.next());
  }
  u64 next_cycle() const override {
    const Cycle next = domain_.next();
    return next == kNever ? kNever : next * period_value_;
  }
  u64 ahead() const override { return ahead_ * period_value_; }
  // The cycle in which the activation that runs cycle `at` begins.
  Cycle window_of(Cycle at) const { return at - at % ahead_; }
  void sleep_until(Cycle at) {
    const Cycle from = at == kNever ? kNever : std::max(window_of(at), cycle());
    domain_.host_sleeps(
        this, [](void* host, Cycle c) { static_cast<DomainHost*>(host)->sleep_until(c); }, from);
    due_at = from == kNever ? kNever : from * period_value_;
    hosts_->is_due(*this);
  }

  engine::Domain& domain_;
  sc_core::sc_time period_;
  u64 period_value_ = period_.value(), started_ = 0;
  Cycle ahead_;
  u64 activations_ = 0;
  std::shared_ptr<DomainHosts> hosts_ = DomainHosts::of_simulation();
};
}  // namespace hca
