// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tlm/pcie_link.h"

namespace hca::tlm_ {
// The same link, which also tells what each request takes.
class MeteredPcieLink : public PcieLink {
 public:
  using PcieLink::PcieLink;
  blocks::ReadTiming read(Cycle at, u64 address, u32 bytes) override;
  blocks::ReadTiming atomic(Cycle at, u64 address, u32 operands) override;
  blocks::WriteTiming write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) override;

 private:
  std::vector<Cycle> before_;  // tags, at a read
};
}  // namespace hca::tlm_
