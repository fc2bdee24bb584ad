// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hca::testbench {
using nlohmann::json;

namespace {
constexpr std::size_t kLadderLines = 10;
constexpr std::size_t kOrdersNamed = 4;

std::string verdict_of(const ReplayReport& r) {
  if (r.is_breach()) return "DIFFERENT";
  if (r.difference) return "not followed to its end";
  return r.parted ? "same until they part" : "same";
}

std::string line_of(const ReplayReport& r) {
  return fmt::format("{:<26} {:<10} {:>3} {:>7} {:>9} {:>12} {:>7} {:>9} {:>8}  {}\n", r.capture,
                     r.runner, name_of(r.end), r.frames_compared, r.frames_delivered,
                     r.completions_compared, r.states_compared, r.memory_bytes_compared,
                     r.timers_fired, verdict_of(r));
}

std::string order_of(const ReplayReport& r) {
  std::string text = "  order: ";
  if (r.window.one_clock)
    text += "events learned from the frames, one clock";
  else if (r.window.contradicts_itself())
    text += fmt::format("no clock offset fits: an event is {:.1f} us before its cause",
                        double(r.window.low - r.window.high) / 1000);
  else if (r.window.is_known())
    text += fmt::format("clock offset known to {:.1f} us", double(r.window.width()) / 1000);
  else if (r.window.has_low() || r.window.has_high())
    text += "clock offset bounded on one side only";
  else
    text += "nothing ties the two clocks, events first";
  if (r.open_pairs == 0) return text + ", no order open\n";
  text += fmt::format(", {} orders open, {} of {} taken", r.open_pairs, r.order_taken, r.orders);
  for (std::size_t i = 0; i < std::min(r.taken.size(), kOrdersNamed); ++i)
    text += (i ? ", " : ": ") + r.taken[i];
  if (r.taken.size() > kOrdersNamed)
    text += fmt::format(", and {} more", r.taken.size() - kOrdersNamed);
  if (r.gave_up_after)
    text += fmt::format("; given up after {} runs, not every order was tried", r.gave_up_after);
  return text + "\n";
}

// What the model left open, where the hosts may have done otherwise.
std::string not_judged_of(const ReplayReport& r) {
  const auto& n = r.not_judged;
  const std::string_view why = "the hosts may have acted differently; the packets do not show it";
  if (n.from.empty())
    return fmt::format(
        "  all frames of end {} are followed; its later actions are not judged: {}\n",
        name_of(r.end), why);
  return fmt::format(
      "  not judged by the model from {} on: {} of {} frames that end {} sent, {} of {} that came "
      "to it, and its memory; {}\n",
      n.from, n.ours, n.of_ours, name_of(r.end), n.theirs, n.of_theirs, why);
}

// What is left out of the comparison.
std::string limits_of(const ReplayReport& r) {
  std::string text;
  if (r.parted) text += fmt::format("  parts at {}\n", *r.parted);
  if (r.left_out) text += fmt::format("  {} frames left out: {}\n", r.left_out, r.left_out_reason);
  if (r.restored)
    text +=
        fmt::format("  {} requests taken as lost before the recording point, for they came again\n",
                    r.restored);
  if (r.tags) text += fmt::format("  {} VLAN or priority tags taken off (a freedom)\n", r.tags);
  if (r.difference && !r.is_breach()) text += not_judged_of(r);
  if (r.words_set)
    text +=
        fmt::format("  {} words taken as written by the host between two ATOMICs\n", r.words_set);
  if (r.frames_lost)
    text += fmt::format("  {} frames taken as lost after the recording point\n", r.frames_lost);
  return text;
}

// "IPv4.Identification"; where several rows have that name, with the statement.
std::string name_of_row(const AllowedDifference& row) {
  const auto same = [&](const AllowedDifference& other) {
    return other.header == row.header && other.field == row.field;
  };
  const std::string name = fmt::format("{}.{}", row.header, row.field);
  if (std::ranges::count_if(allowed_differences(), same) == 1) return name;
  return fmt::format("{} ({})", name, row.statement);
}

std::string_view name_of(AllowedKind kind) {
  constexpr std::array<std::string_view, 3> names{"freedoms", "losses", "deviations"};
  return names[std::size_t(kind)];
}

std::string allowed_of(const ReplayReport& r) {
  std::string text;
  for (const AllowedKind kind : {AllowedKind::Freedom, AllowedKind::Loss, AllowedKind::Deviation}) {
    std::string line;
    u64 all = 0;
    for (std::size_t i = 0; i < r.allowed_uses.size(); ++i) {
      const AllowedDifference& row = allowed_differences()[i];
      if (row.kind != kind || !r.allowed_uses[i]) continue;
      all += r.allowed_uses[i];
      line +=
          fmt::format("{}{} x {}", line.empty() ? "" : ", ", r.allowed_uses[i], name_of_row(row));
    }
    const std::string whose =
        kind == AllowedKind::Deviation ? fmt::format(" of {}", r.allowed_uses.profile) : "";
    if (all) text += fmt::format("  {}{}: {}: {}\n", name_of(kind), whose, all, line);
  }
  return text;
}

std::string difference_of(const ReplayReport& r) {
  std::string text = fmt::format("  {}: {}\n", r.difference->where, r.difference->what);
  for (const FieldDifference& f : r.difference->fields)
    text += fmt::format("    {}: expected {}, got {}\n", f.name(), f.expected, f.got);
  const std::size_t from = r.ladder.size() - std::min(kLadderLines, r.ladder.size());
  for (std::size_t i = from; i < r.ladder.size(); ++i)
    text += fmt::format("    | {}\n", r.ladder[i]);
  return text;
}

std::vector<std::size_t> counted_from_1(const std::vector<std::size_t>& indices) {
  std::vector<std::size_t> all = indices;
  for (std::size_t& i : all) ++i;
  return all;
}
json json_of_report(const ReplayReport& r);
}  // namespace

std::string text_of(const ReplayRun& run) {
  std::string text;
  for (const JudgedCapture& judged : run.judged) text += text_of(judged);
  if (run.reports.empty() && run.waiting.empty()) return text;
  text += fmt::format("{:<26} {:<10} {:>3} {:>7} {:>9} {:>12} {:>7} {:>9} {:>8}  {}\n", "capture",
                      "runner", "end", "frames", "delivered", "completions", "states", "memory B",
                      "timers", "verdict");
  std::vector<u64> uses(allowed_differences().size());
  for (const ReplayReport& r : run.reports) {
    text += line_of(r) + order_of(r) + allowed_of(r) + limits_of(r);
    if (r.difference) text += difference_of(r);
    for (std::size_t i = 0; i < uses.size(); ++i) uses[i] += r.allowed_uses[i];
  }
  for (const WaitingCapture& w : run.waiting)
    text += fmt::format("{:<26} waits for {}\n", w.capture, w.needs);
  for (const AllowedKind kind : {AllowedKind::Freedom, AllowedKind::Loss, AllowedKind::Deviation}) {
    text += fmt::format("{} used:\n", name_of(kind));
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const AllowedDifference& row = allowed_differences()[i];
      if (row.kind != kind || !uses[i]) continue;
      text += fmt::format("  {:>5} x {}.{} if {} ({}: {})\n", uses[i], row.header, row.field,
                          row.condition, row.statement, row.reason);
    }
  }
  return text;
}

json json_of(const ReplayRun& run) {
  json all{{"reports", json::array()}, {"waiting", json::array()}};
  for (const ReplayReport& r : run.reports) all["reports"].push_back(json_of_report(r));
  all["judged"] = json::array();
  for (const JudgedCapture& judged : run.judged) all["judged"].push_back(json_of(judged));
  for (const WaitingCapture& w : run.waiting)
    all["waiting"].push_back({{"capture", w.capture}, {"needs", w.needs}});
  return all;
}

namespace {
// null where it is open.
json json_of_window(const OffsetWindow& window) {
  json j{nullptr, nullptr};
  if (window.has_low()) j[0] = window.low;
  if (window.has_high()) j[1] = window.high;
  return j;
}

json json_of_report(const ReplayReport& r) {
  json j{{"capture", r.capture},
         {"runner", r.runner},
         {"end", std::string(1, name_of(r.end))},
         {"same", r.same()},
         {"breach", r.is_breach()},
         {"frames_compared", r.frames_compared},
         {"frames_delivered", r.frames_delivered},
         {"completions_compared", r.completions_compared},
         {"states_compared", r.states_compared},
         {"memory_bytes_compared", r.memory_bytes_compared},
         {"timers_fired", r.timers_fired},
         {"rnr_timers_fired", r.rnr_timers_fired},
         {"frames_matched", counted_from_1(r.matched)},
         {"frames_recorded_only", counted_from_1(r.recorded_only)},
         {"frames_left_out", r.left_out},
         {"left_out_reason", r.left_out_reason},
         {"words_set", r.words_set},
         {"frames_lost", r.frames_lost},
         {"async_compared", r.async_compared},
         {"clock_offset_ns", r.offset},
         {"clock_offset_window_ns", json_of_window(r.window)},
         {"open_orders", r.open_pairs},
         {"order", {r.order_taken, r.orders}},
         {"gave_up_after_runs", r.gave_up_after},
         {"orders_taken", r.taken}};
  for (std::size_t i = 0; i < r.allowed_uses.size(); ++i) {
    const AllowedDifference& row = allowed_differences()[i];
    j["allowed"].push_back({{"field", fmt::format("{}.{}", row.header, row.field)},
                            {"kind", name_of(row.kind)},
                            {"condition", row.condition},
                            {"statement", row.statement},
                            {"reason", row.reason},
                            {"uses", r.allowed_uses[i]}});
  }
  if (r.parted) j["parted"] = *r.parted;
  if (r.difference && !r.is_breach())
    j["not_judged"] = {{"from", r.not_judged.from},
                       {"frames_sent", {r.not_judged.ours, r.not_judged.of_ours}},
                       {"frames_received", {r.not_judged.theirs, r.not_judged.of_theirs}}};
  if (!r.difference) return j;
  json& d = j["difference"] = {{"where", r.difference->where}, {"what", r.difference->what}};
  for (const FieldDifference& f : r.difference->fields)
    d["fields"].push_back({{"field", f.name()}, {"expected", f.expected}, {"got", f.got}});
  j["ladder"] = r.ladder;
  return j;
}
}  // namespace
}  // namespace hca::testbench
