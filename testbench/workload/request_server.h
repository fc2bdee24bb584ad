// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "testbench/workload/round_trips.h"
#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
// The program of a server: takes requests, up to a batch at a time, works on each for its service
// time, in the order in which it took them, and answers it before it works on the next one. It
// takes the completions of its answers when it is awake anyway.
class RequestServer : public Program {
 public:
  // `requests`: what the client sends.
  RequestServer(const Endpoint& end, const Traffic& requests, StreamReceiver& receiver,
                StreamSender& answers, RoundTrips& trips);
  Cycle act(Cycle now) override;
  ~RequestServer() override;
  RequestServer(const RequestServer&) = delete;
  bool waits_for_events() const override { return waits_by_events(end_, traffic_); }
  bool finished() const override { return receiver_.finished() && answers_.finished(); }
  bool failed() const override { return receiver_.failed() || answers_.failed(); }

 private:
  struct Request {
    u32 qp;
    u64 k;
  };
  Cycle serve(Cycle now);
  Endpoint end_;
  const Traffic& traffic_;
  StreamReceiver& receiver_;
  StreamSender& answers_;
  RoundTrips& trips_;
  std::deque<Request> taken_;
  u32 watch_;
  std::deque<u64> arrived_;  // when completions that are not taken came, ps
};
}  // namespace hca::testbench
