// SPDX-License-Identifier: Apache-2.0
// The results of a sweep, one line a point.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "testbench/sweep/store.h"

namespace hca::testbench {
struct SweepTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // one cell for each column; empty: unknown
  std::size_t knobs = 0;                       // number of knob columns, after the first column
  std::vector<std::string> mistakes;  // one sentence for each column without a value in any point
};
// point, the knobs, state, gbit_s, mmsg_s, p50_us, p99_us, p99_9_us, bottleneck, the columns of the
// sweep file, reason. The bottleneck is that of the busiest part of the run. Rates are those of the run's first row or stream with rates, latencies those of the first
// with latencies.
SweepTable table_of(const SweepPlan& plan, const SweepStore& store);
std::string csv_of(const SweepTable& table);
// A self-contained page with the table. `origin`: as testbench/report/report_page.h makes it.
std::string page_of(const SweepTable& table, const std::string& title,
                    const nlohmann::json& origin);
}  // namespace hca::testbench
