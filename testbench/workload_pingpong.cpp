// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload_pingpong.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
Way other(Way way) { return way == Way::ToServer ? Way::ToClient : Way::ToServer; }
}  // namespace

PingPong::PingPong(const Endpoint& end, const Traffic& traffic, Way sends)
    : checker_sent(sends == Way::ToServer ? "client" : "server", traffic, sends),
      checker_received(sends == Way::ToServer ? "client" : "server", traffic, other(sends)),
      end_(end),
      traffic_(traffic),
      step_(sends == Way::ToServer ? Step::Post : Step::Wait) {
  if (traffic.operation == Operation::Write)
    watch_ = std::make_unique<WriteWatch>(end_, traffic_, 1, checker_received);
  else
    post_receives(end_, traffic_, u32(std::min<u64>(traffic.receive_depth, traffic.messages)));
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
  if (watch_) {
    if (watch_->arrived() == received_) return 0;
    ++received_;
    return posted_ < traffic_.messages ? post(now) : 0;
  }
  Wc wc;
  if (!end_.verbs->poll_cq(*end_.recv_cq, {&wc, 1})) return 0;
  checker_received.check(wc);
  const u64 slot = received_ % traffic_.receive_depth;
  const SgeList sge{end_.recv_mr.addr + slot * slot_bytes(traffic_.bytes), traffic_.bytes,
                    end_.recv_mr.lkey};
  checker_received.check(end_.verbs->memory(), sge.addr, received_++);
  if (received_ + traffic_.receive_depth <= traffic_.messages)
    end_.verbs->post_recv(*end_.qp, {slot, {&sge, 1}});
  step_ = posted_ < traffic_.messages ? Step::Post : Step::Wait;
  return end_.cpu->completion + end_.cpu->post_recv;
}

Cycle PingPong::post(Cycle now) {
  const SgeList sge{end_.send_mr.addr, traffic_.bytes, end_.send_mr.lkey};
  checker_sent.fill(end_.verbs->memory(), sge.addr, posted_);
  const SendWr wr = work_request(end_, traffic_, posted_, 0, sge);
  if (const Error error = end_.verbs->post_send(*end_.qp, wr); error != Error::None)
    checker_sent.fail(fmt::format("post_send of message {} gives error {}", posted_, int(error)));
  posts_.push_back(now);
  ++posted_;
  step_ = Step::Complete;
  return end_.cpu->post_send;
}

Cycle PingPong::complete() {
  Wc wc;
  if (!end_.verbs->poll_cq(*end_.send_cq, {&wc, 1})) return 0;
  checker_sent.check(wc);
  ++completed_;
  step_ = Step::Wait;
  return end_.cpu->completion;
}
}  // namespace hca::testbench
