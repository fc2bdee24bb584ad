// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload_stream.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
constexpr u32 kPollBatch = 16;  // as perftest does
}

StreamSender::StreamSender(const Endpoint& end, const Traffic& traffic)
    : checker("client", traffic, Way::ToServer), end_(end), traffic_(traffic) {}

Cycle StreamSender::act(Cycle now) {
  if (posted_ < traffic_.messages && posted_ - completed_ < traffic_.depth) {
    if (!posted_) first_post_ = now;
    post();
    return end_.cpu->post_send;
  }
  return poll(now);
}

void StreamSender::post() {
  const u32 slot = u32(posted_ % traffic_.depth);
  const SgeList sge{end_.send_mr.addr + slot * slot_bytes(traffic_.bytes), traffic_.bytes,
                    end_.send_mr.lkey};
  checker.fill(end_.verbs->memory(), sge.addr, posted_);
  const SendWr wr = work_request(end_, traffic_, posted_, slot, sge);
  if (const Error error = end_.verbs->post_send(*end_.qp, wr); error != Error::None)
    checker.fail(fmt::format("post_send of message {} gives error {}", posted_, int(error)));
  ++posted_;
}

Cycle StreamSender::poll(Cycle now) {
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.send_cq, wcs);
  for (u32 i = 0; i < found; ++i)
    if (checker.check(wcs[i])) completed_ = wcs[i].wr_id + 1;
  if (found) last_completion_ = now;
  return found * end_.cpu->completion;
}

StreamReceiver::StreamReceiver(const Endpoint& end, const Traffic& traffic)
    : checker("server", traffic, Way::ToServer), end_(end), traffic_(traffic) {
  if (traffic.operation == Operation::Write)
    watch_ = std::make_unique<WriteWatch>(end_, traffic_, traffic.depth, checker);
  else
    post_receives(end_, traffic_, u32(std::min<u64>(traffic.receive_depth, traffic.messages)));
}

Cycle StreamReceiver::act(Cycle) {
  if (watch_) return 0;
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.recv_cq, wcs);
  for (u32 i = 0; i < found; ++i)
    if (checker.check(wcs[i])) take(wcs[i]);
  return found * (end_.cpu->completion + end_.cpu->post_recv);
}

// Messages arrive in order, so the receive WQEs are used in order.
void StreamReceiver::take(const Wc& wc) {
  const u64 slot = received_ % traffic_.receive_depth;
  if (wc.wr_id != slot || wc.byte_len != traffic_.bytes)
    checker.fail(fmt::format("message {}: receive {} with {} bytes completed, expected was {}",
                             received_, wc.wr_id, wc.byte_len, slot));
  const SgeList sge{end_.recv_mr.addr + slot * slot_bytes(traffic_.bytes), traffic_.bytes,
                    end_.recv_mr.lkey};
  checker.check(end_.verbs->memory(), sge.addr, received_++);
  if (received_ + traffic_.receive_depth <= traffic_.messages)
    end_.verbs->post_recv(*end_.qp, {slot, {&sge, 1}});
}
}  // namespace hca::testbench
