// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/standstill.h"
#include "model/blocks/send/requester/ee_service.h"
#include "model/blocks/send/requester/local_works.h"
#include "model/blocks/send/requester/psn_steps.h"
#include "model/blocks/send/requester/response_data.h"
#include "model/proto/transport/qp_transitions.h"

namespace hca::blocks {
// Opens work requests: checks the WQE, then gives a new message its PSNs or determines the cause
// for which it must wait.
class MessageStart : RequesterPart {
 public:
  struct Parts {
    FetchedTurns& turns;
    PsnSteps& psns;
    WorkEnds& ends;
    LocalWorks& local_works;
    ResponseData& data;
    EeService& ee_service;
  };
  MessageStart(const RequesterPart& shared, Protection& protection, const Parts& parts)
      : RequesterPart(shared), protection_(protection), parts_(parts) {}

  // The destination of a datagram; a datagram is cut in the cycle in which its WQE is checked.
  struct Datagram {
    proto::AddressHandle address{};
    proto::Path path{};
  };
  const Datagram& datagram() const { return datagram_; }

  // Opens the first WQE of the queue: a new message gets its PSNs, a repeated one begins where loss
  // recovery left it. False: it has nothing to send now.
  bool begin(u32 qpn, SendQueue& q, const Turn& turn);
  // The first packet of the message is in flight as a probe for a receive WQE.
  bool waits_for_probe(u32 qpn, const SendQueue& q) const;
  // Describes why the queue pair is held up, for a person.
  RequesterHold hold(u32 qpn, const SendQueue& q) const;

 private:
  bool is_acknowledged(u32 qpn, u32 index);
  void ask(u32 qpn, SendQueue& q, const Turn& turn);
  proto::WcStatus check_wqe(const proto::QpConfig& qp, SendQueue& q, const u8* wqe, u32 index,
                            u64& bytes);
  bool take_address(const proto::QpConfig& qp, const u8* handle);
  bool start(u32 qpn, SendQueue& q, proto::SentMessage& m, const u8* wqe, u32 index, u32 bytes);
  void change_wait(SendQueue& q, proto::SendWait wait);

  Protection& protection_;
  const Parts parts_;
  Datagram datagram_;
};
}  // namespace hca::blocks
