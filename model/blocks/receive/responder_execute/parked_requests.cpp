// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/parked_requests.h"

#include <utility>

namespace hca::blocks {
using namespace proto;

bool ParkedRequests::waits_for_earlier(const Packet& p, const ResponderQueue& q) {
  if (q.invalidates) return true;
  return q.atomics && p.verdict.action == RequestAction::Execute &&
         !p.parsed.opcode->traits().is_saved();
}

void ParkedRequests::note_due(u32 qpn, ResponderQueue& q) {
  if (q.parked_head && !q.unparking) {
    q.unparking = true;
    due_.push(qpn);
  }
}

void ParkedRequests::put_off_first(ResponderQueue& q) {
  q.unparking = false;
  due_.drop();
}

void ParkedRequests::park(Packet* p, ResponderQueue& q) {
  p->next = nullptr;
  if (q.parked_head)
    q.parked_tail->next = p;
  else
    q.parked_head = p;
  q.parked_tail = p;
  ++parked_;
  ++counters_.parked;
}

Packet* ParkedRequests::take_first(ResponderQueue& q) {
  Packet* p = q.parked_head;
  q.parked_head = p->next;
  --parked_;
  return p;
}

void ParkedRequests::end_wqe_wait(u32 qpn, ResponderQueue& q) {
  u64& waits = uses_srq(contexts_.qps[qpn]) ? counters_.waits_shared_wqes : counters_.waits_wqes;
  waits += now() - std::exchange(q.wqe_since, kNever);
}
}  // namespace hca::blocks
