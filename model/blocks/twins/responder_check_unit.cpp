// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/responder_check_unit.h"

namespace hca::blocks {
void ResponderCheckItem::process() const {
  (shared ? shared->posted : state->rq_posted) = rq_posted;
  if (shared) shared->failed = rq_failed;
  CheckedRequest& c = *checked;
  c.below_limit = check_request(
      {*packet, frame, *qp, *state, region, state->reads_accepted - reads_finished, port, shared},
      *state, shared, c.verdict, c.effect);
  c.state = *state;
  if (shared) c.shared = *shared;
  if (qp->reliable && !is_silent(c.verdict.action))
    c.syndrome = answer_syndrome(c.verdict, c.effect, *qp);
}
}  // namespace hca::blocks
