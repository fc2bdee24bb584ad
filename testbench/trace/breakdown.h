// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "testbench/scenario/operation.h"
#include "testbench/trace/message_log.h"

namespace hca::testbench {
// One step of a message's path, from the previous station to this one.
struct TimePart {
  std::string_view name;
  u64 cycles;
};

// The time of one message by step, from the client's doorbell to its completion, in cycles of the
// client.
struct Breakdown {
  Operation operation{};
  Ends ends = ends_in_pair(0);
  u32 bytes = 0;
  std::vector<TimePart> parts;
  u64 whole = 0;  // measured by the program that posted the message, not by probes
  u64 sum() const;
};
// `period`: of the client's clock, ps.
std::vector<TimePart> parts_of(const MessageTimes& message, u64 period);
}  // namespace hca::testbench
