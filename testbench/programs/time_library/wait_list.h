// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <mutex>

#include "model/proto/types.h"
#include "testbench/programs/time_library/spin_lock.h"

namespace hca::time_library {
// Threads that wait for one of several things, in order of arrival. Each entry lies on its thread's
// own stack, so that an allocator may wait here without allocating memory.
class WaitList {
 public:
  struct Waiter {
    const void* what;
    u32 bits = ~u32{0};  // a wake-up must have one of these
    bool woken = false;
    Waiter* next = nullptr;
  };
  // In the list during its lifetime, even if its thread is cancelled.
  class Entry {
   public:
    Entry(WaitList& list, Waiter& one) : list_(list), one_(one) { list_.add(one_); }
    ~Entry() { list_.remove(one_); }
    Entry(const Entry&) = delete;

   private:
    WaitList& list_;
    Waiter& one_;
  };
  bool is_woken(const Waiter& one) {
    const std::lock_guard guard(lock_);
    return one.woken;
  }
  // Wakes the first `most` threads that wait for `what`; returns their number.
  u32 wake(const void* what, u32 most, u32 bits = ~u32{0}) {
    return each(what, most, [=](Waiter& one) { return (one.bits & bits) && (one.woken = true); });
  }
  // Makes them wait for something else.
  u32 move(const void* from, const void* to, u32 most) {
    return each(from, most, [=](Waiter& one) {
      one.what = to;
      return true;
    });
  }
  // In a child process: other threads do not exist there, and one of them may have held the lock.
  void forget() {
    lock_.unlock();
    first_ = nullptr;
  }

 private:
  void add(Waiter& one) {
    const std::lock_guard guard(lock_);
    Waiter** last = &first_;
    while (*last) last = &(*last)->next;
    *last = &one;
  }
  void remove(const Waiter& one) {
    const std::lock_guard guard(lock_);
    for (Waiter** at = &first_; *at; at = &(*at)->next)
      if (*at == &one) {
        *at = one.next;
        return;
      }
  }
  template <class Change>
  u32 each(const void* what, u32 most, Change change) {
    const std::lock_guard guard(lock_);
    u32 changed = 0;
    for (Waiter* one = first_; one && changed < most; one = one->next)
      if (one->what == what && !one->woken) changed += change(*one);
    return changed;
  }
  SpinLock lock_;
  Waiter* first_ = nullptr;
};
}  // namespace hca::time_library
