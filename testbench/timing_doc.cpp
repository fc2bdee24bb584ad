// SPDX-License-Identifier: Apache-2.0
#include "testbench/timing_doc.h"

#include <fmt/format.h>

#include "testbench/scenario_knobs.h"

namespace hca::testbench {
namespace {
// A bar would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

template <class Config>
std::string section(const Config& config, std::string_view title) {
  using Table = engine::Knobs<Config>;
  std::string text = fmt::format(
      "\n## {}\n\n{}\n\n| knob | default | range | unit | meaning |\n|---|---|---|---|---|\n",
      title, Table::sentence);
  engine::for_each_knob(config, [&](const auto& knob) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", knob.info.name, knob.text(),
                        cell(knob.info.range()), engine::unit_name(knob.info.unit),
                        cell(knob.info.sentence));
  });
  return text;
}
}  // namespace

std::string timing_knob_table() {
  std::string text =
      "# Knobs\n\n"
      "Those of a block stand in a scenario as `hca.<block>.<knob>` for both HCAs, `hca0.` or "
      "`hca1.` "
      "for one. What they mean in time is in timing.md. `pcie` and `host` are for both sides too, "
      "`pcie0`, `host1` for one; what ends in `[]` is an entry of a list (running.md).\n";
  const blocks::ChipConfig config;
  blocks::for_each_block_config(config, [&](const auto& block) {
    text += section(block, engine::Knobs<std::remove_cvref_t<decltype(block)>>::block);
  });
  const Scenario scenario;
  text += section(scenario.pcie[0], "pcie") + section(scenario.host[0], "host");
  text += section(scenario.wire, "wire") + section(scenario.connection, "connection");
  text += section(scenario.run, "run") + section(WorkloadConfig{}, "workload[]");
  text += section(MixConfig{}, "workload[].mix") + section(SizeConfig{}, "workload[].sizes[]");
  return text + section(FaultConfig{}, "faults[]");
}
}  // namespace hca::testbench
