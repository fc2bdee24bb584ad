// SPDX-License-Identifier: Apache-2.0
// Locks of the verbs library.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <mutex>

#include "testbench/programs/server/held_signals.h"
#include "testbench/programs/time_library/clock.h"

namespace hca::verbs_library {
// Held briefly, with two exceptions: for a CQ between ibv_start_poll() and ibv_end_poll(), for a
// send queue between ibv_wr_start() and ibv_wr_complete(). The lock is recursive: in between, the
// thread or its signal handlers may call any function.
class Lock {
 public:
  void lock() {
    if (left_out_) return;
    if (is_mine()) {
      ++depth_;
      return;
    }
    for (pthread_t nobody{};
         !owner_.compare_exchange_weak(nobody, pthread_self(), std::memory_order_acquire);
         nobody = {})
      let_others();
    depth_ = 1;
  }
  void unlock() {
    if (!left_out_ && !--depth_) owner_.store({}, std::memory_order_release);
  }
  bool is_mine() const {
    return left_out_ || owner_.load(std::memory_order_relaxed) == pthread_self();
  }
  // The protected object belongs to a single thread.
  void leave_out() { left_out_ = true; }
  // In a child process: a thread of the parent may have held it.
  void forget() {
    owner_ = {};
    depth_ = 0;
  }

 private:
  // In simulated time the holder needs a turn.
  static void let_others() {
    constexpr u64 kMoment = 100'000;  // ps
    if (!clock::is_simulated()) {
      sched_yield();
      return;
    }
    hca_time_spend(kMoment);
    hca_time_settle();
  }
  std::atomic<pthread_t> owner_{};
  u32 depth_ = 0;  // accessed by the owner only
  bool left_out_ = false;
};

// Protects the state of a device: no signal handler runs while it is inconsistent.
class StateGuard {
 public:
  explicit StateGuard(std::recursive_mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  ~StateGuard() { mutex_.unlock(); }
  StateGuard(const StateGuard&) = delete;
  // the mask of the thread outside the guard
  sigset_t signals_before() const { return held_.before(); }

 private:
  attach::HeldSignals held_{clock::signals_to_hold()};
  std::recursive_mutex& mutex_;
};
}  // namespace hca::verbs_library
