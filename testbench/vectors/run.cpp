// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/host/functional_device.h"
#include "testbench/testbed/cycle_device.h"

namespace hca::testbench {
std::optional<std::string> find_difference(const VectorResult& a, const VectorResult& b) {
  auto all = a.seen;
  for (const auto& [where, unused] : b.seen) all.try_emplace(where);
  for (const auto& place : all) {
    const std::string& where = place.first;
    const auto of = [&](const VectorResult& r) {
      const auto found = r.seen.find(where);
      return found == r.seen.end() ? std::vector<std::string>{} : found->second;
    };
    const std::vector<std::string> left = of(a), right = of(b);
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      const std::string l = i < left.size() ? left[i] : "nothing",
                        r = i < right.size() ? right[i] : "nothing";
      if (l != r)
        return fmt::format("{} and {} differ in {} [{}]: {} / {}", a.runner, b.runner, where, i, l,
                           r);
    }
  }
  return std::nullopt;
}

bool VectorReport::passed() const {
  return !runners_differ && std::all_of(results.begin(), results.end(),
                                        [](const VectorResult& r) { return r.passed(); });
}

std::span<const ReplayRunner> vector_runners() {
  static constexpr std::array runners{
      ReplayRunner{"functional", make_functional_device},
      ReplayRunner{"cycle, store", make_cycle_device},
      ReplayRunner{"cycle, cut_through", make_cycle_device, true},
  };
  return runners;
}

VectorReport run_vector(const Vector& vector, RtlChoice rtl) {
  VectorReport report{vector, {}, {}};
  for (ReplayRunner runner : vector_runners()) {
    runner.rtl = rtl;
    report.results.push_back(run_vector(vector, runner));
  }
  for (const VectorResult& r : report.results)
    if (report.results[0].passed() && r.passed() && !report.runners_differ)
      report.runners_differ = find_difference(report.results[0], r);
  return report;
}
}  // namespace hca::testbench
