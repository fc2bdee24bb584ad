// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/completion_unit.h"

namespace hca::blocks {
using namespace proto;

CqAnswer step_cq(EntryRing& cq, const CqRequest& r) {
  CqAnswer a;
  if (r.step == CqStep::Complete)
    a.place = put_cqe(cq, r.cqe, a.bytes.data());
  else if (!cq.allocated)
    a.place.result = CqResult::NoQueue;
  else
    cq.consumer = r.consumer;
  a.solicited =
      r.step == CqStep::Complete && a.place.result == CqResult::Written && is_solicited(r.cqe);
  a.after = cq;
  return a;
}
}  // namespace hca::blocks
