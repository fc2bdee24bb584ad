// SPDX-License-Identifier: Apache-2.0
// Compares a frame with its recording field by field, by the names of the field tables.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/packet.h"

namespace hca::testbench {
// One field that is not equal. `header` and `field` as in the tables, or: frame.Padding,
// frame.Structure, payload.Byte n, ICRC.Value.
struct FieldDifference {
  std::string header, field;
  std::string expected, got;

  std::string name() const { return header + "." + field; }
};

// What a condition of an allowed difference may look at.
struct FramePair {
  std::span<const u8> recorded, ours;
  const proto::ParsedPacket& recorded_packet;
  const proto::ParsedPacket& our_packet;
  u64 recorded_value, our_value;  // of the field in question
};

// A difference between a recording and us that is right, and why. The only such table.
struct AllowedDifference {
  std::string_view header, field;
  std::string_view condition;
  bool (*holds)(const FramePair&);
  std::string_view statement;  // or the numbered oddity of the recording device
  std::string_view reason;
};
std::span<const AllowedDifference> allowed_differences();

// Uses of each row of allowed_differences().
using AllowedUses = std::vector<u64>;

// All differences that no row allows; `uses` counts those that one does.
std::vector<FieldDifference> compare_frames(std::span<const u8> recorded, std::span<const u8> ours,
                                            AllowedUses& uses);

// A frame in one line: opcode, PSN and what its headers say.
std::string describe_frame(std::span<const u8> frame);
}  // namespace hca::testbench
