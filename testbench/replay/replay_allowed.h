// SPDX-License-Identifier: Apache-2.0
// The allowed differences between a recording and our device: correct ones, and known deviations of
// the recorded device. replay_allowed.cpp has the only such table.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/host/verbs.h"
#include "testbench/replay/replay_history.h"

namespace hca::testbench {
// The inputs of a condition. For a frame or completion that only one side has, the other is null;
// `qp` is null if two frames are compared by themselves.
struct Situation {
  static constexpr std::size_t kNone = ~std::size_t{0};
  const QpHistory* qp = nullptr;
  const Seen *recorded = nullptr, *ours = nullptr;
  u64 recorded_value = 0, our_value = 0;  // of the compared field
  const ReplayEvent *recorded_wc = nullptr, *recorded_state = nullptr;
  const Wc* our_wc = nullptr;
  const ReplayEvent* recorded_async = nullptr;
  const AsyncEvent* our_async = nullptr;
  const ReplayEvent* post = nullptr;  // post of the completion
  std::size_t frame_index = 0;        // of `recorded`
  bool in_error = false;              // the state of our queue pair
  std::size_t next_frame = kNone;     // the next recorded one of our stream; kNone: there is none
  bool is_cut = false;  // the recording of this conversation has no more frames of our queue pair
};

// The effect of an allowed difference on the rest of the replay.
enum class Then : u8 {
  GoesOn,
  Parts,  // from here on the recorded device is in a state that a correct one does not have
};

enum class AllowedKind : u8 {
  Freedom,    // a statement permits it: in every capture
  Loss,       // a packet loss that the recording does not show: the last resort
  Deviation,  // one device violates a statement: only with its profile
};
// The profile of the recorded devices of vectors/captures.
inline constexpr std::string_view kSoftRoce = "soft-roce";

struct AllowedDifference {
  AllowedKind kind;
  // A field of the tables, or one of the pseudo fields below.
  std::string_view header, field;
  std::string_view condition;
  bool (*holds)(const Situation&);
  std::string_view statement;  // or the numbered deviation of the recorded device
  std::string_view reason;
  Then then = Then::GoesOn;
};
// Pseudo fields: header "frame", "wc", "async", "state" or "post" with these.
inline constexpr std::string_view kRecordedOnly = "recorded only", kOursOnly = "ours only",
                                  kNeverCame = "never came", kBreaks = "breaks a message";

std::span<const AllowedDifference> allowed_differences();

// The number of uses of each row of allowed_differences(), and the profile whose deviations are
// allowed.
struct AllowedUses : std::vector<u64> {
  std::string profile;
};

// The first row that allows it, with its use counted; nullptr: none.
const AllowedDifference* find_allowed(std::string_view header, std::string_view field,
                                      const Situation& situation, AllowedUses& uses);
}  // namespace hca::testbench
