// SPDX-License-Identifier: Apache-2.0
// What one packet's headers must look like by themselves, without any context: one row per rule.
#pragma once
#include <string>
#include <vector>

#include "model/proto/dissect.h"

namespace hca::proto {

// A packet whose structure is good, as the rules see it.
struct FormView {
  const u8* frame;
  const Dissection& dissection;
  const ParsedPacket& packet;
  const OpcodeRow& opcode;
  Addressing addressing;
};

struct FormRule {
  std::string_view statement;
  std::string_view sentence;  // what the packet does wrong
  bool (*broken)(const FormView&);
};
std::span<const FormRule> form_rules();

struct BrokenRule {
  std::string_view statement;
  std::string sentence;
};
// Nothing for a frame of another protocol; else the verdict on the structure, wrong CRCs, reserved
// bits that are not zero, and every row above, as far as the packet can be read.
std::vector<BrokenRule> broken_rules(std::span<const u8> frame, const Dissection& dissection);

}  // namespace hca::proto
