// SPDX-License-Identifier: Apache-2.0
// Frames and the differences of two frames as text.
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
// One field that differs. `header` and `field` as in the tables, or: frame.Padding,
// frame.Structure, payload.Byte n, ICRC.Value.
struct FieldDifference {
  std::string header, field;
  std::string expected, got;

  std::string name() const { return header + "." + field; }
};

// Two digits a byte.
std::string hex_text(std::span<const u8> bytes);
// A frame in one line: opcode, PSN and the values of its headers.
std::string describe_frame(std::span<const u8> frame,
                           proto::LinkLayer link = proto::LinkLayer::Ethernet);
}  // namespace hca::testbench
