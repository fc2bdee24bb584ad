// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "testbench/host/replay_device.h"
#include "testbench/replay/replay_history.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
// Decides whether the timer of a queue pair can explain the next recorded item. Its time must lie
// between the frame that started the timer and that item: no device's timers are shorter than their
// codes (G8.2, G11.2), except for the tick of the device, and a transport timer fires before four
// times its code (G11.2). All times in ns.
class TimerWatch {
 public:
  using Time = std::int64_t;

  // The model's timer after the frame that was recorded at `recorded`.
  void see(std::optional<u64> due, u64 model_now, Time recorded) {
    if (due == due_) return;
    due_ = due;
    started_ = recorded;
    span_ = due ? Time(*due) - Time(model_now) : 0;
  }
  std::optional<u64> due() const { return due_; }
  Time span() const { return span_; }
  Time recorded_span(Time recorded) const { return recorded - started_; }
  // `uncertainty`: of the recording's clocks.
  bool is_over(Time recorded, Time uncertainty) const {
    return recorded_span(recorded) + uncertainty + std::min(kTick, span_ / 8) >= span_;
  }
  bool is_long_over(Time recorded, Time longest) const {
    return recorded_span(recorded) > longest + 2 * kTick;
  }
  // When it fired, in the recording's time; at most `recorded`.
  Time fired(Time recorded) const { return std::min(recorded, started_ + span_); }

 private:
  static constexpr Time kTick = 4'000'000;  // of the recording device's timers
  std::optional<u64> due_;
  Time started_ = 0, span_ = 0;
};

// The timers of all queue pairs of the model.
class QpTimers {
 public:
  QpTimers(const Capture& capture, const OffsetWindow& window);

  // Updates to the timers that the model has armed now.
  void see(ReplayDevice& device, const std::map<u32, QpHistory>& qps);
  // The queue pair with the next timer.
  std::optional<u32> next(ReplayDevice& device) const;
  const TimerWatch& of(u32 qpn) const { return timers_.at(qpn); }
  // The reason why the timer of this queue pair cannot explain an item of the recording; empty: it
  // can. `since`: the model's last activity, on its clock. `is_stamped`: the item is stamped where
  // it happened; hosts read the others at any time.
  std::string why_not(const QpHistory& qp, u64 since, std::int64_t item, bool is_frame) const;

 private:
  std::map<u32, TimerWatch> timers_;  // by our queue pair
  std::int64_t uncertainty_;
  u64 silence_;
};
}  // namespace hca::testbench
