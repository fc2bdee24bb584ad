// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stand_in.h"
#include "model/blocks/send/requester/requester_part.h"
#include "model/proto/transport/response_rules.h"

namespace hca::blocks {
// The steps of a queue pair's PSNs. If another implementation stands in for requester_psn, it
// computes each step from the PSNs before; without a stand-in the steps are already made.
class PsnSteps : RequesterPart {
 public:
  explicit PsnSteps(const RequesterPart& shared) : RequesterPart(shared) {}

  StandIn<RequesterPsnItem>* stand_in = nullptr;

  // Called by `command`: the queue pair may send.
  void start(u32 qpn);
  // Used only with a stand-in. `before`: the PSNs before the step.
  void begin(u32 qpn, const proto::SendPsns& before, proto::SentMessage& message);
  // A packet is sent; `index`: how many PSNs of its message come before it. True: it is sent for
  // the first time.
  bool send(u32 qpn, const proto::SentMessage& message, u32 index);
  // A RESYNC of an EE context begins.
  void resync(u32 ee, const proto::SendPsns& before, proto::SentMessage& message);
  void answer(u32 qpn, const proto::SendPsns& before, const proto::AckVerdict& verdict);
  // Everything before `next_psn` is done. Needed without a stand-in, too.
  void finish(u32 qpn, proto::Psn next_psn);

 private:
  PsnAnswer step(u32 qpn, proto::SendPsns& psns, const PsnRequest& request);
};
}  // namespace hca::blocks
