// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>

#include "model/proto/timeout.h"
#include "testbench/replay_capture.h"

namespace hca::testbench {
// Whether the timer of a queue pair can explain what the recording has next. Between the item at
// which the timer was started and the one it is to explain its time must lie, for no device's
// timers are shorter than their codes say (G8.2, G11.2), but for the tick in which they count; and
// a transport timer fires before four times its code (G11.2). All times in ns.
class TimerWatch {
 public:
  using Time = std::int64_t;

  // The model's timer after an item that was recorded at `recorded`.
  void see(std::optional<u64> due, u64 model_now, Time recorded) {
    if (due == due_) return;
    due_ = due, started_ = recorded, span_ = due ? Time(*due) - Time(model_now) : 0;
  }
  std::optional<u64> due() const { return due_; }
  Time span() const { return span_; }
  Time recorded_span(Time recorded) const { return recorded - started_; }
  // `uncertainty`: of the recording's clocks.
  bool is_over(Time recorded, Time uncertainty) const {
    return recorded_span(recorded) + uncertainty + std::min(kTick, span_ / 8) >= span_;
  }
  bool is_long_over(Time recorded, Time uncertainty, Time longest) const {
    return recorded_span(recorded) > longest + uncertainty + 2 * kTick;
  }
  // When it fired, in the recording's time, if that is before `recorded`.
  Time fired(Time recorded) const { return std::min(recorded, started_ + span_); }

 private:
  static constexpr Time kTick = 4'000'000;  // of the recording device's timers
  std::optional<u64> due_;
  Time started_ = 0, span_ = 0;
};

// Of the queue pairs of both ends.
inline u64 longest_timeout(const Capture& capture) {
  u64 longest = 0;
  for (const ReplayEvent& e : capture.events)
    if (e.kind == "connect")
      longest = std::max({longest, proto::ack_timeout_ns(u8(e.number("timeout"))),
                          proto::rnr_delay_ns(u8(e.number("min_rnr_timer")))});
  return longest;
}
}  // namespace hca::testbench
