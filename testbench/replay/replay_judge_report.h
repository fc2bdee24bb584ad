// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "testbench/replay/replay_capture.h"
#include "testbench/replay/replay_judge.h"

namespace hca::testbench {
// The judgement of a capture by its packets.
struct JudgedCapture {
  std::string capture;
  bool listed = false;  // its JSON lists the frames: the recording is complete
  std::string profile{};
  Judgement judgement;
  std::vector<std::string> not_replayed{};  // ends that the model cannot replace, and why
};
// For the packets of a file, or for a capture whose JSON lists its frames.
JudgedCapture judge_capture(const std::string& path, const std::string& profile);
JudgedCapture judge_capture(const Capture& capture, const std::string& profile);
// The devices with known deviations.
std::vector<std::string> profile_names();

std::string text_of(const JudgedCapture& judged);
nlohmann::json json_of(const JudgedCapture& judged);
// "legal", "breaks the specification" or "nothing to judge".
std::string_view verdict_of(const Judgement& judgement);
}  // namespace hca::testbench
