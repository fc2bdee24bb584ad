// SPDX-License-Identifier: Apache-2.0
// Which units of a chip RTL blocks stand in for.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/blocks/chip_config.h"
#include "model/blocks/stand_in.h"

namespace hca::testbench {
enum class RtlBlock : u8 {
  Icrc,
  Packetizer,
  RxParser,
  ResponderCheck,
  RequesterPsn,
  Completion,
  Count
};
inline constexpr std::array<std::string_view, std::size_t(RtlBlock::Count)> kRtlBlockNames{
    "icrc", "packetizer", "rx_parser", "responder_check", "requester_psn", "completion"};

class RtlChoice {
 public:
  constexpr bool any() const { return bits_; }
  constexpr bool has(RtlBlock block) const { return bits_ >> unsigned(block) & 1; }
  constexpr void add(RtlBlock block) { bits_ |= 1u << unsigned(block); }
  // What is wrong, as a sentence without its key; empty: they are added. Names with commas between
  // them, or "all".
  std::string add(std::string_view names);
  std::string text() const;  // as it is read
  // That of a number from 0 to 2^Count - 1, a bit a block.
  static constexpr RtlChoice of(u32 bits) {
    RtlChoice choice;
    choice.bits_ = bits;
    return choice;
  }
  friend constexpr bool operator==(RtlChoice, RtlChoice) = default;

 private:
  u32 bits_ = 0;
};

// Knobs of a chip that are not as the chosen RTL has them.
struct RtlMistake {
  std::string knob;  // "icrc_unit.latency"
  std::string problem, allowed;
};
std::vector<RtlMistake> rtl_mistakes(RtlChoice choice, const blocks::ChipConfig& config);
// Whether this program has the RTL blocks at all.
bool has_rtl();
// The chosen RTL of one chip, for Hca::replace(); it lives as long as the pointer. nullptr: none is
// chosen. Throws std::invalid_argument for what rtl_mistakes() tells, and without RTL.
std::shared_ptr<const blocks::StandIns> make_rtl_path(RtlChoice choice,
                                                      const blocks::ChipConfig& config);
}  // namespace hca::testbench
