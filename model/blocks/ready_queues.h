// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <string_view>

#include "model/blocks/ring.h"

namespace hca::blocks {
enum class SchedulerPolicy : u8 { RoundRobin, Weighted, Strict };
inline constexpr std::array<std::string_view, 3> kSchedulerPolicyNames{"round_robin", "weighted",
                                                                       "strict"};
// The low three bits of a service level, as many as the priority of a VLAN tag has.
inline constexpr unsigned kTrafficClasses = 8;

// Queue pairs that wait for their turn: first come, first served within a traffic class.
//  - round_robin: there is one class.
//  - weighted: a class has as many turns as its weight, then the next one that has a queue pair; a
//    class that runs out loses the rest.
//  - strict: the highest class that has one.
class ReadyQueues {
 public:
  using Weights = std::array<u32, kTrafficClasses>;
  ReadyQueues() = default;
  ReadyQueues(SchedulerPolicy policy, const Weights& weights)
      : policy_(policy), weights_(weights) {}
  bool empty() const { return !waiting_; }
  void push(u32 qpn, unsigned service_level) {
    const unsigned c = policy_ == SchedulerPolicy::RoundRobin ? 0 : service_level % kTrafficClasses;
    queues_[c].push(qpn), waiting_ |= 1u << c;
  }
  u32 front() const { return queues_[next()].front(); }
  u32 pop() {
    const unsigned c = next();
    if (policy_ == SchedulerPolicy::Weighted) [[unlikely]]
      count(c);
    const u32 qpn = queues_[c].pop();
    if (queues_[c].empty()) waiting_ &= ~(1u << c);
    return qpn;
  }

 private:
  // The class whose turn it is.
  unsigned next() const {
    if (policy_ == SchedulerPolicy::RoundRobin) [[likely]]
      return 0;
    if (policy_ == SchedulerPolicy::Strict) return unsigned(std::bit_width(waiting_)) - 1;
    if (waiting_ >> class_ & 1 && served_ < weights_[class_]) return class_;
    // Those behind it, then those in front, then itself.
    const unsigned behind = waiting_ & ~((2u << class_) - 1);
    return unsigned(std::countr_zero(behind ? behind : waiting_));
  }
  void count(unsigned c) {
    const bool goes_on = c == class_ && served_ < weights_[c];
    served_ = goes_on ? served_ + 1 : 1, class_ = c;
  }

  SchedulerPolicy policy_ = SchedulerPolicy::RoundRobin;
  Weights weights_{};
  std::array<Ring<u32>, kTrafficClasses> queues_;
  unsigned waiting_ = 0;             // classes that have a queue pair, a bit each
  unsigned class_ = 0, served_ = 0;  // weighted: whose turns these are, how many it had
};
}  // namespace hca::blocks
