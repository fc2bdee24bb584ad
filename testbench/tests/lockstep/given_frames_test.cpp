// SPDX-License-Identifier: Apache-2.0
// Frames from outside go through the blocks as they are, in turn.
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"
#include "testbench/tests/lockstep/rtl_frame.h"

namespace hca::testbench {
namespace {
// The RC SEND Only of T2 over IPv6, and a copy whose last byte is another.
GivenFrames frames(bool damaged) {
  const IcrcVector& v = icrc_vectors().at(4);
  Bytes frame = on_the_wire(v, false) + v.crcs;
  std::vector<GivenFrame> all{{frame, proto::LinkLayer::Ethernet, "good"}};
  frame.back() ^= 1;
  if (damaged) all.push_back({frame, proto::LinkLayer::Ethernet, "damaged"});
  return GivenFrames(std::move(all));
}
template <class Pair>
LockstepResult<Pair> run(bool damaged) {
  LockstepOptions<Pair> options;
  options.cycles = 4000;
  options.given = frames(damaged);
  auto r = run_lockstep(options);
  CHECK(r.equal());
  CHECK(r.packets > 100);
  return r;
}
}  // namespace

TEST_CASE("given frames are checked, and completed in each second round", "[icrc][lockstep]") {
  auto r = run<IcrcLockstep>(false);
  CHECK(r.counts.bad == 0);
  CHECK(r.counts.good + r.counts.generated == r.packets);
  CHECK(r.counts.good - r.counts.generated <= 1);
  r = run<IcrcLockstep>(true);
  // The damaged one in half of the rounds.
  CHECK(r.counts.bad >= r.packets / 4);
  CHECK(r.counts.bad <= r.packets / 4 + 1);
}

TEST_CASE("given frames are taken apart", "[rx_parser][lockstep]") {
  auto r = run<RxParserLockstep>(false);
  CHECK(r.counts.good == r.packets);
  r = run<RxParserLockstep>(true);
  CHECK(r.counts.bad_crc == r.packets / 2);
}

TEST_CASE("a given request finds a queue pair that executes it once",
          "[responder_check][lockstep][G3.1]") {
  const auto r = run<ResponderCheckLockstep>(false);
  CHECK(r.counts.executed == 1);
  CHECK(r.counts.answered == r.packets - 1);  // the same PSN again
}
}  // namespace hca::testbench
