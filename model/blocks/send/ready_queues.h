// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <string_view>

#include "model/blocks/lib/next_place.h"
#include "model/blocks/lib/ring.h"

namespace hca::blocks {
enum class SchedulerPolicy : u8 { RoundRobin, Weighted, Strict };
inline constexpr std::array<std::string_view, 3> kSchedulerPolicyNames{"round_robin", "weighted",
                                                                       "strict"};
// The low three bits of a service level, as wide as the priority of a VLAN tag.
inline constexpr unsigned kTrafficClasses = 8;

// Queue pairs that wait for their turn, first come first served within a traffic class.
//  - round_robin: one class.
//  - weighted: a class gets as many turns as its weight, then the next class with a queue pair; a
//    class that runs out forfeits the rest.
//  - strict: the highest class with a queue pair.
class ReadyQueues {
 public:
  using Weights = std::array<u32, kTrafficClasses>;
  ReadyQueues() = default;
  ReadyQueues(SchedulerPolicy policy, const Weights& weights)
      : policy_(policy), weights_(weights) {}
  // round_robin: a single queue.
  bool rotates() const { return policy_ == SchedulerPolicy::RoundRobin; }
  Ring<u32>& rotation() { return queues_[0]; }

  bool empty() const { return rotates() ? queues_[0].empty() : !waiting_; }
  void push(u32 qpn, unsigned service_level) {
    if (rotates()) [[likely]]
      return queues_[0].push(qpn);
    const unsigned c = service_level % kTrafficClasses;
    queues_[c].push(qpn);
    waiting_ |= 1u << c;
  }
  u32 front() const { return queues_[rotates() ? 0 : next()].front(); }
  u32 pop() { return rotates() ? queues_[0].pop() : pop_by_class(); }

 private:
  [[gnu::cold, gnu::noinline]] u32 pop_by_class() {
    const unsigned c = next();
    count(c);
    const u32 qpn = queues_[c].pop();
    if (queues_[c].empty()) waiting_ &= ~(1u << c);
    return qpn;
  }
  // The class whose turn it is.
  unsigned next() const {
    if (policy_ == SchedulerPolicy::Strict) return unsigned(std::bit_width(waiting_)) - 1;
    if (waiting_ >> class_ & 1 && served_ < weights_[class_]) return class_;
    return next_place(waiting_, class_);
  }
  void count(unsigned c) {
    const bool goes_on = c == class_ && served_ < weights_[c];
    served_ = goes_on ? served_ + 1 : 1;
    class_ = c;
  }

  SchedulerPolicy policy_ = SchedulerPolicy::RoundRobin;
  unsigned waiting_ = 0;  // classes with a queue pair, a bit each; not for round_robin
  std::array<Ring<u32>, kTrafficClasses> queues_;
  Weights weights_{};
  unsigned class_ = 0, served_ = 0;  // weighted: the current class and its turns so far
};
}  // namespace hca::blocks
