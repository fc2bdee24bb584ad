// SPDX-License-Identifier: Apache-2.0
// Replaces the file of this name: before each access to a shared word the explorer chooses who
// continues; a sleeper waits for a wake-up, not for time.
#pragma once
#include <atomic>
#include <type_traits>

#include "testbench/programs/server/kernel_call.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"

namespace hca::attach {
template <class T>
class Shared {
 public:
  Shared() = default;
  constexpr Shared(T value) : word_(value) {}  // NOLINT(google-explicit-constructor)
  Shared(const Shared&) = delete;
  static constexpr bool is_always_lock_free = std::atomic<T>::is_always_lock_free;

  T load(std::memory_order = std::memory_order_seq_cst) const {
    explored::step(explored::Op::Load, this, u64(word_.load()));
    return word_.load();
  }
  void store(T value, std::memory_order = std::memory_order_seq_cst) {
    explored::step(explored::Op::Store, this, u64(value));
    changed(word_.exchange(value), value);
  }
  T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
    explored::step(explored::Op::Exchange, this, u64(value));
    const T before = word_.exchange(value);
    explored::contends(this, before == value && before != T{});
    changed(before, value);
    return before;
  }
  bool compare_exchange_strong(T& expected, T value) {
    explored::step(explored::Op::Exchange, this, u64(value));
    const T before = expected;
    const bool is = word_.compare_exchange_strong(expected, value);
    if (is) changed(before, value);
    return is;
  }
  bool compare_exchange_weak(T& expected, T value) {
    return compare_exchange_strong(expected, value);
  }
  T fetch_add(T more, std::memory_order = std::memory_order_seq_cst) {
    explored::step(explored::Op::Add, this, u64(more));
    return word_.fetch_add(more);
  }
  T fetch_sub(T less, std::memory_order = std::memory_order_seq_cst) {
    explored::step(explored::Op::Add, this, u64(-less));
    return word_.fetch_sub(less);
  }
  T fetch_or(T bits, std::memory_order = std::memory_order_seq_cst) {
    explored::step(explored::Op::Or, this, u64(bits));
    return word_.fetch_or(bits);
  }
  T operator++() { return fetch_add(1) + 1; }
  T operator--() { return fetch_sub(1) - 1; }
  operator T() const { return load(); }  // NOLINT(google-explicit-constructor)
  T operator=(T value) {                 // NOLINT: as std::atomic has it
    store(value);
    return value;
  }
  // Reads without a step of the schedule; only for the explorer.
  T peek() const { return word_.load(); }
  void set(T value) { word_.store(value); }

 private:
  void changed([[maybe_unused]] T before, [[maybe_unused]] T after) {
    if constexpr (std::is_enum_v<T>)
      explored::turn_changed(this, unsigned(before), unsigned(after));
  }
  std::atomic<T> word_;
};
inline constexpr bool kWatches = false;

template <class T>
void sleep_while(Shared<T>& word, T seen, long) {
  explored::step(explored::Op::Sleep, &word, u64(seen));
  if (word.peek() == seen) explored::sleep(&word);
}
template <class T>
void wake_one(Shared<T>& word) {
  explored::step(explored::Op::Wake, &word, u64(word.peek()));
  explored::wake(&word);
}
inline void let_others_run() { explored::pause("sched_yield"); }
}  // namespace hca::attach
