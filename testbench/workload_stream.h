// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "testbench/workload.h"

namespace hca::testbench {
// Sends as ib_*_bw does: posts until `depth` messages are in flight, then polls its CQ.
class StreamSender : public Program {
 public:
  StreamSender(const Endpoint& end, const Traffic& traffic);
  Cycle act(Cycle now) override;
  bool finished() const override { return completed_ == traffic_.messages; }
  bool failed() const override { return checker.failed(); }

  u64 completed() const { return completed_; }
  Cycle first_post() const { return first_post_; }
  Cycle last_completion() const { return last_completion_; }
  Checker checker;

 private:
  void post();
  Cycle poll(Cycle now);

  Endpoint end_;
  const Traffic& traffic_;
  u64 posted_ = 0, completed_ = 0;
  Cycle first_post_ = 0, last_completion_ = 0;
};

// The other end: for SEND it takes receive completions and posts their buffers again, for WRITE it
// only looks at what arrives.
class StreamReceiver : public Program {
 public:
  StreamReceiver(const Endpoint& end, const Traffic& traffic);
  Cycle act(Cycle now) override;
  bool finished() const override { return received() == traffic_.messages; }
  bool failed() const override { return checker.failed(); }
  u64 received() const { return watch_ ? watch_->arrived() : received_; }
  Checker checker;

 private:
  void take(const Wc& wc);
  Endpoint end_;
  const Traffic& traffic_;
  std::unique_ptr<WriteWatch> watch_;
  u64 received_ = 0;
};
}  // namespace hca::testbench
