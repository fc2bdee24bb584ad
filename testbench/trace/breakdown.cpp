// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/breakdown.h"

namespace hca::testbench {
u64 Breakdown::sum() const {
  u64 cycles = 0;
  for (const TimePart& part : parts) cycles += part.cycles;
  return cycles;
}

std::vector<TimePart> parts_of(const MessageTimes& message, u64 period) {
  std::vector<TimePart> parts;
  u64 from = message.start();
  for (const auto& [station, at] : message.way()) {
    if (station != Station::Rung)
      parts.push_back({kStationNames[std::size_t(station)], at / period - from / period});
    from = at;
  }
  return parts;
}
}  // namespace hca::testbench
