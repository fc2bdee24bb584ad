// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/calibration_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "testbench/calibration/device_knobs.h"
#include "testbench/scenario/preset.h"
#include "testbench/text/shortened.h"

namespace hca::testbench {
namespace {
namespace fs = std::filesystem;

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string without_blanks(const std::string& text) {
  const auto from = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return from == text.npos ? "" : text.substr(from, last + 1 - from);
}

// The cells of a csv file: "#" begins a comment, the first line has the names of the columns.
class Table {
 public:
  explicit Table(const std::string& file) : file_(file) {
    std::ifstream in(file);
    if (!in) throw ScenarioError({file + ": cannot be read"});
    int line = 0;
    for (std::string text; std::getline(in, text);) {
      if (!line++ && text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
      if (!text.empty() && text.back() == '\r') text.pop_back();
      if (text.empty() || text[0] == '#') continue;
      std::vector<std::string> cells;
      std::istringstream row(text);
      for (std::string cell; std::getline(row, cell, ',');) cells.push_back(without_blanks(cell));
      if (text.back() == ',') cells.emplace_back();
      if (names.empty())
        names = std::move(cells);
      else if (cells.size() != names.size())
        throw ScenarioError({fmt::format("{}:{}: has {} cells; allowed: {}, as the first line",
                                         file, line, cells.size(), names.size())});
      else
        rows_.push_back({line, std::move(cells)});
    }
    if (rows_.empty()) throw ScenarioError({file + ": has no values"});
    for (const std::string& name : names)
      if (std::ranges::count(names, name) > 1)
        throw ScenarioError({fmt::format("{}: two columns are named \"{}\"; allowed: each its own",
                                         file, shortened(name))});
  }
  // The points of one column; empty cells are left out.
  std::vector<CurvePoint> points(std::size_t column) const {
    std::vector<CurvePoint> points;
    for (const auto& [line, cells] : rows_) {
      if (cells[column].empty()) continue;
      const auto x = number_of<u64>(cells[0]);
      const auto y = number_of<double>(cells[column]);
      if (!x || !y || !(*y > 0) || !std::isfinite(*y))
        throw ScenarioError({fmt::format("{}:{}: {}: \"{}\" is no number; allowed: {}", file_, line,
                                         names[x ? column : 0], shortened(cells[x ? column : 0]),
                                         x ? "above 0" : "a whole number")});
      if (std::ranges::find(points, *x, &CurvePoint::x) != points.end())
        throw ScenarioError({fmt::format("{}:{}: {}: {} occurs a second time; allowed: once", file_,
                                         line, names[0], *x)});
      points.push_back({*x, *y});
    }
    if (points.empty())
      throw ScenarioError({fmt::format("{}: {}: has no values", file_, names[column])});
    return points;
  }
  std::vector<std::string> names;

 private:
  std::string file_;
  std::vector<std::pair<int, std::vector<std::string>>> rows_;
};

// The settings of a yaml file, consumed one by one; a setting left at the end is an error.
class Description {
 public:
  explicit Description(const std::string& file) : file_(file), settings_(read_yaml_file(file)) {}
  std::optional<Setting> take(const std::string& path) {
    const auto found = std::find_if(settings_.begin(), settings_.end(),
                                    [&](const Setting& s) { return s.path == path; });
    if (found == settings_.end()) return std::nullopt;
    Setting taken = std::move(*found);
    settings_.erase(found);
    return taken;
  }
  Setting need(const std::string& path) {
    if (auto taken = take(path)) return *taken;
    throw ScenarioError({fmt::format("{}: {}: is missing", file_, path)});
  }
  // All below a path, without it.
  std::vector<Setting> below(const std::string& path) {
    std::vector<Setting> taken;
    std::erase_if(settings_, [&](const Setting& s) {
      if (!s.path.starts_with(path + ".")) return false;
      taken.push_back(s);
      taken.back().path.erase(0, path.size() + 1);
      return true;
    });
    return taken;
  }
  bool has_below(const std::string& path) const {
    return std::any_of(settings_.begin(), settings_.end(),
                       [&](const Setting& s) { return s.path.starts_with(path); });
  }
  [[noreturn]] void refuse(const Setting& s, std::string_view allowed) const {
    throw ScenarioError({fmt::format("{}:{}: {}: \"{}\"; allowed: {}", file_, s.line, s.path,
                                     shortened(s.text), allowed)});
  }
  // What a measurement may say itself: its workload, how it is connected, and how its programs use
  // the host.
  void need_workload(const std::vector<Setting>& settings) const {
    constexpr std::array<std::string_view, 5> kOwn{"connection.", "workload[", "run.", "host.wait",
                                                   "host.doorbell_registers"};
    for (const Setting& s : settings)
      if (std::ranges::none_of(kOwn, [&](std::string_view own) { return s.path.starts_with(own); }))
        throw ScenarioError(
            {fmt::format("{}:{}: {}: is of the device or the host; allowed: "
                         "connection, workload, run, host.wait, "
                         "host.doorbell_registers; a host has a file in setups/",
                         file_, s.line, s.path)});
  }
  std::optional<bool> take_flag(const std::string& path) {
    const auto flag = take(path);
    if (flag && flag->text != "true" && flag->text != "false") refuse(*flag, "true, false");
    return flag ? std::optional<bool>(flag->text == "true") : std::nullopt;
  }
  void refuse_rest() const {
    if (!settings_.empty())
      throw ScenarioError(
          {fmt::format("{}:{}: {}: is no key; allowed: preset, setup, client, held_out, x.column, "
                       "x.sets, x.divide, x.unit, x.one_run, "
                       "curves[].column, figure, wanted, misses, set, scenario",
                       file_, settings_[0].line, settings_[0].path)});
  }

 private:
  std::string file_;
  std::vector<Setting> settings_;
};

std::string figure_words(bool of_dma) {
  std::string words;
  for (const CurveFigureRow& row : kCurveFigures)
    if (row.of_dma == of_dma) words += (words.empty() ? "" : ", ") + std::string(row.word);
  return words;
}

Curve read_curve(Description& yaml, const Table& table, const std::string& path, bool is_dma) {
  Curve curve;
  const Setting column = yaml.need(path + ".column"), figure = yaml.need(path + ".figure");
  const auto found = std::find(table.names.begin(), table.names.end(), column.text);
  if (found == table.names.end() || found == table.names.begin())
    yaml.refuse(column,
                table.names.size() > 1
                    ? fmt::format("{}", fmt::join(table.names.begin() + 1, table.names.end(), ", "))
                    : "none, the csv file has only one column");
  curve.column = column.text;
  curve.points = table.points(std::size_t(found - table.names.begin()));
  const auto row = std::find_if(
      kCurveFigures.begin(), kCurveFigures.end(),
      [&](const CurveFigureRow& r) { return r.word == figure.text && r.of_dma == is_dma; });
  if (row == kCurveFigures.end()) yaml.refuse(figure, figure_words(is_dma));
  curve.figure = CurveFigure(row - kCurveFigures.begin());
  if (const auto wanted = yaml.take(path + ".wanted")) {
    const auto percent = number_of<double>(wanted->text);
    if (!percent || !(*percent > 0) || *percent > 100) yaml.refuse(*wanted, "percent, up to 100");
    curve.wanted = *percent;
  }
  if (const auto misses = yaml.take(path + ".misses")) curve.misses = misses->text;
  curve.sets = yaml.below(path + ".set");
  yaml.need_workload(curve.sets);
  return curve;
}

// For an entry "workload[1]": true if the workload has it; the first is always there.
bool has_entry(const Calibration& c, const std::string& entry) {
  const auto says = [&](const Setting& s) { return s.path.starts_with(entry); };
  return !entry.starts_with("workload[") || entry == "workload[0]" ||
         std::ranges::any_of(c.scenario, says) ||
         std::ranges::any_of(
             c.curves, [&](const Curve& curve) { return std::ranges::any_of(curve.sets, says); });
}
}  // namespace

Calibration read_calibration(const std::string& folder, const std::string& name) {
  const Table table(folder + "/" + name + ".csv");
  Calibration c;
  c.name = name;
  c.file = folder + "/" + name + ".yaml";
  Description yaml(c.file);
  const Setting preset = yaml.need("preset");
  c.preset = preset.text;
  if (!knobs_of_preset(c.preset)) yaml.refuse(preset, preset_names(true));
  if (const auto setup = yaml.take("setup")) {
    c.setup = setup->text;
    const std::vector<std::string> known = setups_in(folder);
    if (std::ranges::find(known, c.setup) == known.end())
      yaml.refuse(*setup, known.empty() ? "none, the folder setups has no file"
                                        : fmt::format("{}", fmt::join(known, ", ")));
  }
  if (const auto client = yaml.take("client")) {
    if (client->text != "dma" && client->text != "hca") yaml.refuse(*client, "hca, dma");
    c.is_dma = client->text == "dma";
  }
  const Setting x = yaml.need("x.column");
  if (x.text != table.names.front()) yaml.refuse(x, table.names.front());
  c.x = x.text;
  const auto take_key = [&](const std::string& path) {
    const auto key = yaml.take(path);
    if (!key) return false;
    if (!c.is_dma) yaml.need_workload({{key->text, "", key->line}});
    c.x_sets.push_back(key->text), c.x_line = key->line;
    return true;
  };
  take_key("x.sets");
  while (take_key(fmt::format("x.sets[{}]", c.x_sets.size()))) {
  }
  if (const auto divide = yaml.take("x.divide")) {
    const auto value = number_of<u64>(divide->text);
    if (!value || !*value) yaml.refuse(*divide, "a whole number above 0");
    c.x_divide = *value;
  }
  c.one_run = yaml.take_flag("x.one_run").value_or(false);
  c.held_out = yaml.take_flag("held_out").value_or(false);
  if (const auto unit = yaml.take("x.unit")) c.x_unit = unit->text;
  c.scenario = yaml.below("scenario");
  yaml.need_workload(c.scenario);
  for (std::size_t i = 0; yaml.has_below(fmt::format("curves[{}]", i)); ++i)
    c.curves.push_back(read_curve(yaml, table, fmt::format("curves[{}]", i), c.is_dma));
  yaml.refuse_rest();
  if (c.curves.empty()) throw ScenarioError({folder + "/" + name + ".yaml: curves: is missing"});
  for (const std::string& path : c.x_sets)
    if (!has_entry(c, path.substr(0, path.find(']') + 1)))
      throw ScenarioError(
          {fmt::format("{}/{}.yaml: x.sets: \"{}\" belongs to no entry; allowed: one "
                       "in the scenario or a curve",
                       folder, name, shortened(path))});
  return c;
}

std::vector<std::string> calibrations_in(const std::string& folder) {
  if (!fs::is_directory(folder)) throw std::runtime_error(folder + ": is no folder");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  if (names.empty()) throw std::runtime_error(folder + ": has no csv file");
  std::sort(names.begin(), names.end());
  return names;
}
}  // namespace hca::testbench
