// SPDX-License-Identifier: Apache-2.0
// The next request of the stimulus: a given one or a generated one.
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
using namespace proto;

// Generates a request.
void ResponderCheckStimulus::make_request(Packet& p) {
  plain_ = random_.chance(2, 5);
  oddest_ = random_.chance(1, 6);
  choose_qp(p);
  p.qp.state = odd(1, 24)  ? QpState(random_.below(7))
               : odd(1, 8) ? QpState(2 + random_.below(4))
                           : QpState::Rts;
  if (plain_) {
    p.qp.access = kEveryRight;
    p.qp.max_dest_rd_atomic |= 1;
  }
  if (odd(1, 10)) p.qp.access = u8(random_());  // changed, and back again
  build(p);
  const ReceiveState& s = p.of->ahead;
  const u32 consumed = p.srq ? p.srq->ahead.taken : p.rd ? p.rd->ahead.rq_consumed : s.rq_consumed;
  p.rq_posted = consumed + (plain_ ? 1 : choose_posted());
  if (turns(Turned::Posted)) {
    const u32 bit = next_bit(2 * 32), one = 1u << bit % 32;
    p.rq_posted = bit / 32 ? consumed ^ one : consumed + one;
  }
  if (p.of_ee() && !p.rd) p.rq_posted = 0;
  p.rq_failed = p.srq && odd(1, 16);
  const u32 depth = p.qp.max_dest_rd_atomic;
  if (plain_) return void(p.reads_finished = s.reads_accepted);
  p.reads_finished =
      s.reads_accepted - u32(random_.below(depth + (random_.chance(1, 3) ? 2 : !depth)));
}

ResponderCheckPacket ResponderCheckStimulus::next() {
  Packet p;
  p.number = made_;
  p.gap = regime_.gap(random_);
  if (made_ % kRequestsWithPkeys == 0 && (made_ == 0 || !given_.any())) {
    draw_pkeys();
    p.alone = true;
  }
  p.port = port_;
  p.has_rd = has_rd_;
  p.queues = twins_;
  given_.any() ? take_given(p) : make_request(p);
  if (made_ % 256 == 0) late_percent_ = std::array<u32, 4>{0, 0, 10, 60}[random_.below(4)];
  if (random_.chance(late_percent_, 100)) p.context_late = 1 + random_.below(20);
  if (random_.chance(late_percent_, 100)) p.region_late = 1 + random_.below(20);
  answer(p);
  if (p.judged) judge_ahead(p);
  p.bytes_sent = p.frame.size();
  ++made_;
  return p;
}
}  // namespace hca::testbench
