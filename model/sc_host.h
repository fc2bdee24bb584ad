// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <systemc>
#include <vector>

#include "model/engine/domain.h"

namespace hca {
using engine::Cycle;
using engine::kNever;

// The one process of the kernel that runs the domains of a simulation: one SC_METHOD, one event,
// however many chips.
class DomainHosts {
 public:
  class Host {
   public:
    Host() = default;
    Host(const Host&) = delete;
    virtual ~Host() = default;
    virtual void run() = 0;
    u64 due_at = kNever;  // in units of the kernel's time
  };

  static std::shared_ptr<DomainHosts> of_simulation() {
    static std::weak_ptr<DomainHosts> current;
    std::shared_ptr<DomainHosts> hosts = current.lock();
    if (!hosts || hosts->simulation_ != sc_core::sc_get_curr_simcontext()) current = hosts = make();
    return hosts;
  }
  void add(Host& host) { hosts_.push_back(&host); }
  void remove(Host& host) { std::erase(hosts_, &host); }
  // A host that sleeps is due earlier than it was.
  void is_due(const Host& host) {
    if (!running_ && host.due_at < armed_) arm(host.due_at);
  }

 private:
  static std::shared_ptr<DomainHosts> make() {
    auto hosts = std::make_shared<DomainHosts>();
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&hosts->due_);
    // The process is the kernel's and may be due once more when the hosts are gone.
    sc_core::sc_spawn(
        [weak = std::weak_ptr(hosts)] {
          if (const auto self = weak.lock()) self->run();
        },
        sc_core::sc_gen_unique_name("domains"), &options);
    return hosts;
  }
  void run() {
    const u64 now = sc_core::sc_time_stamp().value();
    running_ = true;
    u64 next = kNever;
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      if (hosts_[i]->due_at <= now) hosts_[i]->run();
    for (const Host* host : hosts_) next = std::min(next, host->due_at);
    running_ = false;
    arm(next);
  }
  void arm(u64 at) {
    armed_ = at;
    if (at == kNever) return;
    const u64 now = sc_core::sc_time_stamp().value();
    due_.notify(sc_core::sc_time::from_value(at > now ? at - now : 0));
  }

  sc_core::sc_simcontext* simulation_ = sc_core::sc_get_curr_simcontext();
  std::vector<Host*> hosts_;
  u64 armed_ = kNever;
  bool running_ = false;
  sc_core::sc_event due_{"due"};
};

// Runs a domain inside SystemC. Each activation runs to the next multiple of `ahead` cycles; more
// than one is exact as long as nothing from outside can arrive earlier than `ahead` cycles after it
// was sent (wire or socket latency). Domains with the same clock and `ahead` are due together.
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
  void run() override {
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
