// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/bottleneck_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "testbench/run/run.h"
#include "testbench/run/run_recorder.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kNext = 3;  // resources that are tried beside the named ones
constexpr double kTie = 0.01;
constexpr double kKept = 0.99;  // of its schedule: an open loop that keeps it is not saturated

enum class Better : u8 { Larger, Smaller, Step, StepDown, False, True, None };
struct WayRow {
  std::string_view knob;
  Better way;
};
// Knobs whose better value their unit does not tell.
constexpr std::array kWays{
    WayRow{"pcie.generation", Better::Step},
    WayRow{"connection.min_rnr_timer", Better::StepDown},
    WayRow{"connection.timeout", Better::StepDown},
    WayRow{"workload[].fence", Better::False},
    WayRow{"connection.srq", Better::False},
    WayRow{"responder_check.context_forwarding", Better::True},
};

// Of durations a smaller value is better, of numbers and rates a larger one; of words none is known.
Better way_of(std::string_view knob, const engine::KnobInfo& info) {
  for (const WayRow& row : kWays)
    if (knob == row.knob) return row.way;
  switch (info.unit) {
    case engine::Unit::Cycles:
    case engine::Unit::Picoseconds:
      return Better::Smaller;
    case engine::Unit::Bool:
    case engine::Unit::Enum:
      return Better::None;
    default:
      return Better::Larger;
  }
}

// A quarter better; the next value that is allowed if that is none, and one more or less where a
// quarter is less than one. Empty: there is none.
std::optional<u64> improved(Better way, u64 value, const engine::KnobInfo& info) {
  const bool down = way == Better::Smaller || way == Better::StepDown;
  if (way == Better::None) return std::nullopt;
  if (way == Better::False || way == Better::True) {
    const bool wanted = way == Better::True;
    return bool(value) == wanted ? std::nullopt : std::optional<u64>(wanted);
  }
  // 0 stands for a default or for no limit.
  if (!value) return std::nullopt;
  const bool step = way == Better::Step || way == Better::StepDown;
  const u64 quarter = step ? 1 : down ? value - value * 4 / 5 : (value + 3) / 4;
  u64 next = down ? value - std::min(value, std::max<u64>(quarter, 1)) : value + quarter;
  constexpr u64 kTries = 1 << 16;
  for (u64 tries = 0; tries < kTries && next >= info.min && next <= info.max; ++tries) {
    if (info.allows(next)) return next == value ? std::nullopt : std::optional<u64>(next);
    if (down && !next) break;
    down ? --next : ++next;
  }
  // Powers of two and their like, far away.
  if (!down && value <= info.max / 2 && info.allows(value * 2)) return value * 2;
  return std::nullopt;
}

// True if a path of the table is this knob: of any HCA, port, host or entry.
bool is_knob(std::string_view path, std::string_view knob) {
  const auto skip = [&](std::string_view word) {
    if (!path.starts_with(word)) return false;
    const std::size_t end = path.find_first_not_of("0123456789", word.size());
    if (end == path.npos || end == word.size() || path[end] != '.') return false;
    path.remove_prefix(end + 1);
    return true;
  };
  if (path == knob) return true;
  if (skip("hca")) {
    if (path == knob) return true;  // of one port, or of all
    return knob.starts_with("port.") && skip("port") && path == knob.substr(5);
  }
  for (const std::string_view block : {"pcie", "host", "wire"})
    if (knob.starts_with(block) && knob.size() > block.size() && knob[block.size()] == '.' &&
        skip(block))
      return path == knob.substr(block.size() + 1);
  return false;
}

std::vector<std::string> knobs_in(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    std::string knob = text.substr(at, end - at);
    // "responder_execute.outcomes, parking": of the block before.
    if (!all.empty() && knob.find('.') == knob.npos)
      knob = all.back().substr(0, all.back().rfind('.') + 1) + knob;
    all.push_back(std::move(knob));
    at = end + 2;
  }
  return all;
}
}  // namespace

KnobTrial better(const Scenario& scenario, const std::string& knob) {
  KnobTrial trial{knob, {}, ""};
  Scenario copy = scenario;
  KnobTable table = knobs_of(copy);
  for (std::size_t i = 0; i < copy.workload.size(); ++i)
    table.add(fmt::format("workload[{}]", i), copy.workload[i]);
  std::set<std::string> changes;
  std::vector<std::string> order;
  for (const KnobTable::Entry& entry : table.entries()) {
    std::string path = entry.path;
    if (path.starts_with("workload[")) path = "workload[]" + path.substr(path.find(']') + 1);
    const bool of_all =
        is_of_both_chips(entry.path) ||
        (scenario.ports() == 1 ? is_of_one_port(entry.path) : is_of_both_ports(entry.path));
    if (of_all || !is_knob(path, knob)) continue;
    const u64 value = engine::parse_knob(entry.info, entry.text);
    const auto next = improved(way_of(knob, entry.info), value, entry.info);
    if (!next) continue;
    const std::string text = engine::print_knob(entry.info, *next);
    trial.settings.push_back(entry.path + "=" + text);
    const std::string change = entry.text + " -> " + text;
    if (changes.insert(change).second) order.push_back(change);
  }
  trial.change = fmt::format("{}", fmt::join(order, ", "));
  return trial;
}

bool PartCheck::is_right() const {
  double named = 0, most = 0;
  for (const Gain& gain : gains) {
    most = std::max(most, gain.gain);
    if (gain.named) named = std::max(named, gain.gain);
  }
  return most <= named + kTie;
}
bool BottleneckCheck::is_right() const { return std::ranges::all_of(parts, &PartCheck::is_right); }

namespace {
using Figures = RunRecorder::PartFigures;
struct Run {
  RunResult result;
  std::vector<Figures> parts;
};
Run run_recorded(Scenario scenario) {
  const FreshKernel kernel;
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  Run run{runner.run(), {}};
  run.parts = recorder.figures();
  return run;
}
double result_of(const Figures& part, bool saturated) {
  return saturated ? part.messages_per_second : part.median_seconds;
}
// An open loop that keeps its schedule, by the limit that says so.
bool is_saturated(const Figures& part) {
  return std::ranges::none_of(
      part.limits, [](const Use& use) { return use.kind == "load" && use.share >= kKept; });
}

// Named first, then by share; each with a knob, and no knob twice.
std::vector<Gain> candidates(const Figures& part) {
  std::vector<Gain> all;
  const auto add = [&](const Use& use, bool named) {
    const bool has_it = std::ranges::any_of(
        all, [&](const Gain& g) { return g.use.name == use.name || g.use.knob == use.knob; });
    if (!has_it && !use.knob.empty()) all.push_back({.use = use, .named = named});
  };
  for (const Use& use : part.limits)
    if (use.kind != "load") add(use, true);
  const std::size_t named = all.size();
  for (const Use& use : part.uses)
    if (all.size() < named + kNext) add(use, false);
  return all;
}

// The run with a better value of a knob, once for all parts that ask for it.
class Trials {
 public:
  struct Trial {
    KnobTrial knob;
    std::string problem;  // empty: it ran
    std::vector<Figures> parts;
  };
  Trials(const LoadWith& load, const Scenario& scenario, std::size_t parts,
         const std::function<void(const std::string&)>& before)
      : load_(load), scenario_(scenario), parts_(parts), before_(before) {}
  const Trial& of(const std::string& knob) {
    const auto [at, is_new] = trials_.try_emplace(knob);
    if (is_new) run(knob, at->second);
    return at->second;
  }

 private:
  void run(const std::string& knob, Trial& trial) {
    trial.knob = better(scenario_, knob);
    if (trial.knob.settings.empty()) return void(trial.problem = "no better value");
    if (before_) before_(fmt::format("{}: {}", knob, trial.knob.change));
    std::optional<Scenario> changed;
    try {
      changed = load_(trial.knob.settings);
    } catch (const ScenarioError& error) {
      const std::string_view what = error.what();
      return void(trial.problem = what.substr(0, what.find('\n')));
    }
    Run other = run_recorded(*changed);
    if (!other.result.failures.empty() || other.parts.size() != parts_)
      return void(trial.problem = "fails with " + trial.knob.change);
    trial.parts = std::move(other.parts);
  }
  const LoadWith& load_;
  const Scenario& scenario_;
  std::size_t parts_;
  const std::function<void(const std::string&)>& before_;
  std::map<std::string, Trial> trials_;
};

void try_knobs(PartCheck& check, std::size_t part, Gain& gain, Trials& trials) {
  for (const std::string& knob : knobs_in(gain.use.knob)) {
    const Trials::Trial& trial = trials.of(knob);
    if (!trial.problem.empty()) {
      if (gain.best.knob.empty()) gain.problem = trial.problem;
      continue;
    }
    const double result = result_of(trial.parts[part], check.saturated);
    const double more = check.saturated ? result / check.result - 1 : check.result / result - 1;
    if (gain.best.knob.empty() || more > gain.gain) gain.best = trial.knob, gain.gain = more;
    gain.problem.clear();
  }
}
}  // namespace

BottleneckCheck check_bottleneck(const LoadWith& load,
                                 const std::function<void(const std::string& what)>& before) {
  BottleneckCheck check;
  const Scenario scenario = load({});
  if (before) before("as it is");
  const Run run = run_recorded(scenario);
  check.failures = run.result.failures;
  if (!check.failures.empty()) return check;
  Trials trials(load, scenario, run.parts.size(), before);
  for (std::size_t i = 0; i < run.parts.size(); ++i) {
    const Figures& figures = run.parts[i];
    PartCheck& part = check.parts.emplace_back();
    part.part = figures.what;
    part.saturated = is_saturated(figures);
    part.result = result_of(figures, part.saturated);
    part.gains = candidates(figures);
    for (Gain& gain : part.gains) try_knobs(part, i, gain, trials);
  }
  return check;
}

namespace {
std::string text_of(const PartCheck& check) {
  std::string text = fmt::format(
      "Bottleneck check, {}: {}\n", check.part,
      check.saturated ? fmt::format("{:.4g} messages a second", check.result)
                      : fmt::format("median time of a message {:.4g} us", check.result * 1e6));
  for (const Gain& gain : check.gains)
    text += fmt::format("  {:<6} {} ({}): {}\n", gain.named ? "named" : "next", gain.use.name,
                        gain.best.knob.empty() ? gain.use.knob : gain.best.knob,
                        gain.problem.empty()
                            ? fmt::format("{}: {:+.1f} %", gain.best.change, gain.gain * 100)
                            : gain.problem);
  const bool named = std::ranges::any_of(check.gains, &Gain::named);
  if (check.is_right())
    return text + (named ? "  no other knob gains more than the named one\n"
                         : "  nothing is named, and no knob gains a hundredth\n");
  const auto most = std::ranges::max_element(check.gains, {}, &Gain::gain);
  return text + fmt::format("  WRONG: {} gains more\n", most->use.name);
}
}  // namespace

std::string text_of(const BottleneckCheck& check) {
  std::string text;
  for (const std::string& failure : check.failures) text += "FAILED: " + failure + "\n";
  for (const PartCheck& part : check.parts) text += text_of(part);
  return text;
}
}  // namespace hca::testbench
