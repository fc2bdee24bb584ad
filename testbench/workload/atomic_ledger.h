// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/engine/random.h"
#include "testbench/host/endpoint.h"
#include "testbench/scenario/layout.h"

namespace hca::testbench {
// Numbers of the peer that ATOMICs count up: each value is returned to one of them as what it
// found, and a number ends at how many there were.
class AtomicNumbers {
 public:
  AtomicNumbers(const Endpoint& end, const Traffic& traffic);
  u64 base() const { return base_; }
  u32 rkey() const { return rkey_; }
  u64 address(u32 number) const { return first_ + u64{number} * kAtomicNumberBytes; }
  // An ATOMIC found `value` and made one more of it; what is wrong with that, if anything.
  std::optional<std::string> change(u32 number, u64 value);
  // When all have completed and all writes have arrived.
  std::optional<std::string> wrong_end() const;

 private:
  struct Number {
    u64 changes = 0;
    std::vector<bool> seen;  // values, from the first on
  };
  tlm_::HostMemory* memory_;
  u64 first_, base_;
  u32 rkey_;
  std::vector<Number> numbers_;
};

// What the ATOMICs of a stream must return. FetchAdds add 1; a CmpSwap counts up if it finds what
// it expects. Without `atomic_addresses` all FetchAdds change one number, and the CmpSwaps of a
// queue pair one of its own, where each must find what the one before left. With them all change
// numbers at random, and a CmpSwap expects what its queue pair saw there last.
class AtomicLedger {
 public:
  // `numbers`: of the other threads of the stream; nullptr: it has its own.
  AtomicLedger(const Endpoint& end, const Traffic& traffic, std::shared_ptr<AtomicNumbers> numbers);
  // Operands and target of the next one of a queue pair.
  void post(SendWr& wr, u32 qp);
  // The next one of a queue pair returned `value`; what is wrong with that, if anything.
  std::optional<std::string> returned(Operation operation, u32 qp, u64 value);
  std::optional<std::string> wrong_end() const;
  bool is_used() const { return numbers_ != nullptr; }
  const std::shared_ptr<AtomicNumbers>& numbers() const { return numbers_; }

 private:
  struct Posted {
    u32 number = 0;
    u64 expected = 0;  // of a CmpSwap
  };
  struct Queue {
    blocks::Ring<Posted> posted;
    u64 swaps = 0;                         // posted
    std::unordered_map<u32, u64> least{};  // by number: a value that it has at least
  };
  std::shared_ptr<AtomicNumbers> numbers_;  // nullptr: there is no ATOMIC
  const u32 addresses_;
  engine::Random random_;
  std::vector<Queue> queues_;
};
}  // namespace hca::testbench
