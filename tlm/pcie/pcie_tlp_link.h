// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "tlm/pcie/pcie_credits.h"
#include "tlm/pcie/root_complex.h"

namespace hca::tlm_ {
// The same link TLP by TLP: for what is different from one TLP of a request to the next. With none
// of it the times are those of PcieLink, which counts whole requests.
//  - A TLP leaves when its receiver has the credits for it: one for the header, one for each 16
//    bytes of payload. They are taken as it starts; they are on their way back credit_latency after
//    it has left the receiver's buffer, and back `latency` later. A write leaves the buffer of the
//    root complex when it is in memory, a read when it goes on to memory, what the HCA receives at
//    once.
//  - What waits for credits holds up all of its line behind it, but a read: like one that waits for
//    its tag it holds up reads alone.
//  - completion_order: by_memory. The time that memory takes is drawn for each TLP of a read. Its
//    completions take the line as early as it is free between those that are on their way, whose
//    times stay: a line in use for more than half of the time makes them wait longer than one that
//    serves in the order of arrival (16 tags of 512 B, 57 % of gen 3 x16: 70.8 of 76 Gb/s). A tag
//    is free with the last completion of its read, whatever those before it wait for. The HCA hands
//    on what it read in the order of its requests.
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
  const RootComplex& root() const { return root_; }
  const RootCounters* root_counters() const override { return &root_.counters(); }

 private:
  // The pools of a kind of TLP, with their parts.
  struct Credits : PcieCreditPair {
    PciePart of_headers, of_data;
  };
  // What asks for data and waits for them.
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
  void tell(PciePart part, Cycle from, Cycle to, double amount) const;
  void tell_wait(PciePart part, Cycle from, Cycle to) const;
  void tell_line(PciePart part, Cycle end, u64 bytes) const;
  Cycle returned(Cycle out_of_buffer) const { return out_of_buffer + credit_latency_ + latency_; }

  Cycle credit_latency_;
  Credits posted_, mmio_posted_, completions_;
  PcieCredits nonposted_;
  RootComplex root_;
};

// Whether a link with these knobs has anything that PcieLink does not count.
bool needs_tlps(const PcieConfig& config);
// The link that these knobs ask for; `metered`: one that can tell what it does.
std::unique_ptr<PcieLink> make_pcie_link(const PcieConfig& config, u64 hertz, u64 seed = 0,
                                         bool metered = false);
}  // namespace hca::tlm_
