// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/device/writers.h"

namespace hca::blocks {
// RD: requests to an EE context, each executed as one of the queue pair that it names. A request to
// another queue pair waits until all outcomes of the earlier ones have left.
class RdRequests : ResponderPart {
 public:
  RdRequests(const ResponderPart& shared, device::Contexts& contexts, ExecuteStage& stage,
             Outcomes& outcomes)
      : ResponderPart(shared),
        receive_(contexts),
        served_(contexts),
        stage_(stage),
        outcomes_(outcomes) {}

  bool waits(const Packet& p, const ResponderQueue& q) const {
    return q.first && contexts_.qps[p.qpn].served != p.receive_queue.owner();
  }
  // The EE context serves the queue pair of the request. False: the request was judged before an
  // earlier one was refused, and ends here.
  bool take_up(Packet* p, ResponderQueue& q);
  void resync(Packet* p, ResponderQueue& q);
  // A request that breaks a rule, or a duplicate.
  void answer_refusal(Packet* p, ResponderQueue& q);
  // An error that was found here. `counted`: the MSN has counted its message.
  void refuse(Packet* p, ResponderQueue& q, bool counted);

 private:
  Outcome& retire(Packet* p, bool replies);
  void complete_held(Outcome& outcome, ResponderQueue& q, proto::WcStatus status) const;

  const device::ReceiveStates receive_;
  const device::ServedContexts served_;
  ExecuteStage& stage_;
  Outcomes& outcomes_;
};
}  // namespace hca::blocks
