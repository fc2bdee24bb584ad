// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "tlm/pcie/pcie_credits.h"
#include "tlm/pcie/root_complex.h"

namespace hca::tlm_ {
// The same link TLP by TLP, for mechanisms that differ between the TLPs of a request. Without them
// the times are those of PcieLink, which counts whole requests.
//  - Credits: a TLP leaves when its receiver has one credit for its header and one for each 16
//    bytes of payload. They are taken when it starts. They are sent back credit_latency after it
//    has left the receiver's buffer, and arrive `latency` later. A write leaves the buffer of the
//    root complex when it is in memory, a read when it goes on to memory, a completion at once.
//    Those of MMIO writes are counted by the host, which knows when the HCA takes them.
//  - A TLP that waits for credits blocks all later ones of its line. Exception: a waiting read,
//    like one that waits for its tag, blocks only reads.
//  - completion_order: by_memory. The memory latency is drawn for each TLP of a read. Its
//    completions use the earliest free time on the line between those in flight, whose times stay.
//    Above half load this makes them wait longer than service in order of arrival (16 tags of 512
//    B, 57 % of gen 3 x16: 70.8 of 76 Gb/s). A tag is free with the last completion of its read,
//    independent of earlier reads. The HCA passes the data on in the order of its requests.
//  - split: by_address cuts a write where an address is a multiple of MPS, a read where one is a
//    multiple of MRRS, both at 4 KiB; the first completion ends at a multiple of its size.
class PcieTlpLink : public PcieLink {
 public:
  // Throws engine::ConfigError.
  PcieTlpLink(const PcieConfig& config, u64 hertz, u64 seed = 0);
  PcieTlpLink(const PcieTlpLink&) = delete;
  blocks::ReadTiming read(Cycle at, u64 address, u32 bytes) override;
  blocks::ReadTiming atomic(Cycle at, u64 address, u32 operands) override;
  blocks::WriteTiming write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) override;
  Cycle mmio_write(Cycle at, u32 bytes) override;
  u32 count(PciePart part) const override;
  void begin_most(Cycle now) override;
  u32 most(PciePart part) const override;
  const RootComplex& root() const { return root_; }
  const RootCounters* root_counters() const override { return &root_.counters(); }

 private:
  // The credit pools of a kind of TLP, with their parts.
  struct Credits : PcieCreditPair {
    PciePart of_headers, of_data;
  };
  // A request that waits for its data.
  struct Asked {
    u64 address = 0;
    u32 bytes = 0;
    u64 on_line = 0;  // bytes of its TLP
  };
  Cycle ask(Cycle at, const Asked& asked, bool first, blocks::ReadTiming& timing);
  u32 piece_of(u64 address, u32 bytes, u32 most) const;
  Cycle answer(Cycle from, u64 address, u32 bytes, blocks::ReadTiming& timing);
  bool by_memory() const { return config_.completion_order == CompletionOrder::ByMemory; }
  void give(Credits& credits, Cycle start, Cycle out_of_buffer, u32 bytes);
  Cycle with_credits(Credits& credits, Cycle at, u32 bytes);
  const PcieCredits* pool(PciePart part) const;  // nullptr: neither tags nor credits

  PcieCredits tags_, nonposted_;
  Credits posted_, completions_;
  RootComplex root_;
};

// True if these knobs need a mechanism that PcieLink does not count.
bool needs_tlps(const PcieConfig& config);
// Creates the link for these knobs; `metered`: it reports its use.
std::unique_ptr<PcieLink> make_pcie_link(const PcieConfig& config, u64 hertz, u64 seed = 0,
                                         bool metered = false);
}  // namespace hca::tlm_
