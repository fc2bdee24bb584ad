// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/compare.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "model/proto/types.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
using nlohmann::json;

struct FigureRow {
  std::string_view group, key, name;
};
constexpr std::array kFigures{
    FigureRow{"bandwidth", "gbit_per_s", "Gb/s"}, FigureRow{"bandwidth", "mmsg_per_s", "Mmsg/s"},
    FigureRow{"latency", "p50_us", "p50 us"},     FigureRow{"latency", "p99_us", "p99 us"},
    FigureRow{"latency", "p99.9_us", "p99.9 us"},
};

std::string port_of(const json& entry) {
  const unsigned port = entry.value("port", 1u);
  return port == 1 ? "" : fmt::format(", port {}", port);
}
std::string name_of_row(const json& entry) {
  return fmt::format("{} {} B{}", entry.at("operation").get<std::string>(),
                     entry.at("bytes").get<unsigned long long>(), port_of(entry));
}
std::string name_of_stream(const json& entry) {
  return fmt::format("{} {}{}", entry.at("direction") == "backward" ? "<-" : "->",
                     entry.at("what").get<std::string>(), port_of(entry));
}

// Rates of a stream are its own.
void add_figures(std::vector<Figure>& figures, const json& entry, const std::string& of) {
  for (const FigureRow& row : kFigures) {
    const std::string key(row.key), group(row.group);
    const json& from = entry.contains(group) ? entry.at(group) : entry;
    if (from.contains(key) && from.at(key).is_number())
      figures.push_back({of, std::string(row.name), from.at(key).get<double>()});
  }
}

std::string knobs_compared(const json& a, const json& b) {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& left,
                        const std::string& right) {
    if (left != right) text += fmt::format("  {:<40} {:>18} {:>18}\n", name, left, right);
  };
  const json &left = a.at("knobs"), &right = b.at("knobs");
  json names = left;
  names.update(right);
  for (const auto& [name, unused] : names.items())
    line(name, left.value(name, "-"), right.value(name, "-"));
  line("rtl", a.value("rtl", ""), b.value("rtl", ""));
  return text.empty() ? "Knobs: all are the same\n" : "Knobs that differ\n" + text;
}

std::string figures_compared(const json& a, const json& b) {
  const std::vector<Figure> left = figures_of(a), right = figures_of(b);
  const auto same_in = [](const std::vector<Figure>& list, const Figure& f) {
    const auto at = std::ranges::find_if(
        list, [&](const Figure& g) { return g.of == f.of && g.name == f.name; });
    return at == list.end() ? std::optional<double>{} : at->value;
  };
  std::string text =
      fmt::format("\nFigures\n  {:<40} {:<9} {:>12} {:>12} {:>8}\n", "", "", "A", "B", "B / A");
  const auto cell = [](std::optional<double> v) { return v ? fmt::format("{:.4f}", *v) : ""; };
  const auto line = [&](const Figure& f, std::optional<double> va, std::optional<double> vb) {
    text += fmt::format("  {:<40} {:<9} {:>12} {:>12} {:>8}\n", f.of, f.name, cell(va), cell(vb),
                        va && vb && *va != 0 ? fmt::format("{:.3f}", *vb / *va) : "");
  };
  for (const Figure& f : left) line(f, f.value, same_in(right, f));
  for (const Figure& f : right)
    if (!same_in(left, f)) line(f, std::nullopt, f.value);
  return text;
}

// The limits of a part of a run: one line, or two.
std::string limits_text(const json& part) {
  std::string text;
  for (const json& limit : part.at("limits")) {
    const std::string knob = limit.value("knob", "");
    text += fmt::format("{}{}: {:.0f} % {}{}",
                        text.empty() ? "" : "; as near: ", limit.at("resource").get<std::string>(),
                        limit.at("share").get<double>() * 100, limit.value("said", "busy"),
                        knob.empty() ? "" : " (" + knob + ")");
  }
  return text.empty() ? "nothing is busy enough" : text;
}

// The waits of both runs whose share of the time changed most.
std::string stalls_compared(const json& a, const json& b) {
  constexpr double kShareToPrint = 0.1;
  constexpr std::size_t kPrinted = 3;
  struct Change {
    std::string what;
    double a = 0, b = 0;
    double size() const { return std::abs(b - a); }
  };
  std::vector<Change> changes;
  const auto find = [&](const json& stall) -> Change& {
    const std::string what = fmt::format("{} waits for {}", stall.at("block").get<std::string>(),
                                         stall.at("cause").get<std::string>());
    const auto at = std::ranges::find(changes, what, &Change::what);
    return at == changes.end() ? changes.emplace_back(Change{what}) : *at;
  };
  for (const json& stall : a.at("stalls")) find(stall).a = stall.at("share").get<double>();
  for (const json& stall : b.at("stalls")) find(stall).b = stall.at("share").get<double>();
  std::ranges::stable_sort(changes, std::ranges::greater{}, &Change::size);
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), kPrinted); ++i)
    if (const Change& c = changes[i]; c.size() >= kShareToPrint)
      text += fmt::format("    {}: {:.0f} % -> {:.0f} %\n", c.what, c.a * 100, c.b * 100);
  return text;
}

// The mean time of a part's messages, and the steps whose share changed most. A step that some
// messages lack is averaged over all of them.
std::string times_compared(const json& a, const json& b) {
  constexpr std::size_t kPrinted = 3;
  constexpr double kShareToPrint = 0.02;  // of the mean
  struct Step {
    std::string name;
    double a = 0, b = 0;
    double longer() const { return b - a; }
    double size() const { return std::abs(longer()); }
  };
  if (!a.contains("times") || !b.contains("times")) return "";
  const json &left = a.at("times"), &right = b.at("times");
  if (!left.value("count", 0) || !right.value("count", 0)) return "";
  std::vector<Step> steps;
  const auto add = [&](const json& times, double Step::*side) {
    for (const json& step : times.at("steps")) {
      const std::string name = step.at("step").get<std::string>();
      auto at = std::ranges::find(steps, name, &Step::name);
      if (at == steps.end()) at = steps.insert(at, Step{name});
      (*at).*side = step.at("mean_ns").get<double>() * step.at("count").get<double>() /
                    times.at("count").get<double>();
    }
  };
  add(left, &Step::a);
  add(right, &Step::b);
  const Step whole{"", left.at("whole").at("mean_ns").get<double>(),
                   right.at("whole").at("mean_ns").get<double>()};
  std::ranges::stable_sort(steps, std::ranges::greater{}, &Step::size);
  std::string text = fmt::format("    mean of a message: {:.1f} ns -> {:.1f} ns", whole.a, whole.b);
  for (std::size_t i = 0; i < std::min(steps.size(), kPrinted); ++i)
    if (steps[i].size() >= kShareToPrint * std::max(whole.a, whole.b))
      text += fmt::format("{}{} {:+.1f} ns", i ? ", " : "; most of it: ", steps[i].name,
                          steps[i].longer());
  return text + '\n';
}

// Distinguishes the second of a name from the first.
std::string numbered(const std::string& name, u32 before) {
  return before ? fmt::format("{} ({})", name, before + 1) : name;
}

// The limits of the parts that both runs have, by name.
std::string limits_compared(const json& a, const json& b) {
  const auto parts_of_run = [](const json& summary) {
    const json recording = summary.value("recording", json::object());
    return recording.value("phases", json::array());
  };
  std::string text;
  const json of_b_all = parts_of_run(b);
  std::map<std::string, u32> seen;
  for (const json& left : parts_of_run(a)) {
    const std::string what = left.at("what").get<std::string>();
    const u32 number = seen[what]++;  // of the parts of that name
    u32 other = 0;
    const auto right = std::ranges::find_if(of_b_all, [&](const json& part) {
      return part.at("what") == left.at("what") && other++ == number;
    });
    if (right == of_b_all.end()) continue;
    const std::string of_a = limits_text(left), of_b = limits_text(*right);
    text += fmt::format("  {}\n", numbered(what, number));
    text += of_a == of_b ? fmt::format("    A and B: {}\n", of_a)
                         : fmt::format("    A: {}\n    B: {}\n", of_a, of_b);
    text += times_compared(left, *right) + stalls_compared(left, *right);
  }
  return text.empty() ? "" : "\nWhat limits, and the steps and waits that changed most\n" + text;
}

using Parts = std::vector<std::pair<std::string, long long>>;
Parts parts_of(const json& breakdown) {
  Parts parts;
  for (const json& part : breakdown.at("parts"))
    parts.emplace_back(part.at("part").get<std::string>(), part.at("cycles").get<long long>());
  return parts;
}

struct PartChange {
  std::string name;
  long long a, b;
  long long longer() const { return b - a; }
};
std::vector<PartChange> changes_of(const Parts& a, const Parts& b) {
  std::vector<PartChange> changes;
  const auto find = [&](const std::string& name) -> PartChange& {
    const auto at = std::ranges::find(changes, name, &PartChange::name);
    return at == changes.end() ? changes.emplace_back(PartChange{name, 0, 0}) : *at;
  };
  for (const auto& [name, cycles] : a) find(name).a += cycles;
  for (const auto& [name, cycles] : b) find(name).b += cycles;
  return changes;
}

double megahertz_of(const json& summary) {
  const std::string text = summary.at("knobs").value("hca0.core.clock", "");
  return std::strtod(text.c_str(), nullptr) * (text.ends_with("GHz") ? 1e3 : 1);
}

std::string breakdown_compared(const json& a, const json& b) {
  const std::string of = name_of_row(a);
  const std::vector<PartChange> changes = changes_of(parts_of(a), parts_of(b));
  const long long whole_a = a.at("whole").get<long long>(),
                  whole_b = b.at("whole").get<long long>();
  std::string text = fmt::format("  {:<30} {:>8} {:>8} {:>8}\n", of, "A", "B", "B - A");
  const auto line = [&](std::string_view name, long long left, long long right) {
    text += fmt::format("    {:<28} {:>8} {:>8} {:>+8}\n", name, left, right, right - left);
  };
  for (const PartChange& c : changes)
    if (c.longer()) line(c.name, c.a, c.b);
  line("measured whole", whole_a, whole_b);
  const auto most = std::ranges::max_element(
      changes, {}, [](const PartChange& c) { return std::llabs(c.longer()); });
  if (most == changes.end() || !most->longer())
    return text + "    no part changed of one message alone\n";
  return text + fmt::format("    most of it: {}, {:+} of {:+} cycles\n", most->name, most->longer(),
                            whole_b - whole_a);
}

std::string breakdowns_compared(const json& a, const json& b) {
  std::string text;
  for (const json& left : a.at("breakdowns"))
    for (const json& right : b.at("breakdowns"))
      if (name_of_row(left) == name_of_row(right)) text += breakdown_compared(left, right);
  if (text.empty()) return "\nNo message was followed alone in both.\n";
  const double mhz_a = megahertz_of(a), mhz_b = megahertz_of(b);
  std::string head = fmt::format(
      "\nWhere the difference comes from: one message alone, cycles of {:g} MHz", mhz_a);
  if (mhz_a != mhz_b) head += fmt::format(" (A) and {:g} MHz (B)", mhz_b);
  return head + "; parts that are the same are left out\n" + text;
}
}  // namespace

json read_summary(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string place = fs::is_directory(path) ? path + "/summary.json" : path;
  const auto text = read_text_file(place);
  if (!text) throw std::runtime_error(place + ": cannot be read; allowed: a result of hca run");
  json summary = json::parse(*text, nullptr, false);
  const char* problem = summary.is_discarded() ? "is no JSON" : nullptr;
  for (const char* key : {"sizes", "streams", "breakdowns"})
    if (!problem && (!summary.is_object() || !summary.value(key, json()).is_array()))
      problem = "has no result";
  if (!problem && (!summary.value("knobs", json()).is_object() ||
                   !summary.value("recording", json::object()).is_object()))
    problem = "has no result";
  if (problem)
    throw std::runtime_error(
        fmt::format("{}: {}; allowed: the summary.json of hca run --out", place, problem));
  return summary;
}

std::vector<Figure> figures_of(const json& summary) {
  std::vector<Figure> figures;
  std::map<std::string, u32> seen;
  for (const json& entry : summary.at("sizes")) {
    const std::string name = name_of_row(entry);
    add_figures(figures, entry, numbered(name, seen[name]++));
  }
  for (const json& entry : summary.at("streams")) {
    const std::string name = name_of_stream(entry);
    add_figures(figures, entry, numbered(name, seen[name]++));
  }
  return figures;
}

std::string compared(const json& a, const json& b) {
  std::string text = fmt::format("{}{}{}{}", knobs_compared(a, b), figures_compared(a, b),
                                 limits_compared(a, b), breakdowns_compared(a, b));
  for (const auto& [name, summary] : {std::pair("A", &a), std::pair("B", &b)})
    for (const json& failure : summary->value("failures", json::array()))
      text += fmt::format("{} FAILED: {}\n", name, failure.get<std::string>());
  return text;
}
}  // namespace hca::testbench
