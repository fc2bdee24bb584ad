// SPDX-License-Identifier: Apache-2.0
#include "model/engine/run.h"

namespace hca::engine {
void report_stuck(std::span<Domain* const> domains) {
  std::string text = "all blocks sleep, but the work is not done\n";
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const std::string report = domains[i]->stuck_report();
    text += "domain " + std::to_string(i) + ": " +
            (report.empty() ? "nobody waits for a link, budget or mailbox\n" : report);
  }
  throw Stuck(text);
}
}  // namespace hca::engine
