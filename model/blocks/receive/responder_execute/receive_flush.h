// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"
#include "model/device/writers.h"

namespace hca::blocks {
// Receive WQEs of queue pairs in Error: one a cycle is flushed, after all completions of its queue
// pair that are on their way (G20.2). Those of SRQs that were taken for requests which nobody
// executes end here too (G23).
class ReceiveFlush : ResponderPart {
 public:
  ReceiveFlush(const ResponderPart& shared, device::Contexts& contexts)
      : ResponderPart(shared), receive_(contexts) {}
  // It entered Error.
  void begin(u32 qpn, ResponderQueue& q);
  // WQEs were posted to it there.
  void add(u32 qpn) { flushes_.push(qpn); }
  // A request will not be executed, its queue pair being in Error.
  void lose(const Packet& p, const ResponderQueue& q);
  bool any() const { return !flushes_.empty() || !lost_.empty(); }
  void flush();

 private:
  struct Lost {
    u32 qpn = 0, life = 0, cqn = 0, wqe = 0;
  };
  bool flush_lost();
  bool end(u32 qpn, const ResponderQueue& q);
  bool tell_last(u32 qpn);

  const device::ReceiveStates receive_;
  Ring<u32> flushes_;
  Ring<Lost> lost_;
};
}  // namespace hca::blocks
