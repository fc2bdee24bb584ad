// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/request_look_ups.h"

#include <fmt/format.h>

namespace hca::testbench {
rtl::CheckedContext RequestLookUps::context_of(const ResponderCheckPacket& p) {
  const u32 qpn = p.qp.qpn, srqn = p.config.srqn;
  if (p.fresh) states_[qpn] = *p.fresh;
  if (p.fresh_srq) queues_[srqn] = {p.fresh_srq->consumed, p.fresh_srq->limit};
  rtl::CheckedContext context{p.config, states_[qpn]};
  if (p.config.shared) {
    const Queue& queue = queues_[srqn];
    context.state.rq_consumed = queue.consumed;
    context.state.rq_limit = queue.limit;
  }
  return context;
}

void RequestLookUps::answer(engine::Cycle at, rtl::LookUpPins& pins) {
  std::optional<rtl::CheckedContext> context;
  std::optional<rtl::CheckedRegion> region;
  if (!contexts_.empty() && contexts_.front().from <= at) {
    const Packet& p = contexts_.front().packet;
    context = context_of(*p);
    if (remote_key(p->parsed)) answered_.push_back(p);
    contexts_.pop_front();
  }
  if (!regions_.empty() && regions_.front().from <= at) {
    region = regions_.front().packet->answered_region;
    regions_.pop_front();
  }
  pins.answer(context ? &*context : nullptr, region ? &*region : nullptr);
}

void RequestLookUps::note_sent(const Packet& packet) {
  if (packet->port != port_) {
    port_ = packet->port;
    pins_->set_pkeys(port_->pkeys);
  }
  if (packet->judged) sent_.push_back(packet);
}

// A look-up without a request is not answered; the comparison reports it.
std::array<std::optional<u32>, 2>& RequestLookUps::take_asks(engine::Cycle at,
                                                             const rtl::LookUpPins& pins) {
  asks_ = {pins.context_asked(), pins.region_asked()};
  if (asks_[0] && !sent_.empty()) {
    // A look-up that names another SRQ gets the context of none.
    if (pins.queue_asked() != sent_.front()->item().named_queue())
      sent_.front()->config.srqn = sent_.front()->config.queue_domain = 0;
    contexts_.push_back({sent_.front(), at + 1 + sent_.front()->context_late});
    sent_.pop_front();
  }
  if (asks_[1] && !answered_.empty()) {
    regions_.push_back({answered_.front(), at + 1 + answered_.front()->region_late});
    answered_.pop_front();
  }
  return asks_;
}

void RequestLookUps::write(const rtl::Judged& j) {
  states_[j.qpn] = j.state;
  if (j.shared) queues_[j.srqn] = {j.state.rq_consumed, j.state.rq_limit};
}

std::string RequestLookUps::describe() const {
  return fmt::format("{} contexts and {} regions are asked for\n", contexts_.size(),
                     regions_.size());
}
}  // namespace hca::testbench
