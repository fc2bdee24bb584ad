// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <systemc>

#include "model/engine/domain.h"

namespace hca {
using engine::Cycle;
using engine::kNever;

// Runs a domain inside SystemC: one SC_METHOD, one event. Each activation runs to the next multiple
// of `ahead` cycles; more than one is exact as long as nothing from outside can arrive earlier than
// `ahead` cycles after it was sent (wire or socket latency). Domains with the same clock and
// `ahead` wake in the same instants.
class DomainHost {
 public:
  DomainHost(engine::Domain& domain, sc_core::sc_time period, Cycle ahead)
      : domain_(domain), period_(period), ahead_(ahead) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&due_);
    const auto self = self_;
    sc_core::sc_spawn(
        [self] {
          if (*self) (*self)->run();
        },
        sc_core::sc_gen_unique_name("quantum"), &options);
    sleep_until(domain_.next());
  }
  // The process is the kernel's and may be due once more.
  ~DomainHost() { *self_ = nullptr; }
  DomainHost(const DomainHost&) = delete;

  u64 activations() const { return activations_; }
  void set_ahead(Cycle ahead) { ahead_ = ahead; }
  Cycle ahead() const { return ahead_; }
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
  void run() {
    ++activations_;
    started_ = sc_core::sc_time_stamp().value();
    domain_.host_runs();
    domain_.run_until(window_of(started_ / period_value_) + ahead_);
    sleep_until(domain_.next());
  }
  // The cycle in which the activation that runs cycle `at` begins.
  Cycle window_of(Cycle at) const { return at - at % ahead_; }
  void sleep_until(Cycle at) {
    const Cycle from = at == kNever ? kNever : std::max(window_of(at), cycle());
    domain_.host_sleeps(
        this, [](void* host, Cycle c) { static_cast<DomainHost*>(host)->sleep_until(c); }, from);
    if (at != kNever) due_.notify(sc_core::sc_time::from_value((from - cycle()) * period_.value()));
  }

  std::shared_ptr<DomainHost*> self_ = std::make_shared<DomainHost*>(this);
  engine::Domain& domain_;
  sc_core::sc_time period_;
  u64 period_value_ = period_.value(), started_ = 0;
  Cycle ahead_;
  u64 activations_ = 0;
  sc_core::sc_event due_{"due"};
};
}  // namespace hca
