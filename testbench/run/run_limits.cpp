// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/run_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace hca::testbench {
const LimitKind& limit_kind(std::string_view kind) {
  for (const LimitKind& row : kLimitKinds)
    if (row.kind == kind) return row;
  throw std::logic_error("no kind of limit: " + std::string(kind));
}

namespace {
constexpr std::size_t kMostLimits = 2;

// Messages in flight are what is left to name. Their window is full because of what they wait for,
// if that is most of the time, also where the window is full now and then only; with nothing else
// near, it limits wherever it is full at all.
void settle_window(std::vector<Use>& limits, const std::vector<Use>& uses) {
  const auto is_window = [](const Use& use) { return use.kind == "depth"; };
  if (!limits.empty() && !is_window(limits.front())) return;
  const auto window = std::find_if(uses.begin(), uses.end(), is_window);
  const Use* inner = nullptr;
  for (const Use& use : uses)
    if (const LimitKind& kind = limit_kind(use.kind);
        kind.inside > 1 && kind.explains > 1 && use.share >= kShareInside &&
        use.waited >= kShareInside && (!inner || use.share > inner->share))
      inner = &use;
  const bool is_named = !limits.empty();
  if (inner && is_named)
    limits.front() = *inner;
  else if (inner && window != uses.end() && inner->share > window->share)
    limits.push_back(*inner);
  else if (!is_named && window != uses.end() && window->share >= kShareOfWindow)
    limits.push_back(*window);
}
}  // namespace

std::vector<Use> limits_of(const std::vector<Use>& uses) {
  // A run that waits for a timer all the time is idle, whatever it repeats.
  const bool idle = std::any_of(uses.begin(), uses.end(), [](const Use& use) {
    return use.kind == "time" && use.share >= kShareToName;
  });
  const Use* reason = nullptr;
  for (const Use& use : uses)
    if (const LimitKind& kind = limit_kind(use.kind);
        use.share >= kind.explains && !(idle && use.kind == "losses") &&
        (!reason || kind.inside > limit_kind(reason->kind).inside))
      reason = &use;
  if (reason) return {*reason};
  std::vector<Use> moving, holding;
  for (const Use& use : uses)
    if (const LimitKind& kind = limit_kind(use.kind);
        use.share >= kShareToName && kind.explains > 1 && use.kind != "load")
      (kind.inside ? holding : moving).push_back(use);
  const auto by_share = [](const Use& a, const Use& b) { return a.share > b.share; };
  std::stable_sort(moving.begin(), moving.end(), by_share);
  std::stable_sort(holding.begin(), holding.end(), [](const Use& a, const Use& b) {
    const unsigned x = limit_kind(a.kind).inside, y = limit_kind(b.kind).inside;
    return x != y ? x > y : a.share > b.share;
  });
  // Resources around the innermost one that is waited for only fill up.
  const auto waited = std::find_if(holding.begin(), holding.end(),
                                   [](const Use& use) { return use.waited >= kShareToName; });
  if (waited != holding.end()) {
    const unsigned inside = limit_kind(waited->kind).inside;
    std::erase_if(holding, [&](const Use& use) { return limit_kind(use.kind).inside < inside; });
  }
  std::vector<Use> limits = moving;
  if (moving.empty() || moving.front().share < kShareOfAll)
    limits.insert(limits.end(), holding.begin(), holding.end());
  std::stable_sort(limits.begin(), limits.end(), by_share);
  settle_window(limits, uses);
  const auto load = std::find_if(uses.begin(), uses.end(), [](const Use& use) {
    return use.kind == "load" && use.share >= kShareOfAll;
  });
  const bool kept = load != uses.end();
  if (kept) limits.insert(std::upper_bound(limits.begin(), limits.end(), *load, by_share), *load);
  if (limits.size() > kMostLimits) limits.resize(kMostLimits);
  if (!kept && limits.size() == kMostLimits && limits[1].share < limits[0].share - kShareBeside)
    limits.pop_back();
  return limits;
}

std::string text_of(const Use& use) { return text_of(use, use.share, use.share); }

std::string text_of(const Use& use, double least, double most) {
  const std::string from = fmt::format("{:.0f}", least * 100),
                    to = fmt::format("{:.0f}", most * 100);
  return fmt::format("{}: {} % {}{}", use.name, from == to ? to : from + " to " + to,
                     limit_kind(use.kind).said, use.knob.empty() ? "" : " (" + use.knob + ")");
}

const WaitRow* wait_row(std::string_view block, std::string_view cause) {
  for (const WaitRow& row : kWaitRows)
    if (block.ends_with(row.block) && cause.starts_with(row.cause)) return &row;
  return nullptr;
}

const WaitRow* wait_row_of_counter(std::string_view block, std::string_view counter) {
  if (const WaitRow* row = wait_row(block, counter)) return row;
  for (const Consequence& row : kConsequences)
    if (block.find(row.block) != block.npos && counter == row.counter) return nullptr;
  throw std::logic_error(fmt::format(
      "the wait {} of {} is neither in kWaitRows nor in kConsequences", counter, block));
}
}  // namespace hca::testbench
