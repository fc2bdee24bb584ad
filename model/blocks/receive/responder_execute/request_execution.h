// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/blocks/receive/responder_execute/payload_writes.h"
#include "model/blocks/receive/responder_execute/rd_requests.h"
#include "model/blocks/receive/responder_execute/receive_flush.h"
#include "model/blocks/receive/responder_execute/receive_wqes.h"
#include "model/blocks/receive/responder_execute/unreliable_messages.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
// Carries out one request: places its payload, takes its receive WQE, and creates its outcome.
class RequestExecution : ResponderPart {
 public:
  // The parts that this class uses.
  struct Parts {
    Protection& protection;
    ExecuteStage& stage;
    ParkedRequests& parked;
    ReceiveWqes& receive_wqes;
    PayloadWrites& payload;
    Outcomes& outcomes;
    UnreliableMessages& unreliable;
    ReceiveFlush& flush;
    RdRequests& rd;
  };
  RequestExecution(const ResponderPart& shared, const Parts& parts)
      : ResponderPart(shared), parts_(parts) {}

  void carry_out(Packet* p, ResponderQueue& q);
  // All writes of the payload are requested.
  void finish_placed(Packet* p) { finish(p, true); }
  // G7.4; a request that was judged before a reset is not executed after it either (T13).
  void drop_after_failure(Packet* p, const ResponderQueue& q);

 private:
  void answer_refusal(Packet* p, ResponderQueue& q);
  bool goes_on(Packet* p, ResponderQueue& q);
  void execute_write(Packet* p, ResponderQueue& q);
  bool execute_send(Packet* p, ResponderQueue& q);
  bool open_wqe(Packet* p, ResponderQueue& q, const u8* wqe);
  void place_send(Packet* p, ResponderQueue& q);
  void execute_read(Packet* p, ResponderQueue& q);
  static Fault fault_of(const Packet& p, bool raise, proto::EventType event);
  bool ends_silently(Packet* p, ResponderQueue& q, proto::RequestCause cause);
  void refuse(Packet* p, const proto::RequestVerdict& verdict);
  void finish(Packet* p, bool has_payload);
  void answer_or_complete(const Packet& p, bool has_payload);
  void complete(const Packet& p, const ResponderQueue& q, Outcome& outcome);

  const Parts parts_;
};
}  // namespace hca::blocks
