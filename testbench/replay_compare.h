// SPDX-License-Identifier: Apache-2.0
// Compares a frame with its recording field by field, by the names of the field tables.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "testbench/replay_allowed.h"

namespace hca::testbench {
// One field that is not equal. `header` and `field` as in the tables, or: frame.Padding,
// frame.Structure, payload.Byte n, ICRC.Value.
struct FieldDifference {
  std::string header, field;
  std::string expected, got;

  std::string name() const { return header + "." + field; }
};

// All differences that no row allows; `uses` counts those that one does.
std::vector<FieldDifference> compare_frames(const Seen& recorded, const Seen& ours,
                                            const QpHistory* qp, AllowedUses& uses);

// A frame in one line: opcode, PSN and what its headers say.
std::string describe_frame(std::span<const u8> frame,
                           proto::LinkLayer link = proto::LinkLayer::Ethernet);
}  // namespace hca::testbench
