// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hca::testbench {
namespace {
constexpr std::size_t kLadderLines = 24;

// ", IBTA C9-130": the numbers that are not those of the statements.
std::string others_of(const Vector& v) {
  std::string text;
  for (const std::string& number : v.ibta)
    if (!std::count(v.statements.begin(), v.statements.end(), number))
      text += (text.empty() ? ", IBTA " : ", ") + number;
  return text;
}

std::string text_of(const VectorResult& r) {
  std::string text = fmt::format("  {}: {}: {}\n", r.runner, r.failure->where, r.failure->what);
  for (const FieldDifference& f : r.failure->fields)
    text += fmt::format("    {}: expected {}, got {}\n", f.name(), f.expected, f.got);
  const std::size_t from = r.ladder.size() > kLadderLines ? r.ladder.size() - kLadderLines : 0;
  if (from) text += fmt::format("    ({} lines before)\n", from);
  for (std::size_t i = from; i < r.ladder.size(); ++i) text += "    | " + r.ladder[i] + '\n';
  return text;
}
}  // namespace

bool is_broken(const VectorReport& report) {
  return std::any_of(report.results.begin(), report.results.end(),
                     [](const VectorResult& r) { return r.is_broken(); });
}

std::string text_of(std::span<const VectorReport> reports) {
  std::string text;
  for (const VectorReport& report : reports) {
    if (report.passed()) continue;
    text += fmt::format("{} ({}{})\n  {}\n", report.vector.path,
                        fmt::join(report.vector.statements, ", "), others_of(report.vector),
                        report.vector.says);
    for (const VectorResult& r : report.results)
      if (!r.passed()) text += text_of(r);
    if (report.runners_differ) text += "  " + *report.runners_differ + '\n';
    text += fmt::format("  because: {}\n\n", report.vector.because);
  }
  const auto broken = std::count_if(reports.begin(), reports.end(), is_broken);
  const auto failed =
      std::count_if(reports.begin(), reports.end(), [](const auto& r) { return !r.passed(); });
  if (broken) text += fmt::format("{} vectors cannot be executed\n", broken);
  return text + fmt::format("{} vectors on {} runners: {} passed, {} failed\n", reports.size(),
                            vector_runners().size(), reports.size() - std::size_t(failed), failed);
}

nlohmann::json json_of(const VectorReport& report) {
  nlohmann::json runners = nlohmann::json::array();
  for (const VectorResult& r : report.results) {
    nlohmann::json one{{"runner", r.runner}, {"passed", r.passed()}};
    if (r.failure) {
      one["where"] = r.failure->where;
      one["what"] = r.failure->what;
      for (const FieldDifference& f : r.failure->fields)
        one["fields"].push_back({{"field", f.name()}, {"expected", f.expected}, {"got", f.got}});
      one["ladder"] = r.ladder;
    }
    runners.push_back(std::move(one));
  }
  nlohmann::json json{{"vector", report.vector.name},    {"path", report.vector.path},
                      {"for", report.vector.statements}, {"ibta", report.vector.ibta},
                      {"passed", report.passed()},       {"runners", std::move(runners)}};
  if (report.runners_differ) json["runners_differ"] = *report.runners_differ;
  return json;
}
}  // namespace hca::testbench
