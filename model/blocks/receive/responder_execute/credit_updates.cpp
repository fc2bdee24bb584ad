// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/credit_updates.h"

namespace hca::blocks {
using namespace proto;

void CreditUpdates::offer(u32 qpn, ResponderQueue& q) {
  if (q.tells || q.first || q.failed || !q.told.must_be_told_again(q.posted)) return;
  q.tells = true;
  tells_[ports_.number_of(qpn)].push(qpn);
}

// G6.6, C9-217: repeats the newest ACK with its MSN and the credits that are free as of that MSN:
// it never promises more than there are, whatever has been consumed since.
void CreditUpdates::tell(unsigned port) {
  Ring<u32>& tells = tells_[port];
  while (!tells.empty()) {
    const u32 qpn = tells.front();
    ResponderQueue& q = queues_[qpn];
    if (!q.first && !q.failed && q.told.must_be_told_again(q.posted)) {
      ReplyLink& replies = *ports_.of(qpn).replies_out;
      if (!replies.can_push()) return;
      q.told.syndrome = ack_syndrome(credit_code(q.told.free(q.posted)));
      Reply reply{qpn, q.told.psn, q.told.msn, q.told.syndrome};
      reply.becn = takes_becn(q.congested);
      replies.push(reply);
      ++counters_.credit_updates;
    }
    tells.drop();
    q.tells = false;
  }
}
}  // namespace hca::blocks
