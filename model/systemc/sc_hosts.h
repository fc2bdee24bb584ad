// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"

namespace hca {
using engine::Cycle;
using engine::kNever;

// The one kernel process that runs all domains of a simulation: one SC_METHOD and one event for any
// number of chips. Times are in the kernel's units.
class DomainHosts {
 public:
  class Host {
   public:
    Host() = default;
    Host(const Host&) = delete;
    virtual ~Host() = default;
    // Runs everything due before `reached`, up to the end of its last window.
    virtual void run(u64 reached) = 0;
    // Windows may begin up to this time: sets the end of the last one.
    virtual void set_last(u64 last) = 0;
    // The beginning of the window of its next cycle, not before the kernel's time.
    virtual u64 due_at() const = 0;
    u64 next_at = kNever;  // its next cycle with work
    u64 last_end = 0;      // end of the last window: everything due before it has run
    u64 ahead = 0;         // minimum delay of anything sent to it from outside
    u64 others_ahead = 0;  // the minimum of the others' `ahead`
  };

  static std::shared_ptr<DomainHosts> of_simulation() {
    static std::weak_ptr<DomainHosts> current;
    std::shared_ptr<DomainHosts> hosts = current.lock();
    if (!hosts || hosts->simulation_ != sc_core::sc_get_curr_simcontext()) current = hosts = make();
    return hosts;
  }
  void add(Host& host) {
    hosts_.push_back(&host);
    forget_last();
  }
  void remove(Host& host) {
    std::erase(hosts_, &host);
    forget_last();
  }
  // The windows of a host have changed.
  void forget_last() { last_ = kNever; }
  // The kernel's time. It does not advance while hosts run.
  u64 now() const { return running_ ? now_ : sc_core::sc_time_stamp().value(); }
  bool is_running() const { return running_; }
  // A sleeping host is due earlier than before.
  void is_due(const Host& host) {
    if (running_) return;
    if (const u64 at = host.due_at(); at < armed_) arm(at);
  }
  // sc_start() with a known end: up to then the hosts return to the kernel only for other
  // processes. `quiet`: nothing that the hosts call notifies an event, so the kernel is checked for
  // other processes once, not after each turn of a host.
  void run_for(const sc_core::sc_time& duration, bool quiet = false) {
    end_ = now() + duration.value();
    quiet_ = quiet;
    sc_core::sc_start(duration);
    end_ = 0;
  }

 private:
  static std::shared_ptr<DomainHosts> make() {
    auto hosts = std::make_shared<DomainHosts>();
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&hosts->due_);
    // The process belongs to the kernel and may be due once more after the hosts are destroyed.
    sc_core::sc_spawn(
        [weak = std::weak_ptr(hosts)] {
          if (const auto self = weak.lock()) self->run();
        },
        sc_core::sc_gen_unique_name("domains"), &options);
    return hosts;
  }
  void run() {
    now_ = now();
    running_ = true;
    u64 last = last_window();
    while (const Slice slice = first_due(last)) {
      slice.host->run(slice.reached_from_others());
      if (!quiet_) last = last_window();
    }
    if (quiet_ && last_window() < last)
      engine::broken("an event was notified in a quiet run", "run_for", now_);
    u64 next = kNever;
    for (const Host* host : hosts_) next = std::min(next, host->due_at());
    running_ = false;
    arm(next);
  }
  // Windows that begin by then run now: nothing else happens in the kernel until they begin.
  u64 last_window() const {
    const u64 at = now();
    if (end_ <= at) return at;
    const u64 pending = sc_core::sc_time_to_pending_activity().value();
    return std::max(at, std::min(end_, at + pending) - 1);
  }
  struct Slice {
    Host* host = nullptr;
    u64 others_at = kNever;  // the next cycle of any other host
    explicit operator bool() const { return host; }
    // The earliest time at which another host can affect this one: by its next cycle, or by its
    // reaction to this one's current actions.
    u64 reached_from_others() const {
      const u64 acts = std::min(others_at, host->next_at + host->others_ahead);
      return std::min(acts, kNever - host->ahead) + host->ahead;
    }
  };
  Slice first_due(u64 last) {
    if (last != last_) [[unlikely]]
      set_last(last);
    Slice slice;
    u64 at = kNever;
    for (Host* host : hosts_) {
      u64 other = host->next_at;
      if (other < host->last_end && other < at) {
        slice.host = host;
        std::swap(other, at);
      }
      slice.others_at = std::min(slice.others_at, other);
    }
    return slice;
  }
  void set_last(u64 last) {
    if (last_ == kNever) learn_others();
    last_ = last;
    for (Host* host : hosts_) host->set_last(last);
  }
  [[gnu::cold, gnu::noinline]] void learn_others() {
    constexpr u64 kAlone = kNever / 2;  // leaves room to add a time
    const Host* nearest = nullptr;
    u64 second = kAlone;
    for (const Host* host : hosts_) {
      if (!nearest || host->ahead < nearest->ahead) std::swap(nearest, host);
      if (host) second = std::min(second, host->ahead);
    }
    for (Host* host : hosts_) host->others_ahead = host == nearest ? second : nearest->ahead;
  }
  void arm(u64 at) {
    armed_ = at;
    if (at == kNever) return;
    const u64 from = now();
    due_.notify(sc_core::sc_time::from_value(at > from ? at - from : 0));
  }

  sc_core::sc_simcontext* simulation_ = sc_core::sc_get_curr_simcontext();
  std::vector<Host*> hosts_;
  u64 armed_ = kNever, end_ = 0, now_ = 0;
  u64 last_ = kNever;  // the latest time at which a window may begin
  bool running_ = false, quiet_ = false;
  sc_core::sc_event due_{"due"};
};

// sc_start() for a caller that looks at nothing before it returns: the state is then the same, and
// chips run from packet to packet instead of from kernel event to kernel event.
inline void run_for(const sc_core::sc_time& duration) {
  DomainHosts::of_simulation()->run_for(duration);
}
// The same if nothing that the chips call (memory, wires and software) notifies an event of the
// kernel; a notification is an error.
inline void run_quiet_for(const sc_core::sc_time& duration) {
  DomainHosts::of_simulation()->run_for(duration, true);
}
}  // namespace hca
