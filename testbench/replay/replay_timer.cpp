// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_timer.h"

#include <fmt/format.h>

#include "model/device/connection.h"
#include "model/proto/transport/timeout.h"

namespace hca::testbench {
namespace {
constexpr u64 kTimeoutsOfSilence = 4;

u64 ack_timeout_of(const ReplayEvent& connect) {
  return proto::ack_timeout_ns(u8(connect.number("timeout")));
}

// Of the queue pairs of both ends.
u64 longest_timeout(const Capture& capture) {
  u64 longest = 0;
  for (const ReplayEvent& e : capture.events)
    if (e.kind == "connect")
      longest = std::max(
          {longest, ack_timeout_of(e), proto::rnr_delay_ns(u8(e.number("min_rnr_timer")))});
  return longest;
}
}  // namespace

QpTimers::QpTimers(const Capture& capture, const OffsetWindow& window)
    : uncertainty_(window.width()), silence_(kTimeoutsOfSilence * longest_timeout(capture)) {}

void QpTimers::see(ReplayDevice& device, const std::map<u32, QpHistory>& qps) {
  for (const auto& [qpn, history] : qps) {
    const u32 owner = history.of_context ? device::ee_number(qpn) : qpn;
    timers_[qpn].see(device.timer_of(owner), device.now(), history.newest_frame);
  }
}

std::optional<u32> QpTimers::next(ReplayDevice& device) const {
  if (const std::optional<u64> due = device.next_timer())
    for (const auto& [qpn, timer] : timers_)
      if (timer.due() == due) return qpn;
  return std::nullopt;
}

std::string QpTimers::why_not(const QpHistory& qp, u64 since, std::int64_t item,
                              bool is_frame) const {
  const std::int64_t uncertainty = is_frame ? 0 : uncertainty_;
  const TimerWatch& timer = of(u32(qp.connect.number("qpn")));
  if (*timer.due() - since > silence_)
    return fmt::format("silence of more than {} timeouts", kTimeoutsOfSilence);
  if (!timer.is_over(item, uncertainty))
    return fmt::format("the recording has it after {} ns, our timer takes {} ns",
                       timer.recorded_span(item), timer.span());
  // G8.2 bounds the wait after an RNR NAK from below only.
  const u64 longest = kTimeoutsOfSilence * ack_timeout_of(qp.connect);
  if (is_frame && !qp.rnr_nak && timer.is_long_over(item, std::int64_t(longest)))
    return fmt::format("the recording has it after {} ns, no timer of {} ns takes so long",
                       timer.recorded_span(item), timer.span());
  return "";
}
}  // namespace hca::testbench
