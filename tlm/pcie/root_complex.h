// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <queue>
#include <vector>

#include "model/blocks/memory/set_store.h"
#include "tlm/pcie/line_reads.h"
#include "tlm/pcie/pcie_link.h"

namespace hca::tlm_ {
// The path between the buffers of the root complex and host memory. Calls come in the order of the
// TLPs on the link; the knobs can switch each part off.
//  - IOMMU: a TLP goes on when the IOTLB has all its pages. On a miss one of the walkers walks the
//    page for iommu_walk; other TLPs for this page wait for the same walk.
//  - A write goes on after earlier writes; with relaxed_ordering it does not wait for their
//    translations.
//  - Reads of one cache line: each line of a read waits for the read of the same line before it, and
//    holds the line for same_line_interval. Latency counts from the last of its lines, and memory's
//    turn is taken meanwhile. An AtomicOp is a read; writes neither wait nor hold.
//  - Last-level cache, with lines of 64 bytes: a write allocates its lines there and nothing goes
//    to memory; an evicted line is written to memory. A read that hits in all lines takes
//    llc_latency; any other read leaves the cache unchanged. Lines of the cores are not modelled.
//  - Memory has channels, each of its share of memory_rate and with its own queue. A TLP is in the
//    channels of its addresses: blocks of memory_interleave bytes, spread by a hash. A read has its
//    data memory_latency after the last of its turns, so it waits the longer the more is asked of a
//    channel. A write is in memory memory_write_latency after all of it has been moved. Turns of a
//    channel follow the order of the calls.
class RootComplex {
 public:
  // `use`: of the link, for walkers, memory and lines.
  RootComplex(const PcieConfig& config, u64 hertz, PcieUse& use);
  // The cycle in which a TLP that has arrived in `at` goes on to memory.
  Cycle read_goes_on(Cycle at, u64 address, u32 bytes);
  Cycle write_goes_on(Cycle at, u64 address, u32 bytes);
  // When the data of a read that goes on in `at` are available; memory takes `latency` for it.
  Cycle read(Cycle at, u64 address, u32 bytes, Cycle latency);
  // When a write that goes on in `at` has left the buffer.
  Cycle write(Cycle at, u64 address, u32 bytes);
  const RootCounters& counters() const { return counters_; }

 private:
  Cycle translated(Cycle at, u64 address, u32 bytes);
  Cycle walked(Cycle at, u64 page);
  struct Turn {
    Cycle begins = 0, ends = 0;  // the last of its channels
  };
  Turn memory_turn(Cycle at, u64 address, u64 bytes);
  Cycle lines_turn(Cycle at, u64 address, u32 bytes);
  TlpLine& channel_of(u64 block);
  const PcieConfig config_;
  PcieUse& use_;
  Cycle walk_, llc_latency_, write_latency_;
  blocks::SetStore pages_, lines_;
  std::vector<Cycle> walked_;  // by slot of pages_: the end of its walk
  // by the cycle in which each becomes free
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> walkers_;
  LineReads line_reads_;
  std::vector<TlpLine> channels_;
  unsigned interleave_bits_ = 0, channel_bits_ = 0;
  Cycle last_write_ = 0;  // when the last write goes on
  RootCounters counters_;
};
}  // namespace hca::tlm_
