// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/pins.h"

namespace hca::testbench {
void PinReceiver::end_cycle(engine::Cycle at, bool start, bool valid, bool first, bool last) {
  if (start) --rooms_;
  if (valid && first) waiting_.emplace_back();
  if (valid && !waiting_.empty()) {
    ++waiting_.back().beats;
    waiting_.back().complete = last;
  }
  // A packet that was taken leaves with a beat a cycle; the next one follows it.
  if (leaving_ && waiting_.front().complete && at >= taken_at_ + waiting_.front().beats) {
    waiting_.pop_front();
    leaving_ = false;
  }
  if (!leaving_ && !waiting_.empty() && !stalls_(at)) {
    leaving_ = true;
    taken_at_ = at;
    ++rooms_;
  }
}
}  // namespace hca::testbench
