// SPDX-License-Identifier: Apache-2.0
// The use of a chip's PCIe, as the link tells it.
#include <fmt/format.h>

#include <algorithm>

#include "testbench/run/run_recorder.h"

namespace hca::testbench {
void RunRecorder::add_pcie(unsigned i) {
  tlm_::PcieLink& link = testbed_.node(i).pcie();
  Pcie& pcie = chips_[i].pcie;
  pcie.recorder = this, pcie.chip = i, pcie.period = testbed_.node(i).hca.period().value();
  for (std::size_t p = 0; p < pcie.resources.size(); ++p) {
    const auto& [name, kind, knob] = tlm_::kPcieParts[p];
    if (const u32 of = link.count(tlm_::PciePart(p)))
      pcie.resources[p] =
          add_resource("PCIe", fmt::format("hca{} PCIe {}", i, name), std::string(kind), of,
                       std::string(knob), link.cycles_of(tlm_::PciePart(p)) * double(pcie.period));
  }
  link.attach(&pcie);
}

void RunRecorder::Pcie::use(tlm_::PciePart part, Cycle from, Cycle to, u64 amount) {
  recorder->use(resources[std::size_t(part)], from * period, to * period, double(amount));
  if (part == tlm_::PciePart::Walkers) recorder->peaks_.use_walker(chip, from, to);
}

tlm_::PcieWindow RunRecorder::Pcie::window(Cycle at) {
  const TimeSeries::Bucket bucket = recorder->series_.bucket_at(at * period);
  return {(bucket.from + period - 1) / period, bucket.to / period};
}

void RunRecorder::Pcie::waits(tlm_::PciePart part, Cycle from, Cycle to) {
  Cycle& until = waited_until[std::size_t(part)];
  from = std::max(from, until);
  if (to <= from) return;
  waited[std::size_t(part)] += to - from;
  until = to;
}
}  // namespace hca::testbench
