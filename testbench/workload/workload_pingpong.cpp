// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/workload_pingpong.h"

#include <fmt/format.h>

namespace hca::testbench {
PingPong::PingPong(const Endpoint& end, const Traffic& traffic, Way sends)
    : checker_sent(sends == Way::ToServer ? "client" : "server", traffic, sends),
      checker_received(sends == Way::ToServer ? "client" : "server", traffic, opposite(sends)),
      end_(end),
      traffic_(traffic),
      buffers_(end_, traffic_),
      peer_buffers_(*end_.peer, traffic_),
      poster_(end_, traffic_),
      step_(sends == Way::ToServer ? Step::Post : Step::Wait) {
  const OperationRow& row = row_of(traffic.operation);
  if (row.writes) watch_ = std::make_unique<WriteWatch>(end_, traffic_, checker_received);
  if (row.takes_receive) poster_.post_first();
  if (row.takes_receive && end_.shares_receives()) shared_.emplace(end_, traffic_);
  posts_.reserve(traffic.messages);
}

Cycle PingPong::act(Cycle now) {
  switch (step_) {
    case Step::Wait:
      return wait(now);
    case Step::Post:
      return post(now);
    case Step::Complete:
      return complete();
  }
  return 0;
}

Cycle PingPong::wait(Cycle now) {
  if (received_ == traffic_.messages) return 0;
  if (!row_of(traffic_.operation).takes_receive) {
    if (watch_->arrived() == received_) return 0;
    ++received_;
    return posted_ < traffic_.messages ? post(now) : 0;
  }
  Wc wc;
  if (!end_.verbs->poll_cq(*end_.recv_cq, {&wc, 1}))
    return found_nothing(end_, traffic_, *end_.recv_cq);
  checker_received.check(wc);
  const u64 slot = shared_ ? wc.wr_id : received_ % traffic_.receive_depth;
  const SgeList sge = poster_.buffer(0, slot);
  if (!watch_)
    checker_received.check(end_.verbs->memory(), sge.addr + traffic_.receive_header, 0, received_);
  if (watch_ && !watch_->has_arrived(0, received_))
    checker_received.fail(fmt::format("message {}: completed before its last byte", received_));
  ++received_;
  if (shared_ ? shared_->take_left(slot) : received_ + traffic_.receive_depth <= traffic_.messages)
    poster_.post(0, slot);
  step_ = posted_ < traffic_.messages ? Step::Post : Step::Wait;
  return end_.cpu->take_completions(1, 1);
}

Cycle PingPong::post(Cycle now) {
  const Buffer buffer = buffers_.local(traffic_.message(0, posted_), 0, posted_);
  const SgeList sge{buffer.addr, traffic_.bytes, buffer.lkey};
  checker_sent.fill(end_.verbs->memory(), sge.addr, 0, posted_);
  const Pieces pieces = pieces_of(sge, traffic_);
  const SendWr wr = work_request(end_, peer_buffers_, traffic_, 0, posted_, pieces.list());
  if (const Error error = end_.verbs->post_send(*end_.qp, wr); error != Error::None)
    checker_sent.fail(fmt::format("post_send of message {} gives error {}", posted_, int(error)));
  posts_.push_back(now);
  ++posted_;
  step_ = Step::Complete;
  return end_.cpu->take_posts(1);
}

Cycle PingPong::complete() {
  Wc wc;
  if (!end_.verbs->poll_cq(*end_.send_cq, {&wc, 1}))
    return found_nothing(end_, traffic_, *end_.send_cq);
  checker_sent.check(wc);
  ++completed_;
  end_.cpu->completed(
      {end_.cpu->self.now(), end_.qp->qpn, traffic_.bytes, u8(traffic_.operation), traffic_.entry});
  step_ = Step::Wait;
  return end_.cpu->take_completions(1);
}
}  // namespace hca::testbench
