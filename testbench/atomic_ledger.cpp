// SPDX-License-Identifier: Apache-2.0
#include "testbench/atomic_ledger.h"

#include <fmt/format.h>

#include "model/engine/random.h"
#include "model/proto/bytes.h"

namespace hca::testbench {
AtomicLedger::AtomicLedger(const Endpoint& end, const Traffic& traffic)
    : end_(end),
      layout_(traffic),
      is_used_(traffic.has([](const OperationRow& r) { return r.is_atomic(); })),
      last_(traffic.qps),
      swaps_posted_(traffic.qps),
      swaps_done_(traffic.qps) {
  u64 state = traffic.seed;
  base_ = engine::split_mix(state);
  if (!is_used_) return;
  std::array<u8, 8> bytes;
  proto::store_le8(bytes.data(), base_);
  end_.peer_memory->write(end_.peer_fetch.addr + layout_.sum(), bytes);
  for (u32 qp = 0; qp < traffic.qps; ++qp)
    end_.peer_memory->write(end_.peer_fetch.addr + layout_.swapped(qp), bytes);
}

void AtomicLedger::post(SendWr& wr, u32 qp) {
  const bool adds = wr.opcode == proto::WorkOpcode::FetchAdd;
  wr.remote_addr = end_.peer_fetch.addr + (adds ? layout_.sum() : layout_.swapped(qp));
  if (adds) return void(wr.compare_add = 1);
  wr.compare_add = base_ + swaps_posted_[qp]++;
  wr.swap = wr.compare_add + 1;
}

std::optional<std::string> AtomicLedger::returned(Operation operation, u32 qp, u64 value) {
  const u64 count = value - base_;
  if (operation == Operation::CompareSwap) {
    const u64 expected = swaps_done_[qp]++;
    if (count == expected) return std::nullopt;
    return fmt::format("returned {:#x}, the one before left {:#x}", value, base_ + expected);
  }
  ++adds_;
  if (count >= u64{1} << 32) return fmt::format("returned {:#x}, below its start", value);
  if (count >= seen_.size()) seen_.resize(count + 1);
  if (seen_[count]) return fmt::format("returned {:#x} for the second time", value);
  if (count < last_[qp]) return fmt::format("returned {:#x} after a larger value", value);
  seen_[count] = true, last_[qp] = count + 1;
  return std::nullopt;
}

u64 AtomicLedger::target(u64 offset) const {
  std::array<u8, 8> bytes;
  end_.peer_memory->read(end_.peer_fetch.addr + offset, bytes.data(), bytes.size());
  return proto::load_le8(bytes.data());
}

std::optional<std::string> AtomicLedger::wrong_sum() const {
  if (!is_used_) return std::nullopt;
  if (const u64 sum = target(layout_.sum()); sum != base_ + adds_)
    return fmt::format("{} FetchAdds of 1 made {:#x} of {:#x}", adds_, sum, base_);
  // Each returned value was new, so that they are all those below the sum if none is beyond.
  if (seen_.size() > adds_) return std::string("a FetchAdd returned a value beyond the sum");
  for (u32 qp = 0; qp < swaps_done_.size(); ++qp)
    if (const u64 left = target(layout_.swapped(qp)); left != base_ + swaps_done_[qp])
      return fmt::format("{} CmpSwaps of queue pair {} made {:#x} of {:#x}", swaps_done_[qp], qp,
                         left, base_);
  return std::nullopt;
}
}  // namespace hca::testbench
