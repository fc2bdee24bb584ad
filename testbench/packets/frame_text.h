// SPDX-License-Identifier: Apache-2.0
// Frames and what differs between two of them, for people.
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
// One field that is not equal. `header` and `field` as in the tables, or: frame.Padding,
// frame.Structure, payload.Byte n, ICRC.Value.
struct FieldDifference {
  std::string header, field;
  std::string expected, got;

  std::string name() const { return header + "." + field; }
};

// Two digits a byte.
std::string hex_text(std::span<const u8> bytes);
// A frame in one line: opcode, PSN and what its headers say.
std::string describe_frame(std::span<const u8> frame,
                           proto::LinkLayer link = proto::LinkLayer::Ethernet);
}  // namespace hca::testbench
