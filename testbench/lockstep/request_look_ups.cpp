// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/request_look_ups.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
constexpr u32 kOfEe = 1u << 24;
}

rtl::CheckedContext RequestLookUps::context_of(const ResponderCheckPacket& p) {
  const u32 kind = p.of_ee() ? kOfEe : 0;
  const u32 number = device::context_number(p.qp.qpn), srqn = kind | p.config.srqn;
  if (p.fresh) states_[number] = *p.fresh;
  if (p.fresh_rd) queues_[kind | p.dest_qp] = {p.fresh_rd->consumed, 0};
  if (p.fresh_srq) queues_[srqn] = {p.fresh_srq->consumed, p.fresh_srq->limit};
  rtl::CheckedContext context{p.config, states_[number]};
  if (p.config.shared) {
    const Queue& queue = queues_[srqn];
    context.state.rq_consumed = queue.consumed;
    context.state.rq_limit = queue.limit;
  }
  if (p.of_ee()) context.state.owner_consumed = queues_[kOfEe | context.state.owner].consumed;
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
    pins_->set_rd(packet->has_rd);
  }
  if (packet->judged) sent_.push_back(packet);
}

// A look-up without a request is not answered; the comparison reports it.
std::array<std::optional<u32>, 2>& RequestLookUps::take_asks(engine::Cycle at,
                                                             const rtl::LookUpPins& pins) {
  asks_ = {pins.context_asked(), pins.region_asked()};
  if (asks_[0] && !sent_.empty()) {
    // A look-up that names another SRQ or queue pair gets the context of none.
    if (pins.queue_asked() != sent_.front()->item().named_queue()) {
      rtl::CheckedConfig& config = sent_.front()->config;
      config.srqn = config.queue_domain = 0;
      config.has_queue = false;
    }
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
  const u32 kind = j.ee ? kOfEe : 0;
  states_[kind | j.qpn] = j.state;
  if (j.shared) queues_[kind | j.srqn] = {j.state.rq_consumed, j.state.rq_limit};
}

std::string RequestLookUps::describe() const {
  return fmt::format("{} contexts and {} regions are asked for\n", contexts_.size(),
                     regions_.size());
}
}  // namespace hca::testbench
