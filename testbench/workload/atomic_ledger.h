// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/engine/random.h"
#include "testbench/workload/buffers.h"

namespace hca::testbench {
// Numbers of the peer that ATOMICs increment: each value is returned to exactly one of them, and a
// number's final value is the count of its ATOMICs.
class AtomicNumbers {
 public:
  AtomicNumbers(const Endpoint& end, const Traffic& traffic);
  u64 base() const { return base_; }
  u32 rkey(u32 number) const { return buffers_.number(number).rkey; }
  u64 address(u32 number) const { return buffers_.number(number).addr; }
  // An ATOMIC found `value` and incremented it; returns the error, if there is one.
  std::optional<std::string> change(u32 number, u64 value);
  // Call when all have completed and all writes have arrived; returns the error, if there is one.
  std::optional<std::string> wrong_end() const;

 private:
  struct Number {
    u64 changes = 0;
    std::vector<bool> seen;  // values, counted from the first
  };
  tlm_::HostMemory* memory_;
  const Traffic traffic_;
  Buffers buffers_;  // of the peer
  u64 base_;
  std::vector<Number> numbers_;
};

// Predicts the results of a stream's ATOMICs. FetchAdds add 1; a CmpSwap increments if it finds the
// expected value. Without `atomic_addresses` all FetchAdds change one number, and the CmpSwaps of
// each queue pair their own, where each must find the result of the previous one. With it all
// change random numbers, and a CmpSwap expects the value that its queue pair last saw there.
class AtomicLedger {
 public:
  // `numbers`: shared with the other threads of the stream; nullptr: its own.
  AtomicLedger(const Endpoint& end, const Traffic& traffic, std::shared_ptr<AtomicNumbers> numbers);
  // Sets operands and target of the next ATOMIC of a queue pair.
  void post(SendWr& wr, u32 qp);
  // The next ATOMIC of a queue pair returned `value`; returns the error, if there is one.
  std::optional<std::string> returned(Operation operation, u32 qp, u64 value);
  std::optional<std::string> wrong_end() const;
  bool is_used() const { return numbers_ != nullptr; }
  const std::shared_ptr<AtomicNumbers>& numbers() const { return numbers_; }

 private:
  struct Posted {
    u32 number = 0;
    u64 expected = 0;  // for a CmpSwap
  };
  struct Queue {
    blocks::Ring<Posted> posted;
    u64 swaps = 0;                         // posted
    std::unordered_map<u32, u64> least{};  // by number: lower bound of its value
  };
  std::shared_ptr<AtomicNumbers> numbers_;  // nullptr: there are no ATOMICs
  const u32 addresses_;
  engine::Random random_;
  std::vector<Queue> queues_;
};
}  // namespace hca::testbench
