// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "tlm/pcie_link.h"

namespace hca::tlm_ {
// What of a PCIe link is in use: a line, or one of its read tags.
enum class PciePart : u8 { Up, Down, Tags };
inline constexpr std::array<std::string_view, 3> kPciePartNames{"line up", "line down",
                                                                "read tags"};

// The same link, which also tells what each request takes: `amount` cycles of a line, or of tags,
// evenly between two cycles. A tag is taken from the first cycle in which its request could have
// gone, by tags, to the last completion.
class MeteredPcieLink : public PcieLink {
 public:
  using PcieLink::PcieLink;
  std::function<void(PciePart part, Cycle from, Cycle to, double amount)> meter;
  std::size_t tags() const { return tag_free_from_.size(); }
  blocks::ReadTiming read(Cycle at, u32 bytes) override;
  blocks::WriteTiming write(Cycle first_in, Cycle last_in, u32 bytes) override;

 private:
  std::vector<Cycle> before_;  // tags, at a read
  void tell_line(PciePart part, const TlpLine& line, u64 bytes) const;
};
}  // namespace hca::tlm_
