// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "testbench/sweep/page.h"

namespace hca::testbench {
namespace {
using nlohmann::json;

struct FigureRow {
  std::string_view column, group, name;  // group: of a row; a stream has rates itself
};
constexpr std::array kFigures{
    FigureRow{"gbit_s", "bandwidth", "gbit_per_s"}, FigureRow{"mmsg_s", "bandwidth", "mmsg_per_s"},
    FigureRow{"p50_us", "latency", "p50_us"},       FigureRow{"p99_us", "latency", "p99_us"},
    FigureRow{"p99_9_us", "latency", "p99.9_us"},
};

std::string text_of(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string figure_in(const json& summary, const FigureRow& figure) {
  for (const char* list : {"sizes", "streams"})
    for (const json& entry : summary.value(list, json::array())) {
      if (entry.contains(figure.group))
        return text_of(entry[std::string(figure.group)].value(std::string(figure.name), json()));
      if (figure.group == "bandwidth" && entry.contains(figure.name))
        return text_of(entry[std::string(figure.name)]);
    }
  return "";
}

// "hca0 link transmit (port.link_rate)", of the part of the run whose limit is nearest; empty: none.
std::string bottleneck_in(const json& summary) {
  const json recording = summary.value("recording", json::object());
  const json* nearest = nullptr;
  const json phases = recording.value("phases", json::array());
  for (const json& phase : phases)
    if (const json& limits = phase.at("limits"); !limits.empty())
      if (!nearest || limits[0].at("share") > nearest->at("share")) nearest = &limits[0];
  if (!nearest) return "";
  const std::string knob = nearest->value("knob", "");
  return nearest->at("resource").get<std::string>() + (knob.empty() ? "" : " (" + knob + ")");
}

// nullptr: the run has no such value.
const json* value_at(const json& summary, const SweepColumn& column) {
  const json::json_pointer pointer(column.pointer);
  return summary.contains(pointer) ? &summary.at(pointer) : nullptr;
}

std::string knob_of(const SweepPoint& point, const std::string& name) {
  const auto at = std::ranges::find(point.knobs, name, &KnobTexts::value_type::first);
  return at == point.knobs.end() ? "" : at->second;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}
std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line.append(i ? "," : "").append(csv_cell(cells[i]));
  return line + "\n";
}

void replace(std::string& text, std::string_view mark, const std::string& by) {
  text.replace(text.find(mark), mark.size(), by);
}
}  // namespace

SweepTable table_of(const SweepPlan& plan, const SweepStore& store) {
  SweepTable table;
  table.columns = {"point"};
  table.columns.insert(table.columns.end(), plan.knobs.begin(), plan.knobs.end());
  table.knobs = plan.knobs.size();
  table.columns.emplace_back("state");
  for (const FigureRow& figure : kFigures) table.columns.emplace_back(figure.column);
  table.columns.emplace_back("bottleneck");
  for (const SweepColumn& column : plan.columns) table.columns.push_back(column.name);
  table.columns.emplace_back("reason");
  std::vector<std::size_t> without(plan.columns.size());  // points that ended
  std::size_t done = 0;
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const SweepPoint& point = plan.points[i];
    std::vector<std::string> row{point.name};
    for (const std::string& knob : plan.knobs) row.push_back(knob_of(point, knob));
    const PointState state = store.state(i);
    row.emplace_back(kPointStateNames[std::size_t(state)]);
    const json summary = state == PointState::Done ? store.summary(i) : json::object();
    for (const FigureRow& figure : kFigures) row.push_back(figure_in(summary, figure));
    row.push_back(bottleneck_in(summary));
    done += state == PointState::Done;
    for (std::size_t c = 0; c < plan.columns.size(); ++c) {
      const json* value = value_at(summary, plan.columns[c]);
      without[c] += state == PointState::Done && !value;
      row.push_back(value ? text_of(*value) : "");
    }
    row.push_back(state == PointState::Failed ? store.reason(i) : "");
    table.rows.push_back(std::move(row));
  }
  for (std::size_t c = 0; c < plan.columns.size(); ++c)
    if (const SweepColumn& column = plan.columns[c]; done && without[c] == done)
      table.mistakes.push_back(fmt::format("{}:{}: columns.{}: no point has {} in its summary.json",
                                           plan.file, column.line, column.name, column.pointer));
  return table;
}

std::string csv_of(const SweepTable& table) {
  std::string text = csv_line(table.columns);
  for (const auto& row : table.rows) text += csv_line(row);
  return text;
}

std::string page_of(const SweepTable& table, const std::string& title, const json& origin) {
  const json data{{"title", title},
                  {"columns", table.columns},
                  {"rows", table.rows},
                  {"knobs", table.knobs},
                  {"origin", origin}};
  std::string safe = data.dump(-1, ' ', true, json::error_handler_t::replace);
  for (std::size_t at = 0; (at = safe.find('<', at)) != safe.npos;) safe.replace(at, 1, "\\u003c");
  std::string page(kSweepPage);
  replace(page, "SWEEP_DATA", safe);
  return page;
}
}  // namespace hca::testbench
