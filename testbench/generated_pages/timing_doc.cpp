// SPDX-License-Identifier: Apache-2.0
#include "testbench/generated_pages/timing_doc.h"

#include <fmt/format.h>

#include "testbench/scenario/scenario_knobs.h"

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
      "# Knobs\n\nIn a scenario a knob of a block is written `hca.<block>.<knob>` for both HCAs, "
      "`hca0.` or `hca1.` for one of them. [timing.md](../design/timing.md) explains the effect on "
      "time. `pcie` and `host` also apply to both sides, `pcie0` or `host1` to one. `hca.port` and "
      "`wire` apply to both ports of a chip, `hca.port1`, `hca.port2`, `wire1` or `wire2` to one. "
      "A name that ends in `[]` is an entry of a list "
      "([running.md](../manual/reference/running.md)).\n";
  const blocks::ChipConfig config;
  blocks::for_each_block_config(config, [&]<class Config>(const Config& block) {
    if constexpr (std::is_same_v<Config, blocks::PortConfig>)
      if (&block != &config.port.front()) return;  // the same knobs
    text += section(block, engine::Knobs<Config>::block);
  });
  const Scenario scenario;
  text += section(NodeConfig{}.pcie, "pcie") + section(NodeConfig{}.host, "host");
  text += section(tlm_::WireConfig{}, "wire") + section(scenario.connection, "connection");
  text += section(scenario.verbs, "verbs");
  text += section(scenario.run, "run") + section(WorkloadConfig{}, "workload[]");
  text += section(MixConfig{}, "workload[].mix") + section(SizeConfig{}, "workload[].sizes[]");
  text += section(ServeTimeConfig{}, "workload[].serve_times[]");
  return text + section(FaultConfig{}, "faults[]") + section(attach::FailConfig{}, "fail[]") +
         section(ArbitrationConfig{}, "vl_arbitration[]");
}
}  // namespace hca::testbench
