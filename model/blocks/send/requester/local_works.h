// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/work_ends.h"

namespace hca::blocks {
// Work requests that send no packet: BIND_MW, LOCAL_INV, REG_MR. They begin in their turn,
// `command` executes them between two packets, and what comes after them begins then (G22.6). They
// complete when the accesses judged before have drained (MW-20).
class LocalWorks : RequesterPart {
 public:
  LocalWorks(const RequesterPart& shared, RequesterOutbox& outbox, SendOrder& order, WorkEnds& ends)
      : RequesterPart(shared), outbox_(outbox), order_(order), ends_(ends) {}

  // It is begun; a rewind will pass over it. `wqe`: as it was fetched.
  void start(u32 qpn, SendQueue& q, const u8* wqe, u32 index);

  // By `command`: whether the queue pair still waits for a work request; what became of it, and the
  // queue pair goes on; it completes.
  bool waits_for(u32 qpn, u32 life);
  void go_on(u32 qpn, proto::WcStatus status);
  void end(u32 qpn, u32 life, u32 index);

 private:
  RequesterOutbox& outbox_;
  SendOrder& order_;
  WorkEnds& ends_;
};
}  // namespace hca::blocks
