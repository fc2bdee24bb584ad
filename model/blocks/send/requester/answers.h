// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/per_port.h"
#include "model/blocks/send/requester/ee_service.h"
#include "model/blocks/send/requester/loss_recovery.h"
#include "model/blocks/send/requester/psn_steps.h"
#include "model/blocks/send/requester/response_data.h"
#include "model/blocks/send/requester/work_ends.h"

namespace hca::blocks {
// Handles everything that comes back to the requester: acknowledgements, responses, expired timers,
// and unacknowledged messages that have left. The rules are in proto/transport/response_rules.h.
class Answers : RequesterPart {
 public:
  struct Parts {
    RequesterOutbox& outbox;
    SendOrder& order;
    PsnSteps& psns;
    AckTimers& timers;
    WorkEnds& ends;
    ResponseData& data;
    LossRecovery& recovery;
    EeService& ee_service;
  };
  Answers(const RequesterPart& shared, PortLinks<AckLink>& acks_in, PortLinks<SentLink>& sent_in,
          const Parts& parts)
      : RequesterPart(shared), acks_in_(acks_in), sent_in_(sent_in), parts_(parts) {}

  // Takes an acknowledgement or response, or places the next piece of a response's data.
  void take();
  // The data of a READ or ATOMIC are ordered before everything that follows.
  void take_placed();
  // An unacknowledged message has left (G14.1).
  void take_sent();
  // A timer expired.
  void expire();

 private:
  const proto::SentMessage* awaited(u32 qpn);
  void take_response(const Acknowledgement& a, const proto::QpConfig& qp);
  void act(u32 qpn, const proto::AckVerdict& judged);
  void ask_to_migrate(u32 qpn, const SendQueue& q);
  void end_rnr(SendQueue& q);

  PortLinks<AckLink>& acks_in_;
  PortLinks<SentLink>& sent_in_;
  const Parts parts_;
};
}  // namespace hca::blocks
