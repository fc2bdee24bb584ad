// SPDX-License-Identifier: Apache-2.0
#include "tlm/pcie/root_complex.h"

#include <algorithm>
#include <bit>

namespace hca::tlm_ {
namespace {
constexpr u64 kLineBytes = PcieConfig::kCacheLine;
constexpr u64 kAnyRate = 1'000'000'000;  // of a memory that is not asked

// Calls fn(index) for each block of `size` bytes that a TLP touches.
template <class Fn>
void for_each_block(u64 address, u32 bytes, u64 size, Fn&& fn) {
  for (u64 i = address / size; i <= (address + bytes - 1) / size; ++i) fn(i);
}
}  // namespace

RootComplex::RootComplex(const PcieConfig& c, u64 hertz, PcieUse& use)
    : config_(c),
      use_(use),
      walk_(engine::cycles_from_picoseconds(c.iommu_walk, hertz)),
      llc_latency_(engine::cycles_from_picoseconds(c.llc_latency, hertz)),
      write_latency_(engine::cycles_from_picoseconds(c.memory_write_latency, hertz)),
      pages_(c.iommu_entries, c.iommu_ways, blocks::Replacement::Lru),
      lines_(u32(c.llc_bytes / kLineBytes), c.llc_ways, blocks::Replacement::Lru),
      walked_(c.iommu_entries),
      line_reads_(c.same_line_interval, hertz),
      channels_(c.memory_channels,
                TlpLine(engine::Rate(c.memory_rate ? c.memory_rate / c.memory_channels : kAnyRate,
                                     hertz))),
      interleave_bits_(unsigned(std::countr_zero(c.memory_interleave))),
      channel_bits_(unsigned(std::countr_zero(c.memory_channels))) {
  for (u32 i = 0; i < c.iommu_walkers; ++i) walkers_.push(0);
}

Cycle RootComplex::translated(Cycle at, u64 address, u32 bytes) {
  if (pages_.is_empty()) return at;
  Cycle all = at;
  for_each_block(address, bytes, config_.iommu_page, [&](u64 page) {
    ++counters_.translations;
    const u32 slot = pages_.find(page);
    all = std::max(all, slot == pages_.kNone ? walked(at, page) : walked_[slot]);
  });
  if (use_.is_metered()) use_.waits(PciePart::Walkers, at, all);
  return all;
}

Cycle RootComplex::walked(Cycle at, u64 page) {
  ++counters_.walks;
  const Cycle from = std::max(at, walkers_.top()), to = from + walk_;
  walkers_.pop();
  walkers_.push(to);
  const u32 slot = pages_.choose(page);
  pages_.put(slot, page);
  walked_[slot] = to;
  if (use_.is_metered()) use_.tell(PciePart::Walkers, from, to, to - from);
  return to;
}

Cycle RootComplex::read_goes_on(Cycle at, u64 address, u32 bytes) {
  line_reads_.pass_until(at);
  return translated(at, address, bytes);
}

Cycle RootComplex::write_goes_on(Cycle at, u64 address, u32 bytes) {
  const Cycle own = translated(at, address, bytes);
  if (config_.relaxed_ordering) return own;
  return last_write_ = std::max(own, last_write_);
}

// Neighbouring blocks are in different channels, and so are blocks a power of two apart.
TlpLine& RootComplex::channel_of(u64 block) {
  u64 folded = 0;
  for (u64 rest = block; channel_bits_ && rest; rest >>= channel_bits_) folded ^= rest;
  return channels_[folded & (channels_.size() - 1)];
}

RootComplex::Turn RootComplex::memory_turn(Cycle at, u64 address, u64 bytes) {
  Turn turn{at, at};
  if (!config_.memory_rate) return turn;
  while (bytes) {
    const u64 here =
        std::min<u64>(bytes, config_.memory_interleave - address % config_.memory_interleave);
    TlpLine& channel = channel_of(address >> interleave_bits_);
    const Cycle begins = std::max(at, channel.free_from());
    const Cycle end = channel.send(at, here);
    if (use_.is_metered()) {
      use_.waits(PciePart::Memory, at, begins);
      use_.add(PciePart::Memory, begins, end, end - begins);
    }
    turn = {std::max(turn.begins, begins), std::max(turn.ends, end)};
    address += here;
    bytes -= here;
  }
  return turn;
}

// The cycle in which the last of its lines is this read's.
Cycle RootComplex::lines_turn(Cycle at, u64 address, u32 bytes) {
  Cycle all = at;
  for_each_block(address, bytes, kLineBytes, [&](u64 line) {
    const LineReads::Turn turn = line_reads_.take(at, line);
    counters_.line_waits += turn.begins > at;
    if (use_.is_metered()) {
      use_.waits(PciePart::Lines, at, turn.begins);
      if (turn.more) use_.add(PciePart::Lines, turn.ends - turn.more, turn.ends, turn.more);
    }
    all = std::max(all, turn.begins);
  });
  return all;
}

Cycle RootComplex::read(Cycle at, u64 address, u32 bytes, Cycle latency) {
  const Cycle own = line_reads_.is_on() ? lines_turn(at, address, bytes) : at;
  if (!lines_.is_empty()) {
    ++counters_.llc_reads;
    bool all = true;
    for_each_block(address, bytes, kLineBytes,
                   [&](u64 line) { all &= lines_.find(line) != lines_.kNone; });
    if (all) {
      ++counters_.llc_hits;
      return own + llc_latency_;
    }
  }
  return std::max(own, memory_turn(at, address, bytes).begins) + latency;
}

Cycle RootComplex::write(Cycle at, u64 address, u32 bytes) {
  if (lines_.is_empty()) return memory_turn(at, address, bytes).ends + write_latency_;
  u64 gone = 0;
  for_each_block(address, bytes, kLineBytes, [&](u64 line) {
    if (lines_.find(line) != lines_.kNone) return;
    const u32 slot = lines_.choose(line);
    gone += lines_[slot].used;
    lines_.put(slot, line);
  });
  counters_.written_back += gone;
  // It has room when the lines that go are written.
  return memory_turn(at, address, gone * kLineBytes).ends;
}
}  // namespace hca::tlm_
