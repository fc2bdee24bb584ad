// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "testbench/calibration/calibration.h"
#include "testbench/calibration/curve_runs.h"
#include "testbench/calibration/dma_client.h"
#include "testbench/scenario/scenario.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kQuickPoints = 5;
constexpr u64 kQuickShare = 4, kQuickMessages = 2000;  // fewer than these are not divided
constexpr double kNoGain = 0.01;                       // percent
constexpr unsigned kFarthest = 4;                      // steps of one knob in one direction
// Steps of a value, in thousandths of it.
constexpr std::array<u64, 4> kSteps{250, 100, 40, 15};

// The first and the last point, and some between.
std::vector<CurvePoint> thinned(const std::vector<CurvePoint>& points) {
  if (points.size() <= kQuickPoints) return points;
  std::vector<CurvePoint> few;
  for (std::size_t i = 0; i < kQuickPoints; ++i)
    few.push_back(points[i * (points.size() - 1) / (kQuickPoints - 1)]);
  return few;
}

void take_fewer_messages(std::vector<Setting>& settings) {
  for (Setting& s : settings) {
    u64 messages = 0;
    if (!s.path.ends_with(".messages")) continue;
    std::from_chars(s.text.data(), s.text.data() + s.text.size(), messages);
    if (messages > kQuickMessages)
      s.text = std::to_string(std::max(messages / kQuickShare, kQuickMessages));
  }
}

// A knob that the fit may change.
struct Free {
  std::string file, path, before;
  Setting* setting;
  engine::KnobInfo info;
  std::string fallback;
};

class Fitter {
 public:
  Fitter(const std::vector<Calibration>& all, const DeviceKnobs& start, const FitPlan& plan,
         const std::function<void(const std::string&)>& progress)
      : plan_(plan), progress_(progress) {
    result_.knobs = start;
    for (const Calibration& c : all) take(c);
    if (curves_.empty())
      throw std::runtime_error(
          fmt::format("{}: no curve that is not held out; nothing can be fitted", plan.preset));
    find_knobs();
  }
  Fit run() {
    error_ = result_.error_before = trial();
    if (!plan_.without.empty())
      for (Free& knob : free_) fall_back(knob);
    for (const u64 step : kSteps)
      while (pass(step)) {
      }
    for (const Free& knob : free_)
      result_.fitted.push_back({knob.file, knob.path, knob.before, knob.setting->text});
    result_.error_after = error_;
    return std::move(result_);
  }

 private:
  void take(Calibration c) {
    std::erase_if(c.curves, [&](const Curve& curve) { return !counts(c, curve, plan_); });
    if (c.curves.empty()) return;
    if (plan_.is_quick) {
      take_fewer_messages(c.scenario);
      for (Curve& curve : c.curves) {
        take_fewer_messages(curve.sets);
        curve.points = thinned(curve.points);
      }
    }
    curves_.push_back(std::move(c));
  }
  void find_knobs() {
    Scenario scenario;
    DmaClientConfig client;
    KnobTable table = knobs_of(scenario);
    table.add("dma_client", client);
    const std::vector<KnobTable::Entry> entries = table.entries();
    const auto add = [&](const std::string& file, std::vector<SourcedKnob>& knobs, bool of_setup) {
      for (SourcedKnob& knob : knobs) {
        if (!knob.is_fitted) continue;
        const auto entry = std::ranges::find(entries, knob.setting.path, &KnobTable::Entry::path);
        if (entry == entries.end())
          throw ScenarioError(
              {fmt::format("{}: {}: there is no such knob", file, knob.setting.path)});
        std::string fallback = entry->text;
        if (of_setup)
          for (const SourcedKnob& own : result_.knobs.presets.at(plan_.preset))
            if (own.setting.path == knob.setting.path) fallback = own.setting.text;
        free_.push_back({file, knob.setting.path, knob.setting.text, &knob.setting, entry->info,
                         std::move(fallback)});
      }
    };
    add("preset " + plan_.preset, result_.knobs.presets.at(plan_.preset), false);
    for (auto& setup : result_.knobs.setups)
      if (std::ranges::find(curves_, setup.first, &Calibration::setup) != curves_.end())
        add("setup " + setup.first, setup.second, true);
  }
  // The mean error with the knobs as they are; infinite if a run fails.
  double trial() {
    ++result_.trials;
    double sum = 0;
    std::size_t count = 0;
    for (Calibration& c : curves_) {
      try {
        calibrate(c, result_.knobs, {}, [](const std::string&) {});
      } catch (const std::runtime_error&) {
        return std::numeric_limits<double>::infinity();
      }
      for (const Curve& curve : c.curves) sum += mean_error(curve), ++count;
    }
    return sum / double(count);
  }
  bool is_over() const { return result_.trials >= plan_.trials; }
  // True: the value is kept, because the error with it is below `bound`.
  bool try_value(Free& knob, const std::string& text, double bound) {
    if (is_over() || text == knob.setting->text) return false;
    const std::string before = std::exchange(knob.setting->text, text);
    const double error = trial();
    progress_(fmt::format("trial {} of {}: {}={}: {:.2f} %", result_.trials, plan_.trials,
                          knob.path, text, error));
    if (error < bound) return error_ = error, true;
    knob.setting->text = before;
    return false;
  }
  void fall_back(Free& knob) { try_value(knob, knob.fallback, error_ + kNoGain); }
  // The next value in a direction; empty: there is none.
  static std::optional<std::string> stepped(const Free& knob, u64 step, bool up) {
    const u64 value = parse_knob(knob.info, knob.setting->text);
    const u64 change = std::max<u64>(value / 1000 * step + value % 1000 * step / 1000, 1);
    if (!up && change > value) return std::nullopt;
    u64 next = up ? value + change : value - change;
    // Powers of two and their like: the next one that is allowed within a factor of two.
    const auto is_near = [&] { return up ? next <= 2 * value : 2 * next >= value && next; };
    while (is_near() && !knob.info.allows(next)) up ? ++next : --next;
    if (!knob.info.allows(next)) return std::nullopt;
    return print_knob(knob.info, next);
  }
  bool pass(u64 step) {
    bool gained = false;
    for (Free& knob : free_) {
      if (knob.info.unit == engine::Unit::Bool || knob.info.unit == engine::Unit::Enum) continue;
      for (const bool up : {true, false}) {
        unsigned steps = 0;
        while (steps < kFarthest) {
          const auto next = stepped(knob, step, up);
          if (!next || !try_value(knob, *next, error_ - kNoGain)) break;
          ++steps;
        }
        gained |= steps > 0;
        if (steps) break;
      }
    }
    return gained && !is_over();
  }

  const FitPlan& plan_;
  const std::function<void(const std::string&)>& progress_;
  std::vector<Calibration> curves_;
  std::vector<Free> free_;
  Fit result_;
  double error_ = 0;
};
}  // namespace

bool counts(const Calibration& c, const Curve& curve, const FitPlan& plan) {
  return c.preset == plan.preset && !c.held_out && c.name + "/" + curve.column != plan.without;
}

Fit fit(const std::vector<Calibration>& curves, const DeviceKnobs& start, const FitPlan& plan,
        const std::function<void(const std::string&)>& progress) {
  return Fitter(curves, start, plan, progress).run();
}
}  // namespace hca::testbench
