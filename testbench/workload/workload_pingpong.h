// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "testbench/workload/workload.h"

namespace hca::testbench {
// One end of a ping-pong as in ib_write_lat and ib_send_lat: wait for the peer's message, post the
// answer, wait for its completion. The client begins. A latency is half the time from one post of
// the client to the next.
class PingPong : public Program {
 public:
  PingPong(const Endpoint& end, const Traffic& traffic, Way sends);
  Cycle act(Cycle now) override;
  // The last byte of a WRITE has no completion: the program polls memory for it.
  bool waits_for_events() const override {
    const bool by_queue = step_ != Step::Wait || row_of(traffic_.operation).takes_receive;
    return by_queue && waits_by_events(end_, traffic_);
  }
  bool finished() const override {
    return completed_ == traffic_.messages && received_ == traffic_.messages;
  }
  bool failed() const override { return checker_sent.failed() || checker_received.failed(); }
  const std::vector<Cycle>& posts() const { return posts_; }
  u64 completed() const { return completed_; }
  Checker checker_sent, checker_received;

 private:
  enum class Step : u8 { Wait, Post, Complete };
  Cycle wait(Cycle now);
  Cycle post(Cycle now);
  Cycle complete();

  Endpoint end_;
  const Traffic& traffic_;
  Buffers buffers_, peer_buffers_;
  ReceivePoster poster_;
  std::optional<SharedReceives> shared_;
  std::unique_ptr<WriteWatch> watch_;
  Step step_;
  u64 posted_ = 0, completed_ = 0, received_ = 0;
  std::vector<Cycle> posts_;
};
}  // namespace hca::testbench
