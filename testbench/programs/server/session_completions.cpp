// SPDX-License-Identifier: Apache-2.0
// The server's additions to the CQEs of a program: their times, requested failure statuses, and the
// wake-up of waiting threads.
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "testbench/programs/server/session.h"

namespace hca::attach {
using proto::CommandOpcode;

// ---- Times of CQEs
bool Session::stamps_are_good(const Request& request) const {
  const auto cq = proto::decode<proto::QueueAttributes>(request.body.data());
  return !request.stamps ||
         (cq.log_entries <= proto::kMaxLogQueueEntries &&
          SharedMemory::holds(request.stamps, sizeof(CqeTime) << cq.log_entries));
}
void Session::stamp(Object& cq, const Request& request) {
  const auto attributes = proto::decode<proto::QueueAttributes>(request.body.data());
  if (cq.stamped) device_.memory().unstamp(attachment_, cq.stamped);
  cq.stamped = request.stamps ? attributes.address : 0;
  if (cq.stamped)
    device_.memory().stamp(attachment_, cq.stamped, u64{proto::kCqeBytes} << attributes.log_entries,
                           request.stamps);
}

// ---- Requested failures
void Session::set_failures(const std::vector<FailConfig>& fails) {
  failures_.set(fails);
  if (!fails.empty())
    device_.memory().change(attachment_, [this](std::span<u8> cqes) { failures_.change(cqes); });
}

void Session::settle_failures() {
  if (!failures_.any_failed()) return;
  proto::QpAttributes error{};
  error.mask = proto::kQpState;
  error.state = proto::QpState::Error;
  Body body{};
  for (const u32 qpn : failures_.take_failed()) {
    proto::encode(error, body.data());
    device_.execute(CommandOpcode::ModifyQp, qpn, body);
  }
}

// ---- Who sleeps
void Session::wake_sleepers() {
  if (!std::exchange(wrote_, false)) return;
  SharedControl& control = shared_.control();
  control.completions.fetch_add(1);
  if (!control.sleepers.load()) return;
  syscall(SYS_futex, &control.completions, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
}  // namespace hca::attach
