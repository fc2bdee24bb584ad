// SPDX-License-Identifier: Apache-2.0
#include "tlm/metered_pcie_link.h"

#include <algorithm>

#include "model/proto/work_rows.h"

namespace hca::tlm_ {
blocks::ReadTiming MeteredPcieLink::read(Cycle at, u64 address, u32 bytes) {
  if (!meter) return PcieLink::read(at, address, bytes);
  const u32 parts = (bytes + config_.mrrs - 1) / config_.mrrs;
  const std::size_t all = tag_free_from_.size(), first = next_tag_;
  before_ = tag_free_from_;  // in the same memory
  const blocks::ReadTiming timing = PcieLink::read(at, address, bytes);
  u64 answers = 0;
  for (u32 i = 0, rest = bytes; i < parts; ++i, rest -= config_.mrrs)
    answers += answer_of(std::min(rest, config_.mrrs));
  tell_bytes(PciePart::Up, up_.free_from(), u64{parts} * config_.read_header);
  tell_bytes(PciePart::Down, down_.free_from(), answers);
  // A tag that one request uses more than once is taken all the time.
  for (u32 i = 0; i < std::min<std::size_t>(parts, all); ++i) {
    const std::size_t tag = (first + i) % all;
    const Cycle from = std::max(at, before_[tag]), to = tag_free_from_[tag];
    meter(PciePart::Tags, from, to, double(to - from));
  }
  return timing;
}

blocks::ReadTiming MeteredPcieLink::atomic(Cycle at, u64 address, u32 operands) {
  if (!meter) return PcieLink::atomic(at, address, operands);
  const Cycle& tag = tag_free_from_[next_tag_];
  const Cycle from = std::max(at, tag);
  const blocks::ReadTiming timing = PcieLink::atomic(at, address, operands);
  tell_bytes(PciePart::Up, up_.free_from(), atomic_bytes(operands));
  tell_bytes(PciePart::Down, down_.free_from(), answer_of(proto::kAtomicBytes));
  meter(PciePart::Tags, from, tag, double(tag - from));
  return timing;
}

blocks::WriteTiming MeteredPcieLink::write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) {
  const blocks::WriteTiming timing = PcieLink::write(first_in, last_in, address, bytes);
  if (meter)
    tell_bytes(PciePart::Up, up_.free_from(),
               bytes + u64{(bytes + config_.mps - 1) / config_.mps} * config_.write_header);
  return timing;
}
}  // namespace hca::tlm_
