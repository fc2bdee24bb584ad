// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/device/writers.h"

namespace hca::blocks {
// Messages without answers. A message may end at any packet without being complete, and some causes
// are found here, after responder_check. So receive WQEs are counted here, by the messages that
// came to their end (G14.4). WQEs of an SRQ are counted by responder_check (G23), which took them
// in the order of arrival over all queue pairs; each WQE that no message uses ends here.
class UnreliableMessages : ResponderPart {
 public:
  UnreliableMessages(const ResponderPart& shared, device::Contexts& contexts, Outcomes& outcomes)
      : ResponderPart(shared), receive_(contexts), outcomes_(outcomes) {}
  bool counts_itself(const Packet& p) const {
    return p.effect.unreliable && !p.receive_queue.is_shared();
  }
  // A packet that begins a message ends the previous message and takes over its receive WQE
  // (ERR-36).
  void begin_message(const Packet& p, ResponderQueue& q);
  // Takes up a request. False: it ends here, and so does its message.
  bool take_up(Packet* p, ResponderQueue& q);
  // True: the packet takes a WQE that is counted here, but none was posted when it came.
  bool lacks_wqe(const Packet& p, const ResponderQueue& q) const;
  void complete(const Packet& p, const ResponderQueue& q, proto::Cqe& cqe);
  // Class D1: the rest of the message has no effect.
  void abandon(Packet* p, ResponderQueue& q);

  // Ends the WQE of a message that is not delivered.
  void end_shared(const Packet& p, ResponderQueue& q, proto::WcStatus status);
  // A packet continues no message: the message in progress is not delivered.
  void end_broken(Packet* p, ResponderQueue& q);

 private:
  void end_message(const Packet& p);

  const device::ReceiveStates receive_;
  Outcomes& outcomes_;
};
}  // namespace hca::blocks
