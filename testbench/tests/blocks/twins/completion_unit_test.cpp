// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/completion_unit.h"

#include <catch2/catch.hpp>

namespace hca::blocks {
TEST_CASE("a step tells the entry that a CQE gets and the CQ that it leaves",
          "[completion_unit][G21.2][G21.3]") {
  proto::EntryRing cq;
  cq.allocated = true, cq.log_entries = 1, cq.address = 0x1000;
  CqRequest cqe, bell{.step = CqStep::Doorbell, .consumer = 1};
  CqAnswer a = step_cq(cq, cqe);
  CHECK(a.place.result == proto::CqResult::Written);
  CHECK(a.place.address == 0x1000);
  CHECK_FALSE(a.solicited);
  CHECK(a.bytes[31] == 1);  // the phase
  cqe.cqe.solicited = true;
  a = step_cq(cq, cqe);
  CHECK(a.place.address == 0x1020);
  CHECK(a.solicited);
  a = step_cq(cq, bell);
  CHECK(a.after.consumer == 1);
  CHECK_FALSE(a.solicited);
  cqe.cqe.solicited = false, cqe.cqe.status = proto::WcStatus::WrFlushErr;
  a = step_cq(cq, cqe);  // on the second turn
  CHECK(a.place.address == 0x1000);
  CHECK(a.solicited);
  CHECK(a.bytes[1] == 5);
  CHECK(a.bytes[31] == 0);
  a = step_cq(cq, cqe);
  CHECK(a.place.result == proto::CqResult::FirstLost);
  CHECK_FALSE(a.solicited);
  CHECK(a.after.overflowed);
  bell.consumer = 3;
  step_cq(cq, bell);
  a = step_cq(cq, cqe);  // empty, and still it takes no more
  CHECK(a.place.result == proto::CqResult::Lost);
  CHECK(a.after.producer == 3);
  cq.allocated = false;
  CHECK(step_cq(cq, cqe).place.result == proto::CqResult::NoQueue);
  bell.consumer = 4;
  CHECK(step_cq(cq, bell).place.result == proto::CqResult::NoQueue);
  CHECK(cq.consumer == 3);
}
}  // namespace hca::blocks
