// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"
#include "model/device/writers.h"

namespace hca::blocks {
// Flushes the receive WQEs of queue pairs in Error: one a cycle, after all completions of the queue
// pair that are in flight (G20.2). It also flushes SRQ WQEs that were taken for requests which are
// never executed (G23).
class ReceiveFlush : ResponderPart {
 public:
  ReceiveFlush(const ResponderPart& shared, device::Contexts& contexts)
      : ResponderPart(shared), receive_(contexts) {}
  // The queue pair entered Error.
  void begin(u32 qpn, ResponderQueue& q);
  // WQEs were posted to a queue pair in Error.
  void add(u32 qpn) { flushes_.push(qpn); }
  // RD: the messages that arrive for this queue pair end; their receive WQEs are flushed, unless it
  // is reset.
  void end_received(u32 qpn, bool flushes);
  // RD: the message that an EE context receives ends.
  void end_message(u32 receiver, ResponderQueue& q, proto::WcStatus status);
  // A request will not be executed because its queue pair is in Error.
  void lose(const Packet& p, const ResponderQueue& q);
  bool any() const { return !flushes_.empty() || !lost_.empty(); }
  void flush();

 private:
  // A WQE that completes after the outcomes of `qpn`, unless the queue pair `owner`, whose WQE it
  // is, is reset before. RD: the outcomes are those of an EE context.
  struct Lost {
    u32 qpn = 0, owner = 0, life = 0, wqe = 0;
    device::ReceiveQueue queue{};
    proto::WcStatus status = proto::WcStatus::WrFlushErr;
  };
  u32 oldest_received(u32 qpn);
  bool flush_lost();
  bool end(u32 qpn, const ResponderQueue& q);
  bool tell_last(u32 qpn);

  const device::ReceiveStates receive_;
  Ring<u32> flushes_;
  Ring<Lost> lost_;
};
}  // namespace hca::blocks
