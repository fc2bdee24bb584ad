// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/serve_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hca::attach {
namespace {
using testbench::RunOptions;
using testbench::Scenario;

// Keys with "host" for "host0" and "host1"; a key that ends with a dot or bracket matches all that
// begin so. The first matching row decides.
struct KeyRow {
  std::string_view key, why = {};      // nothing: the server does as it says
  bool RunOptions::*wanted = nullptr;  // refused only if it is true
  bool needs_records = false;          // and there is no directory to write to
};
constexpr std::string_view
    kOfRun = "applies to `hca run`: here the programs decide",
    kOfQps = "is of the queue pairs of `hca run`: programs say it of theirs",
    kOfPush = "is of pushed WQEs, which programs that attach have not",
    kOfThreads = "is of the threads of `hca run`",
    kFiles = "is a file of `hca run`: `hca serve` writes only captures and counters";
constexpr std::array kKeys{
    KeyRow{"workload[", kOfRun},
    KeyRow{"connection.framing"},
    KeyRow{"connection.path_mtu"},
    KeyRow{"connection.", kOfQps},
    KeyRow{"host.wait", "is of `hca run`: programs poll or wait as they like"},
    KeyRow{"host.warm_up", kOfThreads},
    KeyRow{"host.push_line", kOfPush},
    KeyRow{"host.combining_buffers", kOfPush},
    KeyRow{"host.doorbell_registers", kOfThreads},
    KeyRow{"host.doorbell_lock", kOfThreads},
    KeyRow{"host.doorbell_contention", kOfThreads},
    KeyRow{"host.queue_lock", kOfThreads},
    KeyRow{"host.queue_contention", kOfThreads},
    KeyRow{"run.pcap", "needs a directory to write to: --out DIR", &RunOptions::pcap, true},
    KeyRow{"run.events", kFiles, &RunOptions::events},
    KeyRow{"run.vcd", kFiles, &RunOptions::vcd},
    KeyRow{"run.trace", kFiles, &RunOptions::trace},
    KeyRow{"run.messages", kFiles, &RunOptions::messages},
    KeyRow{"run.payload", "is of `hca run`: programs need all of their bytes"},
    KeyRow{"run.hash", "is printed by `hca run` when it has ended", &RunOptions::hash},
};

// "host0.wait" is refused as "host.wait" is.
std::string of_both(std::string_view path) {
  std::string key(path);
  for (const std::string_view one : {"host0.", "host1."})
    if (key.starts_with(one)) key.erase(4, 1);
  return key;
}
bool is_of(const KeyRow& row, std::string_view key) {
  const bool stands_for_more = row.key.ends_with('[') || row.key.ends_with('.');
  return stands_for_more ? key.starts_with(row.key) : key == row.key;
}
bool is_refused(const KeyRow& row, const Scenario& scenario, bool records) {
  return !row.why.empty() && (!row.wanted || scenario.run.*row.wanted) &&
         !(row.needs_records && records);
}
}  // namespace

std::vector<std::string> serve_mistakes(const Scenario& scenario, bool records) {
  std::vector<std::string> lines;
  bool told_workload = false;
  for (const testbench::GivenKey& given : scenario.given) {
    const std::string key = of_both(given.path);
    const auto row = std::ranges::find_if(kKeys, [&](const KeyRow& r) { return is_of(r, key); });
    if (row == kKeys.end() || !is_refused(*row, scenario, records)) continue;
    const bool is_workload = row->key.ends_with('[');
    if (is_workload && std::exchange(told_workload, true)) continue;
    lines.push_back(fmt::format("{}: {}: {}; allowed: {}", given.where,
                                is_workload ? "workload" : given.path, row->why,
                                row->wanted ? "false" : "without it"));
  }
  return lines;
}
}  // namespace hca::attach
