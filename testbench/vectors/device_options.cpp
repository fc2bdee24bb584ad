// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/chip_config.h"
#include "testbench/scenario/knob_table.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
DeviceOptions options_of(const JsonAt& setup) {
  DeviceOptions options;
  if (setup.has("framing"))
    for (const proto::FramingRow& row : proto::kFramingRows)
      if (row.name == setup["framing"].text()) options.link = row.link;
  options.limits.ports = ports_of(setup);
  if (setup.has("options"))
    for (const auto& [name, value] : setup["options"].value().items()) {
      KnobTable table;
      table.add("options", options.transport);
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      if (const auto problem = table.set("options." + name, text)) {
        constexpr std::string_view kAllowed = "; allowed: ";
        const auto from = problem->find(": ") + 2, to = problem->find(kAllowed);
        setup["options"][name].refuse(problem->substr(from, to - from),
                                      problem->substr(to + kAllowed.size()));
      }
    }
  return options;
}
}  // namespace hca::testbench
