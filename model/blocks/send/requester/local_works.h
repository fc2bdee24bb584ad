// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/work_ends.h"

namespace hca::blocks {
// Work requests that send no packet: BIND_MW, LOCAL_INV, REG_MR. Each begins in its turn; `command`
// executes it between two packets, and only then the work requests after it begin (G22.6). It
// completes when the accesses judged before it have drained (MW-20).
class LocalWorks : RequesterPart {
 public:
  LocalWorks(const RequesterPart& shared, RequesterOutbox& outbox, SendOrder& order, WorkEnds& ends)
      : RequesterPart(shared), outbox_(outbox), order_(order), ends_(ends) {}

  // Begins the work request; a rewind will pass over it. `wqe`: its bytes as fetched.
  void start(u32 qpn, SendQueue& q, const u8* wqe, u32 index);

  // Called by `command`: whether the queue pair still waits for a work request; the result of the
  // work request, after which the queue pair goes on; the completion of the work request.
  bool waits_for(u32 qpn, u32 life);
  void go_on(u32 qpn, proto::WcStatus status);
  void end(u32 qpn, u32 life, u32 index);

 private:
  RequesterOutbox& outbox_;
  SendOrder& order_;
  WorkEnds& ends_;
};
}  // namespace hca::blocks
