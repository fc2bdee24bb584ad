// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/host_writes.h"

#include <algorithm>
#include <utility>

#include "model/proto/interface/device.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kLine = 64;
bool rings_send(u32 offset) {
  const auto at = proto::BarOffset(offset % proto::kUserPageBytes);
  return at == proto::BarOffset::SendDoorbell || at == proto::BarOffset::PushBuffer;
}
}  // namespace

HostWrites::HostWrites(const HostConfig& config, u64 hertz, MmioCredits credits)
    : registers_(config.doorbell_registers),
      buffers_(config.combining_buffers),
      lock_{engine::cycles_from_picoseconds(config.doorbell_lock, hertz),
            engine::cycles_from_picoseconds(config.doorbell_contention, hertz)},
      queue_lock_{engine::cycles_from_picoseconds(config.queue_lock, hertz),
                  engine::cycles_from_picoseconds(config.queue_contention, hertz)},
      push_line_(engine::cycles_from_picoseconds(config.push_line, hertz)) {
  const u64 bytes =
      credits.data ? u64{credits.data} * tlm_::PcieCreditPair::kBytes : engine::Budget::kAnyBytes;
  // Each write has data: with those bounded there are no more writes than data credits.
  if (credits.headers || credits.data)
    credits_.emplace(credits.headers ? credits.headers : credits.data, bytes);
}

void HostWrites::connect() {
  if (credits_) credits_->connect(self, "MMIO credits");
}

bool HostWrites::take_credits(const HostCpu* core, std::size_t bytes) {
  if (!credits_) return true;
  if (!kept_.empty() && kept_.front().leaves <= now()) return false;  // it goes first
  if (!credits_->available(in_credits(u32(bytes)))) return false;
  credits_->take_in_tick_of(core ? core->self : self, in_credits(u32(bytes)));
  return true;
}

Cycle HostWrites::paid_by(HostCpu* core, Cycle now, u32 offset, std::size_t bytes) {
  const std::size_t lines = bytes > sizeof(u64) ? (bytes + kLine - 1) / kLine : 0;
  if (!core) return in_order(core, now);
  Cycle at = now + core->held();
  if (lock_.each && rings_send(offset)) at = take_register(*core, at);
  return in_order(core, lines && push_line_ ? combine(*core, at, lines) : at);
}

// Not before earlier writes of the same core.
Cycle HostWrites::in_order(HostCpu* core, Cycle leaves) {
  const std::size_t place = core ? core->number + 1 : 0;
  if (place >= last_leaves_.size()) last_leaves_.resize(place + 1);
  return last_leaves_[place] = std::max(last_leaves_[place], leaves);
}

void HostWrites::keep(Kept write) {
  if (write.leaves > now()) self.wake_from_outside(write.leaves);
  const auto behind = std::ranges::upper_bound(kept_, write.leaves, {}, &Kept::leaves);
  kept_.insert(behind, std::move(write));
  hold_cores();
}

void HostWrites::tick() {
  while (!kept_.empty() && kept_.front().leaves <= now()) {
    const u32 bytes = in_credits(u32(kept_.front().data.size()));
    if (credits_ && !credits_->available(bytes)) return hold_cores();
    if (credits_) credits_->take(bytes);
    const Kept write = std::move(kept_.front());
    kept_.pop_front();
    send(write);
    if (write.waits) write.core->go_on();
  }
}

void HostWrites::hold_cores() {
  for (Kept& write : kept_) {
    if (write.leaves > now()) return;
    if (!write.core || std::exchange(write.waits, true)) continue;
    write.core->hold_back();
  }
}

// Takes the core's own register, or the one that it shares.
Cycle HostWrites::take_register(HostCpu& core, Cycle at) {
  const u32 number = registers_ ? core.number % registers_ : core.number;
  if (number >= all_registers_.size()) all_registers_.resize(number + 1);
  auto& [lock, in_all] = all_registers_[number];
  const HostLock::Turn turn = lock.take(core, lock_, at, 0, HostCost::DoorbellLock);
  counters_.waits_register += turn.waited;
  counters_.register_cycles += turn.locked;
  counters_.busiest_register = std::max(counters_.busiest_register, in_all += turn.locked);
  return turn.from;
}

void HostWrites::lock_queue(HostCpu& core, const void* queue, Cycle now, Cycle work) {
  auto& [lock, in_all] = queues_[queue];
  const HostLock::Turn turn =
      lock.take(core, queue_lock_, now + core.held(), work, HostCost::QueueLock);
  counters_.waits_queue += turn.waited;
  counters_.queue_cycles += turn.locked;
  counters_.busiest_queue = std::max(counters_.busiest_queue, in_all += turn.locked + work);
}

Cycle HostWrites::combine(HostCpu& core, Cycle at, std::size_t lines) {
  if (core.number >= combining_.size()) combining_.resize(core.number + 1);
  Combining& c = combining_[core.number];
  c.free_from.resize(buffers_);
  for (; lines; --lines) {
    Cycle& buffer = c.free_from[c.next];
    c.next = (c.next + 1) % buffers_;
    if (buffer > at) {
      counters_.waits_combining += buffer - at;
      core.hold(buffer - at, buffer - at);
      at = buffer;
    }
    buffer = c.gone = std::max(at, c.gone) + push_line_;
    counters_.combining_cycles += push_line_;
  }
  return c.gone;
}
}  // namespace hca::testbench
