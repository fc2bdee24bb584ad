// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/request_server.h"

#include "testbench/workload/service_time.h"

namespace hca::testbench {
RequestServer::RequestServer(const Endpoint& end, const Traffic& requests, StreamReceiver& receiver,
                             StreamSender& answers, RoundTrips& trips)
    : end_(end), traffic_(requests), receiver_(receiver), answers_(answers), trips_(trips) {
  const Cq& cq = *end_.recv_cq;
  watch_ = end_.verbs->memory().watch(cq.address, u64{cq.entries()} * proto::kCqeBytes,
                                      [this](u64, u64 bytes) {
                                        arrived_.insert(arrived_.end(), bytes / proto::kCqeBytes,
                                                        end_.cpu->self.now() * end_.period);
                                      });
  receiver_.arrived = [this](u32 qp, u64 k) {
    taken_.push_back({qp, k});
    trips_.arrived(qp, k, arrived_.front());
    arrived_.pop_front();
  };
}
RequestServer::~RequestServer() { end_.verbs->memory().unwatch(watch_); }

Cycle RequestServer::act(Cycle now) {
  if (const Cycle posted = answers_.post_next(now)) return posted;
  if (answers_.is_held_up())
    if (const Cycle took = answers_.poll(now, false)) return took;
  if (!taken_.empty())
    if (const Cycle served = serve(now)) return served;
  if (const Cycle took = receiver_.act(now)) return took;
  // An answer without room waits for the completions of earlier ones, and so does the end.
  return answers_.poll(now, answers_.is_held_up() || receiver_.finished());
}

// The answer is posted in the next action, which begins when the work is done.
Cycle RequestServer::serve(Cycle now) {
  const Request request = taken_.front();
  taken_.pop_front();
  const u64 picoseconds = service_time(traffic_, request.qp, request.k);
  const Cycle works = (picoseconds + end_.period - 1) / end_.period;
  trips_.served(request.qp, request.k, now * end_.period, (now + works) * end_.period);
  answers_.release(request.qp);
  return works ? end_.cpu->pay(HostCost::Serve, works) : answers_.post_next(now);
}
}  // namespace hca::testbench
