// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "model/engine/cycle.h"

namespace hca::tlm_ {
using engine::Cycle;

// Resources of the PCIe link and root complex: a line of the link, memory, the cache line of memory
// that is read most, one of each; read tags, flow-control credits and walkers, several of each.
enum class PciePart : u8 {
  Up,
  Down,
  Tags,
  PostedHeaders,
  PostedData,
  NonpostedHeaders,
  CompletionHeaders,
  CompletionData,
  Walkers,
  Memory,
  Lines,
  Count
};
struct PciePartRow {
  std::string_view name, kind, knob;
};
inline constexpr std::array<PciePartRow, std::size_t(PciePart::Count)> kPcieParts{
    {{"line up", "PCIe", "pcie.generation, pcie.lanes"},
     {"line down", "PCIe", "pcie.generation, pcie.lanes"},
     {"read tags", "tags", "pcie.read_tags"},
     {"posted header credits", "credits", "pcie.root_posted_headers"},
     {"posted data credits", "credits", "pcie.root_posted_data"},
     {"non-posted header credits", "credits", "pcie.root_nonposted_headers"},
     {"completion header credits", "credits", "pcie.device_completion_headers"},
     {"completion data credits", "credits", "pcie.device_completion_data"},
     {"page walkers", "walkers", "pcie.iommu_walkers, pcie.iommu_entries"},
     {"host memory", "memory", "pcie.memory_rate, pcie.memory_channels"},
     {"reads of one cache line", "memory", "pcie.same_line_interval"}}};

// Cycles from one to another.
struct PcieWindow {
  Cycle from = 0, to = 0;
};

// Is told how the parts of a link are used.
class PcieMeter {
 public:
  // `amount` of a part, spread evenly between two cycles, all at once if they are equal: bytes of a
  // line of the link; otherwise cycles of tags, credits, walkers, channels of memory or a cache
  // line. A tag counts from the first cycle in which the tags allow its request to the last
  // completion; a credit from the start of its TLP until it returns.
  virtual void use(PciePart part, Cycle from, Cycle to, u64 amount) = 0;
  // TLPs wait for a part, from one cycle to a later one. For each part the calls come in the order
  // of their begins or of their ends; intervals may overlap.
  virtual void waits(PciePart part, Cycle from, Cycle to) = 0;
  // The cycles around `at` of which only the sum of a part's use matters. None: each use is told.
  virtual PcieWindow window(Cycle /*at*/) { return {}; }

 protected:
  ~PcieMeter() = default;
};

// Adds up how a link uses its parts while it works. The meter is told the sums of a window, at its
// first cycle, when the link goes on to a later one, or when it asks: a call for each TLP would cost
// more than the link itself. Without a meter nothing may be added.
class PcieUse {
 public:
  // nullptr: nobody is told. `told`: a bit for each part that is.
  void attach(PcieMeter* meter, u32 told) {
    meter_ = meter, told_ = told;
    window_ = {}, sums_ = {};
  }
  bool is_metered() const { return meter_; }
  // `amount` of a part: PcieMeter::use().
  void add(PciePart part, Cycle from, Cycle to, u64 amount) {
    if (from >= window_.from && to <= window_.to) [[likely]]
      sums_[std::size_t(part)] += amount;
    else
      add_elsewhere(part, from, to, amount);
  }
  // The same for a part of which each use is told.
  void tell(PciePart part, Cycle from, Cycle to, u64 amount) {
    if (told_ >> unsigned(part) & 1) meter_->use(part, from, to, amount);
  }
  void waits(PciePart part, Cycle from, Cycle to) const {
    if (to > from) meter_->waits(part, from, to);
  }
  // Tells what is added up so far.
  void tell_sums() {
    for (std::size_t part = 0; part < sums_.size(); ++part) {
      if (sums_[part]) tell(PciePart(part), window_.from, window_.from, sums_[part]);
      sums_[part] = 0;
    }
  }

 private:
  // A use in a later window begins that; one of an earlier window, or of several, is told alone.
  [[gnu::noinline]] void add_elsewhere(PciePart part, Cycle from, Cycle to, u64 amount) {
    if (from >= window_.to) {
      const PcieWindow next = meter_->window(from);
      if (from >= next.from && to <= next.to) {
        tell_sums();
        window_ = next;
        sums_[std::size_t(part)] = amount;
        return;
      }
    }
    tell(part, from, to, amount);
  }
  PcieMeter* meter_ = nullptr;
  u32 told_ = 0;
  PcieWindow window_;
  std::array<u64, kPcieParts.size()> sums_{};  // of the window, by part
};
}  // namespace hca::tlm_
