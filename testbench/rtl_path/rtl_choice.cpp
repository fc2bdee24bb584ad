// SPDX-License-Identifier: Apache-2.0
#include "testbench/rtl_path/rtl_choice.h"

#include <fmt/format.h>

#include "model/blocks/chip_config.h"
#include "model/blocks/twins/completion_unit.h"
#include "model/blocks/twins/packetizer_unit.h"
#include "model/blocks/twins/responder_check_unit.h"
#include "model/engine/knob_text.h"
#include "testbench/text/trimmed.h"

namespace hca::testbench {
namespace {
constexpr std::string_view kAll = "all";
}  // namespace

std::string RtlChoice::add(std::string_view names) {
  RtlChoice more = *this;
  names = trimmed(names);
  if (names.starts_with('[') && names.ends_with(']')) names = names.substr(1, names.size() - 2);
  for (std::size_t from = 0; from <= names.size();) {
    const std::size_t end = std::min(names.find(',', from), names.size());
    const std::string_view name = trimmed(names.substr(from, end - from));
    from = end + 1;
    if (name == kAll) {
      more = all();
      continue;
    }
    unsigned block = 0;
    while (block < kRtlBlockNames.size() && kRtlBlockNames[block] != name) ++block;
    if (block == kRtlBlockNames.size()) {
      const std::string nearest = engine::nearest_name(name, kRtlBlockNames);
      return fmt::format("\"{}\" is no RTL block; allowed: {}{}{}", name, all().text(), ", all",
                         nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
    }
    if (more.has(RtlBlock(block))) return fmt::format("\"{}\" occurs twice", name);
    more.RtlSet::add(RtlBlock(block));
  }
  *this = more;
  return {};
}

std::string RtlChoice::text() const {
  std::string names;
  for (unsigned i = 0; i < kRtlBlockNames.size(); ++i)
    if (has(RtlBlock(i))) names.append(names.empty() ? "" : ", ").append(kRtlBlockNames[i]);
  return names;
}

std::vector<RtlMistake> rtl_mistakes(RtlChoice choice, const blocks::ChipConfig& config) {
  std::vector<RtlMistake> mistakes;
  const auto must_be = [&](RtlBlock block, const char* knob, u64 is, u64 fixed) {
    if (choice.has(block) && is != fixed)
      mistakes.push_back({knob, fmt::format("is {}", is),
                          fmt::format("{0} with rtl/{1}/{1}.sv in the path", fixed,
                                      kRtlBlockNames[unsigned(block)])});
  };
  must_be(RtlBlock::Icrc, "icrc_unit.latency", config.icrc_unit.latency,
          blocks::IcrcUnitConfig{}.latency);
  must_be(RtlBlock::Icrc, "icrc_unit.interval", config.icrc_unit.interval, 1);
  must_be(RtlBlock::Packetizer, "packetizer.latency", config.packetizer.latency,
          blocks::PacketizerUnitConfig{}.latency);
  must_be(RtlBlock::Packetizer, "packetizer.interval", config.packetizer.interval, 1);
  must_be(RtlBlock::ResponderCheck, "responder_check.latency", config.responder_check.latency,
          blocks::ResponderCheckItem::kLatency);
  must_be(RtlBlock::ResponderCheck, "responder_check.interval", config.responder_check.interval, 1);
  must_be(RtlBlock::Completion, "completion.latency", config.completion.latency,
          blocks::CompletionItem::kLatency);
  must_be(RtlBlock::Completion, "completion.interval", config.completion.interval, 1);
  const bool selects = config.transport.recovery != proto::Recovery::GoBackN;
  for (const RtlBlock block : {RtlBlock::RequesterPsn, RtlBlock::ResponderCheck})
    if (choice.has(block) && selects)
      mistakes.push_back(
          {"transport.recovery",
           fmt::format("is {}", proto::kRecoveryNames[unsigned(config.transport.recovery)]),
           fmt::format("{0} with rtl/{1}/{1}.sv in the path", proto::kRecoveryNames[0],
                       kRtlBlockNames[unsigned(block)])});
  const u32 beat = config.icrc_unit.beat_bytes;
  if (choice.any() && beat != 32 && beat != 64)
    mistakes.push_back({"icrc_unit.beat_bytes", fmt::format("is {} B", beat),
                        "32 B or 64 B with RTL in the path"});
  return mistakes;
}
}  // namespace hca::testbench
