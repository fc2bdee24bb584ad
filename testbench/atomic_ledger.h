// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "testbench/endpoint.h"

namespace hca::testbench {
// What the ATOMICs of a stream must return. All FetchAdds add 1 to one number of the peer: they
// return each value once, on a queue pair in rising order, and the number ends at their sum. The
// CmpSwaps of a queue pair count up a number of its own: each must find what the one before left.
class AtomicLedger {
 public:
  AtomicLedger(const Endpoint& end, const Traffic& traffic);
  // Operands and target of the next one of a queue pair.
  void post(SendWr& wr, u32 qp);
  // The next one of a queue pair returned `value`; what is wrong with that, if anything.
  std::optional<std::string> returned(Operation operation, u32 qp, u64 value);
  // When all have completed and all writes have arrived.
  std::optional<std::string> wrong_sum() const;
  bool is_used() const { return is_used_; }

 private:
  u64 target(u64 offset) const;
  Endpoint end_;
  Layout layout_;
  bool is_used_;
  u64 base_, adds_ = 0;
  std::vector<bool> seen_;                      // values of the sum
  std::vector<u64> last_;                       // of the sum, by queue pair: 1 + the value
  std::vector<u64> swaps_posted_, swaps_done_;  // by queue pair
};
}  // namespace hca::testbench
