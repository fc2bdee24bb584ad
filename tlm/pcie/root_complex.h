// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <queue>
#include <vector>

#include "model/blocks/memory/set_store.h"
#include "tlm/pcie/pcie_link.h"

namespace hca::tlm_ {
// What lies between the buffers of the root complex and host memory. Calls come in the order of the
// TLPs on the link; each part is left out when its knobs say so.
//  - IOMMU: a TLP goes on when all its pages are in the cache of translations. For a page that is
//    not, one of the walkers walks, iommu_walk long; TLPs that come meanwhile wait for the same
//    walk.
//  - A write goes on behind the writes before it; with relaxed_ordering it waits for none of their
//    translations.
//  - Last-level cache, of lines of 64 bytes: a write takes its lines there and none of it goes to
//    memory; the line that has to go for one is written to memory. A read with all its lines there
//    takes llc_latency; another leaves the cache as it is. What the cores have in it is not known.
//  - Memory moves memory_rate: a read has its data memory_latency after its turn, a write is in
//    memory when all of it is. Turns are taken in the order of the calls.
class RootComplex {
 public:
  // From a cycle to another a walker is at work, or memory is; or a TLP waits for one.
  using Meter = std::function<void(PciePart part, Cycle from, Cycle to)>;
  RootComplex(const PcieConfig& config, u64 hertz);
  // The cycle in which a TLP that is there in `at` goes on to memory.
  Cycle read_goes_on(Cycle at, u64 address, u32 bytes);
  Cycle write_goes_on(Cycle at, u64 address, u32 bytes);
  // The data of a read that goes on in `at` are there; memory takes `latency` for it.
  Cycle read(Cycle at, u64 address, u32 bytes, Cycle latency);
  // A write that goes on in `at` has left the buffer.
  Cycle write(Cycle at, u64 address, u32 bytes);
  const RootCounters& counters() const { return counters_; }
  Meter meter, waits;

 private:
  Cycle translated(Cycle at, u64 address, u32 bytes);
  Cycle walked(Cycle at, u64 page);
  Cycle memory_turn(Cycle at, u64 bytes, Cycle& end);
  const PcieConfig config_;
  Cycle walk_, llc_latency_;
  blocks::SetStore pages_, lines_;
  std::vector<Cycle> walked_;  // by slot of pages_: the end of its walk
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> walkers_;  // free from
  TlpLine memory_;
  Cycle last_write_ = 0;  // goes on
  RootCounters counters_;
};
}  // namespace hca::tlm_
