// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/atomic_ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/bytes.h"

namespace hca::testbench {
namespace {
// A CmpSwap counts up if it finds the expected value, a FetchAdd always.
bool expects(const proto::WorkRow& work) { return proto::has_two_operands(proto::change_of(work)); }
// The ledger predicts no other ATOMIC.
static_assert(std::ranges::all_of(kOperations, [](const OperationRow& row) {
  const proto::Change change = proto::change_of(row.work());
  return !row.is_atomic() || change == proto::Change::Add || change == proto::Change::CompareSwap;
}));
}  // namespace

AtomicNumbers::AtomicNumbers(const Endpoint& end, const Traffic& traffic)
    : memory_(end.peer_memory),
      traffic_(traffic),
      buffers_(*end.peer, traffic_),
      numbers_(traffic.atomic_numbers()) {
  u64 state = traffic.seed;
  base_ = engine::split_mix(state);
  std::array<u8, proto::kAtomicBytes> bytes;
  proto::store_le8(bytes.data(), base_);
  for (u32 i = 0; i < numbers_.size(); ++i) memory_->write(address(i), bytes);
}

std::optional<std::string> AtomicNumbers::change(u32 number, u64 value) {
  Number& n = numbers_[number];
  const u64 count = value - base_;
  ++n.changes;
  if (count >= u64{1} << 32) return fmt::format("returned {:#x}, below its start", value);
  if (count >= n.seen.size()) n.seen.resize(count + 1);
  if (n.seen[count]) return fmt::format("returned {:#x} for the second time", value);
  n.seen[count] = true;
  return std::nullopt;
}

std::optional<std::string> AtomicNumbers::wrong_end() const {
  for (u32 i = 0; i < numbers_.size(); ++i) {
    const Number& n = numbers_[i];
    std::array<u8, proto::kAtomicBytes> bytes;
    memory_->read(address(i), bytes.data(), bytes.size());
    if (const u64 left = proto::load_le8(bytes.data()); left != base_ + n.changes)
      return fmt::format("{} ATOMICs that counted up number {} made {:#x} of {:#x}", n.changes, i,
                         left, base_);
    // Each returned value was new, so that they are all those below the end if none is beyond.
    if (n.seen.size() > n.changes)
      return fmt::format("an ATOMIC returned a value beyond the end of number {}", i);
  }
  return std::nullopt;
}

AtomicLedger::AtomicLedger(const Endpoint& end, const Traffic& traffic,
                           std::shared_ptr<AtomicNumbers> numbers)
    : numbers_(std::move(numbers)),
      addresses_(traffic.atomic_addresses),
      random_(traffic.seed ^ u64{end.qp->qpn} << 32),
      queues_(traffic.qps) {
  if (numbers_ || !traffic.has([](const OperationRow& r) { return r.is_atomic(); })) return;
  numbers_ = std::make_shared<AtomicNumbers>(end, traffic);
}

void AtomicLedger::post(SendWr& wr, u32 qp) {
  Queue& queue = queues_[qp];
  const bool swaps = expects(*proto::work_row(wr.opcode));
  Posted p{addresses_ ? u32(random_.below(addresses_)) : swaps ? 1 + qp : 0};
  wr.remote_addr = numbers_->address(p.number);
  wr.rkey = numbers_->rkey(p.number);
  if (!swaps) {
    wr.compare_add = 1;
  } else {
    p.expected = numbers_->base() + (addresses_ ? queue.least[p.number] : queue.swaps++);
    wr.compare_add = p.expected;
    wr.swap = p.expected + 1;
  }
  queue.posted.push(p);
}

std::optional<std::string> AtomicLedger::returned(Operation operation, u32 qp, u64 value) {
  Queue& queue = queues_[qp];
  const Posted p = queue.posted.pop();
  const bool swaps = expects(row_of(operation).work()), changes = !swaps || value == p.expected;
  if (!changes && !addresses_)
    return fmt::format("returned {:#x}, the one before left {:#x}", value, p.expected);
  u64& least = queue.least[p.number];
  const u64 count = value - numbers_->base();
  if (count < least) return fmt::format("returned {:#x} after a larger value", value);
  least = count + changes;
  return changes ? numbers_->change(p.number, value) : std::nullopt;
}

std::optional<std::string> AtomicLedger::wrong_end() const {
  return numbers_ ? numbers_->wrong_end() : std::nullopt;
}
}  // namespace hca::testbench
