// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
using nlohmann::json;

namespace {
constexpr std::size_t kLadderLines = 10;
constexpr std::size_t kOrdersNamed = 4;

std::string line_of(const ReplayReport& r) {
  return fmt::format("{:<24} {:<10} {:>3} {:>7} {:>9} {:>12} {:>7} {:>9} {:>8}  {}\n", r.capture,
                     r.runner, name_of(r.end), r.frames_compared, r.frames_delivered,
                     r.completions_compared, r.states_compared, r.memory_bytes_compared,
                     r.timers_fired, r.same() ? "same" : "DIFFERENT");
}

std::string order_of(const ReplayReport& r) {
  if (!r.window.bounded) return "  order: nothing ties the two clocks; events first\n";
  std::string text = fmt::format("  order: clock offset known to {:.1f} us",
                                 double(r.window.high - r.window.low) / 1000);
  if (r.open_pairs == 0) return text + ", no order open\n";
  text += fmt::format(", {} orders open, {} of {} taken", r.open_pairs, r.order_taken, r.orders);
  for (std::size_t i = 0; i < std::min(r.taken.size(), kOrdersNamed); ++i)
    text += (i ? ", " : ": ") + r.taken[i];
  if (r.taken.size() > kOrdersNamed)
    text += fmt::format(", and {} more", r.taken.size() - kOrdersNamed);
  return text + "\n";
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
}  // namespace

std::string text_of(std::span<const ReplayReport> reports) {
  std::string text = fmt::format("{:<24} {:<10} {:>3} {:>7} {:>9} {:>12} {:>7} {:>9} {:>8}  {}\n",
                                 "capture", "runner", "end", "frames", "delivered", "completions",
                                 "states", "memory B", "timers", "verdict");
  AllowedUses uses(allowed_differences().size());
  for (const ReplayReport& r : reports) {
    text += line_of(r) + order_of(r);
    if (r.difference) text += difference_of(r);
    for (std::size_t i = 0; i < uses.size(); ++i) uses[i] += r.allowed_uses[i];
  }
  text += "allowed differences used:\n";
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const AllowedDifference& row = allowed_differences()[i];
    text += fmt::format("  {:>5} x {}.{} if {} ({}: {})\n", uses[i], row.header, row.field,
                        row.condition, row.statement, row.reason);
  }
  return text;
}

json json_of(const ReplayReport& r) {
  json j{{"capture", r.capture},
         {"runner", r.runner},
         {"end", std::string(1, name_of(r.end))},
         {"same", r.same()},
         {"frames_compared", r.frames_compared},
         {"frames_delivered", r.frames_delivered},
         {"completions_compared", r.completions_compared},
         {"states_compared", r.states_compared},
         {"memory_bytes_compared", r.memory_bytes_compared},
         {"timers_fired", r.timers_fired},
         {"clock_offset_ns", r.offset},
         {"clock_offset_window_ns", {r.window.low, r.window.high}},
         {"open_orders", r.open_pairs},
         {"order", {r.order_taken, r.orders}},
         {"orders_taken", r.taken}};
  for (std::size_t i = 0; i < r.allowed_uses.size(); ++i) {
    const AllowedDifference& row = allowed_differences()[i];
    j["allowed"].push_back({{"field", fmt::format("{}.{}", row.header, row.field)},
                            {"condition", row.condition},
                            {"statement", row.statement},
                            {"reason", row.reason},
                            {"uses", r.allowed_uses[i]}});
  }
  if (!r.difference) return j;
  json& d = j["difference"] = {{"where", r.difference->where}, {"what", r.difference->what}};
  for (const FieldDifference& f : r.difference->fields)
    d["fields"].push_back({{"field", f.name()}, {"expected", f.expected}, {"got", f.got}});
  j["ladder"] = r.ladder;
  return j;
}
}  // namespace hca::testbench
