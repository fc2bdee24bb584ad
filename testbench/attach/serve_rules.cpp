// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/serve_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace hca::attach {
namespace {
using testbench::RunOptions;
using testbench::Scenario;

// Keys without a number behind "host"; one that ends with a dot or bracket stands for all that
// begin so.
struct RefusedRow {
  std::string_view key, why;
  bool RunOptions::*wanted = nullptr;  // only if it is true
};
constexpr std::string_view
    kOfRun = "is of `hca run`: here programs say what is done",
    kOfQps = "is of the queue pairs of `hca run`: programs say it of theirs",
    kOfPush = "is of pushed WQEs, which programs that attach have not",
    kOfThreads = "is of the threads of `hca run`",
    kFiles = "is a file of `hca run`: `hca serve` writes captures and counters alone";
constexpr std::array kRefused{
    RefusedRow{"workload[", kOfRun},
    RefusedRow{"connection.srq", kOfQps},
    RefusedRow{"connection.service", kOfQps},
    RefusedRow{"connection.qps", kOfQps},
    RefusedRow{"connection.max_rd_atomic", kOfQps},
    RefusedRow{"connection.timeout", kOfQps},
    RefusedRow{"connection.retry_count", kOfQps},
    RefusedRow{"connection.rnr_retry", kOfQps},
    RefusedRow{"connection.min_rnr_timer", kOfQps},
    RefusedRow{"connection.rate_limit", kOfQps},
    RefusedRow{"connection.client_psn", kOfQps},
    RefusedRow{"connection.server_psn", kOfQps},
    RefusedRow{"connection.udp_source_port", kOfQps},
    RefusedRow{"host.wait", "is of `hca run`: programs poll or wait as they like"},
    RefusedRow{"host.warm_up", kOfThreads},
    RefusedRow{"host.push_line", kOfPush},
    RefusedRow{"host.combining_buffers", kOfPush},
    RefusedRow{"host.doorbell_registers", kOfThreads},
    RefusedRow{"host.doorbell_lock", kOfThreads},
    RefusedRow{"host.doorbell_contention", kOfThreads},
    RefusedRow{"run.events", kFiles, &RunOptions::events},
    RefusedRow{"run.vcd", kFiles, &RunOptions::vcd},
    RefusedRow{"run.trace", kFiles, &RunOptions::trace},
    RefusedRow{"run.messages", kFiles, &RunOptions::messages},
    RefusedRow{"run.hash", "is printed by `hca run` when it has ended", &RunOptions::hash},
};

// "host0.wait" is refused as "host.wait" is.
std::string of_both(std::string_view path) {
  std::string key(path);
  for (const std::string_view one : {"host0.", "host1."})
    if (key.starts_with(one)) key.erase(4, 1);
  return key;
}
bool names(std::string_view row, std::string_view key) {
  return row.ends_with('[') ? key.starts_with(row) : key == row;
}
}  // namespace

std::vector<std::string> serve_mistakes(const Scenario& scenario, bool records) {
  std::vector<std::string> lines;
  bool told_workload = false;
  for (const testbench::GivenKey& given : scenario.given) {
    const std::string key = of_both(given.path);
    const auto row =
        std::ranges::find_if(kRefused, [&](const RefusedRow& r) { return names(r.key, key); });
    if (row != kRefused.end() && (!row->wanted || scenario.run.*row->wanted)) {
      const bool is_workload = row->key.ends_with('[');
      if (is_workload && std::exchange(told_workload, true)) continue;
      lines.push_back(fmt::format("{}: {}: {}; allowed: {}", given.where,
                                  is_workload ? "workload" : given.path, row->why,
                                  row->wanted ? "false" : "without it"));
    }
    if (key == "run.pcap" && scenario.run.pcap && !records)
      lines.push_back(given.where +
                      ": run.pcap: needs a directory to write to: --out DIR; allowed: false");
  }
  return lines;
}
}  // namespace hca::attach
