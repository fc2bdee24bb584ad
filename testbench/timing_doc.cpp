// SPDX-License-Identifier: Apache-2.0
#include "testbench/timing_doc.h"

#include <fmt/format.h>

#include "model/blocks/chip_config.h"

namespace hca::testbench {
namespace {
// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}
}  // namespace

std::string timing_knob_table() {
  std::string text =
      "# Knobs of the blocks\n\n"
      "In a scenario each stands as `hca.<block>.<knob>` for both HCAs, `hca0.` or `hca1.` for "
      "one. "
      "What they mean in time is in timing.md.\n";
  const blocks::ChipConfig config;
  blocks::for_each_block_config(config, [&](const auto& block) {
    using Table = engine::Knobs<std::remove_cvref_t<decltype(block)>>;
    text += fmt::format(
        "\n## {}\n\n{}\n\n| knob | default | range | unit | meaning |\n|---|---|---|---|---|\n",
        Table::block, Table::sentence);
    engine::for_each_knob(block, [&](const auto& knob) {
      text += fmt::format("| {} | {} | {} | {} | {} |\n", knob.info.name, knob.text(),
                          cell(knob.info.range()), engine::unit_name(knob.info.unit),
                          cell(knob.info.sentence));
    });
  });
  return text;
}
}  // namespace hca::testbench
