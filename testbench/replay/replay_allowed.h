// SPDX-License-Identifier: Apache-2.0
// The differences between a recording and us that are right, or known of the recording device. The
// only such table is in replay_allowed.cpp.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/host/verbs.h"
#include "testbench/replay/replay_history.h"

namespace hca::testbench {
// What a condition may look at. Of a frame or completion that only one side has, the other is null;
// `qp` is null when two frames are compared by themselves.
struct Situation {
  static constexpr std::size_t kNone = ~std::size_t{0};
  const QpHistory* qp = nullptr;
  const Seen *recorded = nullptr, *ours = nullptr;
  u64 recorded_value = 0, our_value = 0;  // of the field in question
  const ReplayEvent *recorded_wc = nullptr, *recorded_state = nullptr;
  const Wc* our_wc = nullptr;
  const ReplayEvent* recorded_async = nullptr;
  const AsyncEvent* our_async = nullptr;
  const ReplayEvent* post = nullptr;  // of the completion
  std::size_t frame_index = 0;        // of `recorded`
  bool in_error = false;              // our queue pair
  std::size_t next_frame = kNone;  // the next recorded one of our stream; kNone: there is none more
  bool is_cut = false;  // a conversation whose recording has no more frames of our queue pair
};

// What becomes of the replay behind an allowed difference.
enum class Then : u8 {
  GoesOn,
  Parts,  // from here on the recorded device is in another state than a right one
};

enum class AllowedKind : u8 {
  Freedom,    // a statement leaves it open: of every capture
  Loss,       // of a packet that the recording does not show: the last explanation
  Deviation,  // of one device against a statement: only with its profile
};
// The profile of the recorded devices of vectors/captures.
inline constexpr std::string_view kSoftRoce = "soft-roce";

struct AllowedDifference {
  AllowedKind kind;
  // A field of the tables, or of what is compared beside fields, see below.
  std::string_view header, field;
  std::string_view condition;
  bool (*holds)(const Situation&);
  std::string_view statement;  // or the numbered oddity of the recording device
  std::string_view reason;
  Then then = Then::GoesOn;
};
// Beside the fields: header "frame", "wc", "async", "state" or "post" with these.
inline constexpr std::string_view kRecordedOnly = "recorded only", kOursOnly = "ours only",
                                  kNeverCame = "never came", kBreaks = "breaks a message";

std::span<const AllowedDifference> allowed_differences();

// Uses of each row of allowed_differences(), and the profile whose deviations are allowed.
struct AllowedUses : std::vector<u64> {
  std::string profile;
};

// The first row that allows it, its use counted; nullptr: none does.
const AllowedDifference* find_allowed(std::string_view header, std::string_view field,
                                      const Situation& situation, AllowedUses& uses);
}  // namespace hca::testbench
