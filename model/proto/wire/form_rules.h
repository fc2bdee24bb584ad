// SPDX-License-Identifier: Apache-2.0
// The form of one packet's headers, without any context: one row per rule.
#pragma once
#include <string>
#include <vector>

#include "model/proto/wire/dissect.h"

namespace hca::proto {

// The weight of a broken statement. Broken: the statement is a must. Remark: it is a
// recommendation, or receivers ignore it.
enum class Grade : u8 { Broken, Remark };
constexpr std::string_view name_of(Grade grade) {
  return grade == Grade::Broken ? "broken" : "remark";
}

// A packet with a good structure, as the rules see it.
struct FormView {
  const u8* frame;
  const Dissection& dissection;
  const ParsedPacket& packet;
  const OpcodeRow& opcode;
  Addressing addressing;
};

struct FormRule {
  std::string_view statement;
  Grade grade;
  std::string_view sentence;  // what the packet does wrong
  std::string_view reason;    // reason of the grade
  bool (*broken)(const FormView&);
};
std::span<const FormRule> form_rules();

// Applies to every reserved field of every header: it is a remark.
inline constexpr std::string_view kReservedBitsReason =
    "reserved bits are sent as 0, and receivers ignore them";
// Applies to a verdict on the structure and to wrong CRCs: each is broken.
inline constexpr std::string_view kVerdictReason = "a must: the receiver drops it";
inline constexpr u8 kFirstManufacturerOpcode = 0xC0;
inline constexpr std::string_view kManufacturerReason =
    "the codes from 0xC0 on are the manufacturers' own";

// A rule that a packet breaks, of either grade.
struct BrokenRule {
  std::string_view statement;
  std::string sentence;
  Grade grade;
  std::string_view reason;
};
// Returns the verdict on the structure, wrong CRCs, reserved bits that are not zero, and every rule
// above that is broken, as far as the packet can be read; nothing for a frame of another protocol.
std::vector<BrokenRule> broken_rules(std::span<const u8> frame, const Dissection& dissection);

}  // namespace hca::proto
