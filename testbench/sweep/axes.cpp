// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "testbench/sweep/axis_values.h"
#include "testbench/sweep/knob_at.h"
#include "testbench/text/json_at.h"
#include "testbench/text/shortened.h"

namespace hca::testbench {
namespace {
using engine::KnobInfo;

// The values below one place of the file, by their paths from there.
struct Place {
  std::string path;
  int line = 0;
  std::vector<Setting> settings;  // in the order of the text

  const Setting* find(std::string_view key) const {
    const auto at = std::ranges::find(settings, key, &Setting::path);
    return at == settings.end() ? nullptr : &*at;
  }
  // "is empty", or what else a list that has no entries is.
  std::string problem_of(std::string_view key, std::string_view otherwise) const {
    const Setting* const s = find(key);
    return s && s->text == "[]" ? "is empty" : std::string(otherwise);
  }
  bool has(std::string_view key) const {
    return std::ranges::any_of(settings, [&](const Setting& s) { return key_of(s.path) == key; });
  }
  static std::string_view key_of(std::string_view path) {
    return path.substr(0, path.find_first_of(".["));
  }
  // The entries of the list `key`, each with the settings below it.
  std::vector<Place> entries(std::string_view key) const {
    std::vector<Place> list;
    for (const Setting& s : settings) {
      if (!s.path.starts_with(std::string(key) + "[")) continue;
      const std::size_t close = s.path.find(']');
      const std::string entry = s.path.substr(0, close + 1);
      const std::string full = path.empty() ? entry : path + "." + entry;
      if (list.empty() || list.back().path != full) list.push_back({full, s.line, {}});
      Setting below = s;
      below.path = s.path.substr(close + 1);
      if (below.path.starts_with('.')) below.path.erase(0, 1);
      list.back().settings.push_back(std::move(below));
    }
    return list;
  }
};

// "2", "1.25": above 1, with up to six digits after the point.
std::optional<Factor> factor_of(std::string_view text) {
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point),
                         part = point == text.npos ? "" : text.substr(point + 1);
  if (whole.empty() || whole.size() > 6 || part.size() > 6 || (part.empty() && point != text.npos))
    return std::nullopt;
  Factor factor{0, 1};
  for (const char c : std::string(whole) + std::string(part)) {
    if (c < '0' || c > '9') return std::nullopt;
    factor.numerator = factor.numerator * 10 + u64(c - '0');
  }
  for (std::size_t i = 0; i < part.size(); ++i) factor.denominator *= 10;
  if (factor.numerator <= factor.denominator) return std::nullopt;
  return factor;
}

class AxisReader {
 public:
  AxisReader(std::string file, const Scenario& scenario, std::vector<std::string>& errors)
      : file_(std::move(file)), scenario_(scenario), errors_(errors) {}

  Axis read(const Place& place) {
    for (const Form& form : kForms)
      if (place.has(form.key))
        return check_keys(place, form.keys) ? (this->*form.read)(place) : Axis{};
    complain(place.line, place.path,
             "says no points; allowed: knob with values, with from, to and step or factor; list; "
             "random");
    return {};
  }

 private:
  struct Form {
    std::string_view key, keys;
    Axis (AxisReader::*read)(const Place&);
  };
  static const std::array<Form, 4> kForms;
  struct Bounds {
    u64 from, to;
  };

  void complain(int line, const std::string& path, const std::string& problem) {
    errors_.push_back(fmt::format("{}:{}: {}: {}", file_, line, path, problem));
  }
  bool check_keys(const Place& place, std::string_view allowed) {
    const std::string list = ", " + std::string(allowed) + ",";
    for (const Setting& s : place.settings) {
      const std::string key(Place::key_of(s.path));
      if (list.find(", " + key + ",") != list.npos) continue;
      complain(s.line, place.path + "." + key,
               fmt::format("is no key of such an axis; allowed: {}", allowed));
      return false;
    }
    return true;
  }
  // "rtl" is a setting without a range.
  std::optional<KnobInfo> knob(int line, const std::string& path, const std::string& name) {
    const auto info = knob_at(name, scenario_);
    if (info || name == "rtl") return info;
    const std::string nearest = nearest_knob(name);
    complain(
        line, path,
        fmt::format("\"{}\" is no knob of the scenario; allowed: those that `hca config` lists, "
                    "of a list an entry that is there{}",
                    shortened(name), nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
    return info;
  }
  std::optional<u64> value(const KnobInfo& info, int line, const std::string& path,
                           const std::string& text) {
    try {
      return engine::parse_knob(info, text);
    } catch (const engine::ConfigError& error) {
      complain(line, path, error.what());
      return std::nullopt;
    }
  }
  std::optional<u64> number(const Place& place, const std::string& key, u64 most) {
    const Setting* s = place.find(key);
    const auto found = s ? parse_literal(s->text) : std::optional<u64>{};
    if (!found || *found > most || (key != "seed" && !*found)) {
      complain(
          s ? s->line : place.line, place.path + "." + key,
          fmt::format("is no number of its range; allowed: {} .. {}", key == "seed" ? 0 : 1, most));
      return std::nullopt;
    }
    return found;
  }
  // The knob of an axis, or of a knob of a random axis; it must have a range.
  std::optional<KnobInfo> ranged_knob(const Place& place) {
    const Setting* name = place.find("knob");
    if (!name) {
      complain(place.line, place.path, "has no knob; allowed: knob: wire.latency");
      return std::nullopt;
    }
    const auto info = knob(name->line, place.path + ".knob", name->text);
    if (info && (info->unit == engine::Unit::Bool || info->unit == engine::Unit::Enum)) {
      complain(name->line, place.path + ".knob", name->text + " is no number; allowed: values");
      return std::nullopt;
    }
    return info;
  }
  std::optional<Bounds> bounds(const Place& place, const KnobInfo& info) {
    std::array<u64, 2> ends{};
    bool good = true;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string key = i ? "to" : "from", path = place.path + "." + key;
      const Setting* s = place.find(key);
      if (!s) complain(place.line, path, "is missing; allowed: from and to");
      const auto read = s ? value(info, s->line, path, s->text) : std::nullopt;
      good = good && read, ends[i] = read.value_or(0);
    }
    if (good && ends[0] > ends[1]) {
      complain(place.find("to")->line, place.path + ".to",
               "is below from; allowed: " + place.find("from")->text + " or more");
      good = false;
    }
    return good ? std::optional(Bounds{ends[0], ends[1]}) : std::nullopt;
  }

  Axis read_range(const Place& place) {
    const auto info = ranged_knob(place);
    const auto ends = info ? bounds(place, *info) : std::nullopt;
    if (!ends) return {};
    const Setting *step = place.find("step"), *factor = place.find("factor");
    if (!step == !factor) {
      complain(place.line, place.path, "needs one of step and factor");
      return {};
    }
    std::vector<u64> values;
    if (step) {
      KnobInfo any = *info;
      any.min = 1;
      any.rule = nullptr;
      const auto size = value(any, step->line, place.path + ".step", step->text);
      if (!size) return {};
      values = stepped(ends->from, ends->to, *size, kMaxPoints + 1);
    } else {
      const auto times = factor_of(factor->text);
      if (!times) {
        complain(factor->line, place.path + ".factor",
                 "is no factor; allowed: above 1, at most six digits before and after the point");
        return {};
      }
      values = multiplied(ends->from, ends->to, *times, kMaxPoints + 1);
      if (values.back() < ends->to &&
          u128{values.back()} * times->numerator / times->denominator <= values.back()) {
        complain(
            factor->line, place.path + ".factor",
            fmt::format("does not make {} larger; allowed: a larger one, or from where a whole "
                        "unit is added",
                        engine::print_knob(*info, values.back())));
        return {};
      }
    }
    if (values.size() > kMaxPoints) {
      complain(place.line, place.path,
               fmt::format("has more than {0} points; allowed: {0} in all", kMaxPoints));
      return {};
    }
    Axis axis{{place.find("knob")->text}, {}};
    for (const u64 v : values) {
      if (!info->allows(v)) {
        complain(place.line, place.path,
                 fmt::format("gives {}; allowed: {}", engine::print_knob(*info, v), info->range()));
        return {};
      }
      axis.points.push_back({{axis.knobs[0], engine::print_knob(*info, v)}});
    }
    return axis;
  }

  Axis read_values(const Place& place) {
    const Setting* name = place.find("knob");
    if (!name) {
      complain(place.line, place.path, "has no knob; allowed: knob: wire.latency");
      return {};
    }
    const auto info = knob(name->line, place.path + ".knob", name->text);
    if (!info && name->text != "rtl") return {};
    Axis axis{{name->text}, {}};
    const std::vector<Place> entries = place.entries("values");
    if (entries.empty())
      complain(place.line, place.path + ".values",
               place.problem_of("values", "is no list") + "; allowed: [64 B, 4 KiB]");
    for (const Place& entry : entries) {
      const Setting* text = entry.find("");
      if (!text)
        complain(entry.line, entry.path, "is no value; allowed: one of the knob");
      else if (!info || value(*info, entry.line, entry.path, text->text))
        axis.points.push_back({{name->text, text->text}});
    }
    return axis;
  }

  Axis read_list(const Place& place) {
    Axis axis;
    const std::vector<Place> entries = place.entries("list");
    if (entries.empty())
      complain(place.line, place.path + ".list",
               place.problem_of("list", "is no list of points") +
                   "; allowed: [{wire.latency: 1 us, connection.qps: 4}]");
    for (const Place& entry : entries) {
      KnobTexts point;
      for (const Setting& s : entry.settings) {
        const std::string path = entry.path + "." + s.path;
        const auto info = knob(s.line, path, s.path);
        if (info) value(*info, s.line, path, s.text);
        point.emplace_back(s.path, s.text);
        if (std::ranges::find(axis.knobs, s.path) == axis.knobs.end()) axis.knobs.push_back(s.path);
      }
      axis.points.push_back(std::move(point));
    }
    return axis;
  }

  struct Drawn {
    KnobInfo info;
    Bounds ends;
    Scale scale;
    std::vector<std::string> texts{};  // one of these instead
  };
  // For a knob that takes only certain values, or is no number.
  std::optional<Drawn> read_drawn_texts(const Place& place) {
    if (!check_keys(place, "knob, values")) return std::nullopt;
    const Axis axis = read_values(place);
    if (axis.knobs.empty() || axis.points.size() != place.entries("values").size() ||
        axis.points.empty())
      return std::nullopt;
    Drawn all{};
    for (const KnobTexts& point : axis.points) all.texts.push_back(point.front().second);
    return all;
  }
  std::optional<Drawn> read_drawn(const Place& place) {
    if (place.has("values")) return read_drawn_texts(place);
    if (!check_keys(place, "knob, from, to, scale")) return std::nullopt;
    const auto info = ranged_knob(place);
    const auto ends = info ? bounds(place, *info) : std::nullopt;
    if (!ends) return std::nullopt;
    Scale scale = Scale::Uniform;
    if (const Setting* s = place.find("scale")) {
      const auto at = std::ranges::find(kScaleNames, s->text);
      if (at == kScaleNames.end()) {
        complain(s->line, place.path + ".scale", "is unknown; allowed: uniform | log");
        return std::nullopt;
      }
      scale = Scale(at - kScaleNames.begin());
    }
    if (scale == Scale::Log && !ends->from) {
      complain(place.find("from")->line, place.path + ".from",
               "is 0, which has no logarithm; allowed: more than 0");
      return std::nullopt;
    }
    return Drawn{*info, *ends, scale};
  }
  // All knobs of a point are drawn before the next point's.
  Axis read_random(const Place& place) {
    const auto count = number(place, "random", kMaxPoints);
    const auto seed = number(place, "seed", ~u64{0} >> 2);
    Axis axis;
    std::vector<Drawn> all;
    const std::vector<Place> knobs = place.entries("knobs");
    if (knobs.empty())
      complain(place.line, place.path + ".knobs",
               place.problem_of("knobs", "is no list") +
                   "; allowed: [{knob: wire.latency, from: 1 us, to: 9 us, scale: log}]");
    for (const Place& entry : knobs)
      if (const auto one = read_drawn(entry)) {
        all.push_back(*one);
        axis.knobs.push_back(entry.find("knob")->text);
      }
    if (!count || !seed || all.empty() || all.size() != knobs.size()) return {};
    engine::Random random(*seed);
    for (u64 i = 0; i < *count; ++i) {
      KnobTexts point;
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (const std::vector<std::string>& texts = all[k].texts; !texts.empty()) {
          point.emplace_back(axis.knobs[k], texts[random.below(texts.size())]);
          continue;
        }
        const u64 v = drawn(random, all[k].ends.from, all[k].ends.to, all[k].scale);
        if (const KnobInfo& info = all[k].info; !info.allows(v)) {
          complain(knobs[k].line, knobs[k].path,
                   fmt::format("draws {}; allowed: {}; values and list name each",
                               engine::print_knob(info, v), info.range()));
          return {};
        }
        point.emplace_back(axis.knobs[k], engine::print_knob(all[k].info, v));
      }
      axis.points.push_back(std::move(point));
    }
    return axis;
  }

  using u128 = engine::u128;
  std::string file_;
  const Scenario& scenario_;
  std::vector<std::string>& errors_;
};

const std::array<AxisReader::Form, 4> AxisReader::kForms{{
    {"list", "list", &AxisReader::read_list},
    {"random", "random, seed, knobs", &AxisReader::read_random},
    {"values", "knob, values", &AxisReader::read_values},
    {"from", "knob, from, to, step, factor", &AxisReader::read_range},
}};
}  // namespace

std::vector<Axis> read_axes(const std::vector<Setting>& settings, const std::string& file,
                            const Scenario& scenario, std::vector<std::string>& errors) {
  const Place top{"", 1, settings};
  AxisReader reader(file, scenario, errors);
  std::vector<Axis> axes;
  std::map<std::string, std::string> places;  // of knobs
  for (const Place& place : top.entries("axes")) {
    axes.push_back(reader.read(place));
    for (const std::string& knob : axes.back().knobs)
      if (const auto [at, is_new] = places.emplace(knob, place.path); !is_new)
        errors.push_back(fmt::format("{}:{}: {}: {} is a knob of {} too; allowed: once", file,
                                     place.line, place.path, knob, at->second));
  }
  return axes;
}
}  // namespace hca::testbench
