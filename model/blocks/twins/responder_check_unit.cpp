// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/responder_check_unit.h"

namespace hca::blocks {
using namespace proto;

RequestView ResponderCheckItem::view() const {
  return {*packet, frame,  *qp,       *state, region, state->reads_accepted - reads_finished,
          port,    shared, queue_pair};
}

void ResponderCheckItem::process() const {
  CheckedRequest& c = *checked;
  if (of_ee()) {
    process_rd();
  } else {
    (shared ? shared->posted : state->rq_posted) = rq_posted;
    if (shared) shared->failed = rq_failed;
    c.below_limit = check_request(view(), *state, shared, c.verdict, c.effect);
  }
  c.state = *state;
  if (shared) c.shared = *shared;
  if (qp->reliable && !is_silent(c.verdict.action))
    c.syndrome = answer_syndrome(c.verdict, c.effect, *qp);
}

void ResponderCheckItem::process_rd() const {
  CheckedRequest& c = *checked;
  if (qp->served) queues->of(qp->served).rq_posted = rq_posted;
  const auto queue_of = [&](u32 qpn) -> ReceiveState& { return queues->of(qpn); };
  const EndedWqe wqe = check_rd_request(view(), *state, queue_of, c.verdict, c.effect);
  c.keeps_wqe = wqe.is_in_queue;
  c.queue = wqe.back_to ? wqe.back_to : qp->served;
  c.queue_consumed = queues->consumed(c.queue);
  c.owner_consumed = queues->consumed(state->owner);
}
}  // namespace hca::blocks
