// SPDX-License-Identifier: Apache-2.0
// The MSNs of a responder, whose count may have started before the recording.
#pragma once
#include <utility>

#include "testbench/replay/replay_judge_reliable.h"

namespace hca::testbench {
class Msns {
 public:
  explicit Msns(const Requests& requests) : requests_(requests) {}
  // Chooses the start of the count that fits most answers.
  void learn(const std::vector<const JudgedPacket*>& answers);
  // The MSN when the messages up to `from` are executed, and up to `to`; empty: unknown.
  std::optional<std::pair<u32, u32>> range_of(LongPsn from, LongPsn to) const;

 private:
  std::optional<u32> msn_at(LongPsn psn) const;

  const Requests& requests_;
  std::map<std::size_t, u32> offsets_;  // by segment
};
}  // namespace hca::testbench
