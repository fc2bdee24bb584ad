// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_judge_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "testbench/replay/replay_given.h"

namespace hca::testbench {
using nlohmann::json;

namespace {
constexpr std::size_t kLines = 20;

u64 sum(const Counts& counts) {
  u64 all = 0;
  for (const auto& [what, count] : counts) all += count;
  return all;
}
std::string lines_of(std::string_view title, const Counts& counts) {
  if (counts.empty()) return "";
  std::string text = fmt::format("  {}: {}\n", title, sum(counts));
  for (const auto& [what, count] : counts) text += fmt::format("    {:>6} x {}\n", count, what);
  return text;
}
std::string not_replayed_of(const JudgedCapture& c) {
  std::string text;
  for (const std::string& why : c.not_replayed)
    text += fmt::format("  the model cannot replace {}\n", why);
  return text;
}
}  // namespace

JudgedCapture judge_capture(const std::string& path, const std::string& profile) {
  return {std::filesystem::path(path).stem().string(), false, profile,
          judge(packets_of_file(path), {.profile = profile})};
}

// What a side sent is judged; what the wire did to it is not its sender's.
JudgedCapture judge_capture(const Capture& capture, const std::string& profile) {
  std::vector<GivenPacket> packets;
  for (std::size_t i = 0; i < capture.recorded.size(); ++i)
    if (const ReplayFrame& f = capture.recorded[i]; was_sent(f.fate))
      packets.push_back({i + 1, f.time_ns, capture.link, f.bytes, u32(f.bytes.size())});
  return {capture.name, true, profile, judge(packets, {.complete = true, .profile = profile})};
}

std::vector<std::string> profile_names() { return {"soft-roce"}; }

std::string_view verdict_of(const Judgement& j) {
  if (!j.is_legal()) return "breaks the specification";
  return j.says_something() ? "legal" : "nothing to judge";
}

std::string text_of(const JudgedCapture& c) {
  const Judgement& j = c.judgement;
  std::string text = fmt::format("{:<26} conversations  {} of {} frames judged  {}\n", c.capture,
                                 j.judged, j.frames, verdict_of(j));
  text += fmt::format("  {}{}\n",
                      c.listed ? "its JSON lists the frames: nothing is lost at the recorder"
                               : "no JSON: judged only by its packets",
                      c.profile.empty() ? "" : ", profile " + c.profile);
  for (std::size_t i = 0; i < std::min(kLines, j.conversations.size()); ++i)
    text += fmt::format("  {}\n", j.conversations[i]);
  if (j.conversations.size() > kLines)
    text += fmt::format("  and {} more conversations\n", j.conversations.size() - kLines);
  for (std::size_t i = 0; i < std::min(kLines, j.breaches.size()); ++i)
    text += fmt::format("  frame {}: {}: {}\n", j.breaches[i].frame, j.breaches[i].statement,
                        j.breaches[i].what);
  if (j.breaches.size() > kLines)
    text += fmt::format("  and {} more breaches\n", j.breaches.size() - kLines);
  return text + lines_of("freedoms used", j.freedoms) +
         lines_of("deviations of the profile", j.deviations) + lines_of("taken as lost", j.losses) +
         lines_of("not judged", j.not_judged) + not_replayed_of(c);
}

json json_of(const JudgedCapture& c) {
  const Judgement& j = c.judgement;
  json breaches = json::array();
  for (const Breach& b : j.breaches)
    breaches.push_back({{"frame", b.frame}, {"statement", b.statement}, {"what", b.what}});
  return {{"capture", c.capture},       {"verdict", verdict_of(j)},
          {"legal", j.is_legal()},      {"complete", c.listed},
          {"profile", c.profile},       {"frames", j.frames},
          {"frames_judged", j.judged},  {"conversations", j.conversations},
          {"breaches", breaches},       {"freedoms", j.freedoms},
          {"deviations", j.deviations}, {"losses", j.losses},
          {"not_judged", j.not_judged}, {"not_replayed", c.not_replayed}};
}
}  // namespace hca::testbench
