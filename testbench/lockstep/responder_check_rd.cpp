// SPDX-License-Identifier: Apache-2.0
// Requests of RD: EE contexts, and the queue pairs that the requests name.
#include "model/proto/transport/ee_context.h"
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
using namespace proto;

// Often the number of a queue pair, or one bit away from that of another EE context.
u32 ResponderCheckStimulus::new_ee_number() {
  constexpr u32 kEe = 1u << 24;
  for (;;) {
    u32 number = u32(random_()) & kPsnMask;
    const auto& like = qps_[random_.below(kQps)];
    const bool alike = like && device::is_ee(like->config.qpn);
    if (like && random_.chance(3, 4))
      number = device::eecn_of(like->config.qpn) ^ (alike ? 1u << random_.below(24) : 0);
    if (numbers_.take(kEe | number)) return device::receiver_number(device::ee_number(number));
  }
}

// `qp` is an EE context of a domain that a queue pair of RD has.
void ResponderCheckStimulus::make_ee_context(CheckedQp& qp) {
  QpConfig& c = qp.config;
  c.side = QpSide::EeContext;
  c.qpn = new_ee_number();
  c.options.credits = false;  // T4
  c.options.rd_abort = random_.chance(1, 2) ? RdAbort::Complete : RdAbort::Keep;
  c.options.rd_resync_queue = random_.chance(1, 4) ? RdResyncQueue::Valid : RdResyncQueue::Any;
  c.options.rd_error_class = random_.chance(1, 2) ? RdErrorClass::F : RdErrorClass::B;
  const auto& queue = rd_queues_[random_.below(kRdQueues)];
  c.rdd = queue && random_.chance(3, 4) ? queue->config.rdd : u32(random_());
}

std::shared_ptr<CheckedRdQueue> ResponderCheckStimulus::new_rd_queue(u32 qpn, u32 domain) {
  auto queue = std::make_shared<CheckedRdQueue>();
  QpConfig& c = queue->config;
  c.allocated = true;
  c.service = Service::Rd;
  c.qpn = qpn;
  c.state = QpState::Rts;
  c.rdd = domain;
  c.pd = u32(random_());
  c.qkey = u32(random_());
  c.access = random_.chance(3, 4) ? kEveryRight : Rights(random_());
  c.min_rnr_timer = u8(random_.below(32));
  queue->ahead.rq_consumed = near(2, 6);
  queue->twin = queue->ahead;
  twins_->all[qpn] = ahead_.all[qpn] = queue;
  return queue;
}

// A queue pair of the domain of this EE context: one that is there, or a new one.
std::shared_ptr<CheckedRdQueue> ResponderCheckStimulus::rd_queue_of(const CheckedQp& ee) {
  const auto first = rd_queues_.begin() + std::ptrdiff_t(random_.below(kRdQueues));
  std::rotate(rd_queues_.begin(), first, rd_queues_.end());
  if (!random_.chance(1, 8))
    for (const auto& queue : rd_queues_)
      if (queue && queue->config.rdd == ee.config.rdd) return queue;
  return rd_queues_.front() = new_rd_queue(new_number(), ee.config.rdd);
}

// The queue pair in DestQP and what of it the EE context uses: within a message that of its first
// packet; else another one, of another domain, service or state, or none.
void ResponderCheckStimulus::choose_rd_queue(Packet& p, const OpcodeRow& row) {
  if (!p.of_ee()) return;
  const ReceiveState& s = p.of->ahead;
  const bool resync = row.operation == Operation::Resync;
  const bool inside = s.message != InMessage::None && !begins_message(row.position);
  const bool goes_on = inside || (resync && s.owner && random_.chance(1, 2));
  p.rd = goes_on && !odd(1, 4) ? ahead_.all.at(s.owner) : rd_queue_of(*p.of);
  p.dest_qp = p.rd->config.qpn;
  if (inside && turns(Turned::Queue)) {  // a bit of the owner's number
    p.dest_qp = s.owner ^ 1u << next_bit(24);
    const auto found = ahead_.all.find(p.dest_qp);
    p.rd = found != ahead_.all.end()  ? found->second
           : numbers_.take(p.dest_qp) ? new_rd_queue(p.dest_qp, p.qp.rdd)
                                      : p.rd;
    p.dest_qp = p.rd->config.qpn;
  }
  p.named = std::make_shared<QpConfig>(p.rd->config);
  if (odd(1, 12)) p.named->state = QpState(random_.below(7));
  if (odd(1, 12)) p.named->rdd ^= 1u << turns_.next("RD domain", 32, random_);
  if (odd(1, 16)) {
    p.dest_qp = new_number();
    p.rd = nullptr;
    if (random_.chance(1, 2)) p.named = nullptr;
    if (p.named)
      p.named->service = one_of(random_, std::array{Service::Rc, Service::Uc, Service::Ud});
  }
  const Rights access = p.qp.access;
  p.qp.served = 0;
  if (p.rd) serve(p.qp, *p.named);
  if (p.rd && plain_) p.qp.access = kEveryRight;
  p.qp.access &= access;
}

// The EE context of a given request works for the queue pair that the frame names.
void ResponderCheckStimulus::take_given_rd(Packet& p, CheckedQp& ee) {
  p.dest_qp = p.parsed.bth.dest_qp;
  const auto found = ahead_.all.find(p.dest_qp);
  p.rd = found != ahead_.all.end() ? found->second : new_rd_queue(p.dest_qp, ee.config.rdd);
  p.rd->config.access = kEveryRight;
  p.rd->config.qkey = p.parsed.deth.qkey;
  p.rd->config.pd = ee.config.pd;
  p.named = std::make_shared<QpConfig>(p.rd->config);
  serve(p.qp, *p.named);
}
}  // namespace hca::testbench
