// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "testbench/replay/replay_run.h"

namespace hca::testbench {
namespace {
// Of the open orders, those of neighbours: "post_send wr_id 3 before frame 7".
std::vector<std::string> orders_taken(const Capture& capture, End end, const Timelines& lines,
                                      const Timeline& taken) {
  std::vector<std::string> text;
  for (std::size_t i = 1; i < taken.items.size(); ++i) {
    const TimelineItem &first = taken.items[i - 1], &second = taken.items[i];
    if (first.is_frame == second.is_frame) continue;
    const std::size_t event_index = first.is_frame ? second.index : first.index;
    const std::size_t frame_index = first.is_frame ? first.index : second.index;
    const ReplayEvent& e = capture.events[event_index];
    if (!is_order_open(e, capture.frames[frame_index], end, lines.window)) continue;
    text.push_back(fmt::format("event {} ({}) {} frame {}", event_index + 1, e.kind,
                               first.is_frame ? "after" : "before", frame_index + 1));
  }
  return text;
}
// What the model of an end did not come to.
ReplayReport::NotJudged not_judged(const Capture& capture, const ReplayReport& r) {
  ReplayReport::NotJudged out;
  const auto has = [](const std::vector<std::size_t>& all, std::size_t index) {
    return std::ranges::find(all, index) != all.end();
  };
  for (std::size_t i = 0; i < capture.frames.size(); ++i) {
    const ReplayFrame& f = capture.frames[i];
    const bool ours = f.from == r.end;
    if (ours ? !was_sent(f.fate) : !was_delivered(f.fate)) continue;
    const bool seen = ours ? has(r.matched, i) || has(r.recorded_only, i) : has(r.taken_in, i);
    ++(ours ? out.of_ours : out.of_theirs);
    if (seen) continue;
    ++(ours ? out.ours : out.theirs);
    if (out.from.empty()) out.from = capture.frame_name(i);
  }
  return out;
}
}  // namespace

bool ReplayReport::is_breach() const {
  if (!difference) return false;
  if (!learned) return true;
  const auto is_of_another = [](const FieldDifference& f) {
    return f.header == "frame" || f.name() == "BTH.OpCode" || f.name() == "BTH.PSN" ||
           f.name() == "payload.Length" || f.name() == "AETH.Syndrome";
  };
  return difference->where.starts_with("frame") && !difference->fields.empty() &&
         std::ranges::none_of(difference->fields, is_of_another);
}

ReplayReport replay(const Capture& capture, End end, const ReplayRunner& runner) {
  constexpr std::size_t kMostRuns = 1000;  // with losses and without
  const Timelines lines = find_timelines(capture, end);
  std::optional<ReplayReport> best;
  bool may_lose = false;  // some frame may have been lost after the recording point
  bool gave_up = false;
  for (const bool losses : {false, true}) {
    if (losses && !may_lose) break;
    std::size_t runs = 0;
    // How orders that do not explain the recording begin.
    std::vector<std::vector<TimelineItem>> failed;
    const auto has_failed = [&](const Timeline& line) {
      return std::ranges::any_of(failed, [&](const auto& begin) {
        return std::ranges::equal(begin, std::span(line.items).first(begin.size()));
      });
    };
    for (std::size_t i = 0; i < lines.offsets.size() && !(gave_up |= runs == kMostRuns); ++i) {
      const Timeline line = make_timeline(capture, end, lines.offsets[i]);
      if (has_failed(line)) continue;
      ReplayReport report;
      report.capture = capture.name, report.runner = runner.name, report.end = end;
      report.left_out = capture.left_out, report.left_out_reason = capture.left_out_reason;
      report.words_set = capture.words_set;
      report.allowed_uses.assign(allowed_differences().size(), 0);
      report.allowed_uses.profile = capture.profile;
      report.learned = capture.learned, report.tags = capture.tags,
      report.restored = capture.restored;
      report.window = lines.window, report.open_pairs = lines.open_pairs;
      report.orders = lines.offsets.size(), report.order_taken = i + 1;
      report.offset = line.offset;
      report.taken = orders_taken(capture, end, lines, line);
      const RunEnd run = run_replay(capture, end, runner, line, losses, report);
      ++runs, may_lose |= run.may_lose;
      if (report.same()) return report;
      failed.emplace_back(line.items.begin(), line.items.begin() + std::ptrdiff_t(run.items));
      const auto reach = [](const ReplayReport& r) {
        return r.frames_compared + r.frames_delivered + r.completions_compared;
      };
      if (!best || reach(report) > reach(*best)) best = std::move(report);
    }
  }
  best->gave_up_after = gave_up ? kMostRuns : 0;
  if (best->learned) best->not_judged = not_judged(capture, *best);
  return std::move(*best);
}
}  // namespace hca::testbench
