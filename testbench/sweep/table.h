// SPDX-License-Identifier: Apache-2.0
// The results of a sweep, one line a point.
#pragma once
#include <string>
#include <vector>

#include "testbench/sweep/store.h"

namespace hca::testbench {
struct SweepTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell for each column; empty: not known
  std::size_t knobs = 0;                       // columns of knobs, behind the first
  std::vector<std::string> mistakes;           // a sentence for each column that no point has
};
// point, the knobs, state, gbit_s, mmsg_s, p50_us, p99_us, p99_9_us, the columns of the sweep file,
// reason. Rates are those of the first row or stream of the run that has rates, latencies those of
// the first that has latencies.
SweepTable table_of(const SweepPlan& plan, const SweepStore& store);
std::string csv_of(const SweepTable& table);
// A page with the table in it, which needs nothing else.
std::string page_of(const SweepTable& table, const std::string& title);
}  // namespace hca::testbench
