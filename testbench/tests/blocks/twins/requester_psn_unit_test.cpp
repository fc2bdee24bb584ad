// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/requester_psn_unit.h"

#include <catch2/catch.hpp>

namespace hca::blocks {
TEST_CASE("a step tells the PSNs that it takes and the context that it leaves",
          "[requester_psn_unit][G1.2][G12.1]") {
  proto::SendPsns s;
  PsnAnswer a = step_psns(s, {.step = PsnStep::Start, .psn = 0xffffff}, 256);
  CHECK(a.psns.first == 0xffffff);
  CHECK(a.psns.count == 0);
  // A READ of 600 bytes: 3 responses of up to 256.
  a = step_psns(s, {.step = PsnStep::Message, .kind = PsnKind::Read, .byte_len = 600}, 256);
  CHECK(a.psns.first == 0xffffff);
  CHECK(a.psns.count == 3);
  CHECK(a.after.next_psn == 2);
  const PsnRequest read{PsnStep::Packet, PsnKind::Read, 0xffffff, 0, 600};
  a = step_psns(s, read, 256);
  CHECK_FALSE(a.repeated);
  CHECK(a.after.sent_psn == 2);
  a = step_psns(s, {.step = PsnStep::Acknowledge, .psn = 0xffffff}, 256);
  CHECK(a.progress);
  CHECK(a.after.unacked_psn == 0);
  a = step_psns(s, {.step = PsnStep::Timeout}, 256);
  CHECK_FALSE(a.progress);
  CHECK(a.after.send_psn == 0);
  // Again from the second response on.
  a = step_psns(s, {PsnStep::Packet, PsnKind::Read, 0xffffff, 1, 600}, 256);
  CHECK(a.repeated);
  CHECK(a.psns.first == 0);
  CHECK(a.psns.count == 2);
  a = step_psns(s, {.step = PsnStep::Acknowledge, .psn = 0xffffff}, 256);
  CHECK(a.result == PsnResult::Newest);
  a = step_psns(s, {.step = PsnStep::GoBack, .psn = 2}, 256);
  CHECK(a.result == PsnResult::Ghost);
  CHECK(s.unacked_psn == 0);
}
}  // namespace hca::blocks
