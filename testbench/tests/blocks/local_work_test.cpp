// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <utility>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using engine::Cycle;
using proto::KeyState;
using proto::WorkOpcode;

namespace {
constexpr u32 kFastKey = 0x207;

Message invalidation() {
  return {.opcode = WorkOpcode::LocalInvalidate, .sges = 0, .immediate = kFastKey};
}
device::Contexts& contexts(Pair& pair) { return pair.a.chip.contexts; }
// A region for fast register of A beside that of the tests.
proto::Region& fast_region(Pair& pair) {
  auto& regions = contexts(pair).regions;
  regions.resize(3);
  regions[2] = regions[1];
  regions[2].key = kFastKey, regions[2].access |= proto::kFastRegister;
  return regions[2];
}
}  // namespace

TEST_CASE("a Local Invalidate in the stream takes no PSN and completes in order",
          "[chip][G22.6][G5.4][MW-19]") {
  Pair pair{PairConfig{}};
  const proto::Region& region = fast_region(pair);
  pair.a.host.plan = {{.bytes = 100}, invalidation(), {.bytes = 100}};
  finish(pair);
  check_success(pair.a.host.sent, 3);
  CHECK(pair.a.host.sent[1].opcode == proto::CqeOpcode::LocalInvalidate);
  CHECK(region.state == KeyState::Free);
  REQUIRE(pair.a.sent_frames.size() == 2);
  CHECK(pair.a.sent_frames[1].second == pair.a.sent_frames[0].second + 1);
  CHECK(contexts(pair).send_of(1).ssn == 2);
}

// It begins in cycle n, in which the second WRITE would begin without it; `command` sees it in n +
// 1 and lets the queue pair go on in n + 2: the WRITE leaves 2 cycles later.
TEST_CASE("a Local Invalidate holds its queue pair up for the way to `command` and back",
          "[chip][G22.6]") {
  const auto gap = [](bool with) {
    Pair pair{PairConfig{}};
    fast_region(pair);
    pair.a.host.plan = {{.bytes = 8}, {.bytes = 8}};
    if (with) pair.a.host.plan.insert(pair.a.host.plan.begin() + 1, invalidation());
    finish(pair);
    REQUIRE(pair.a.sent_frames.size() == 2);
    return pair.a.sent_frames[1].first - pair.a.sent_frames[0].first;
  };
  CHECK(gap(true) == gap(false) + 2);
}

TEST_CASE("a rewind passes over a Local Invalidate that is done", "[chip][G22.6][G11.4]") {
  Pair pair{PairConfig{}};
  const proto::Region& region = fast_region(pair);
  bool lost = false;
  pair.a.loses = [&](const blocks::Packet& p) {
    return p.psn == 100 && !std::exchange(lost, true);
  };
  pair.a.host.plan = {{.bytes = 100}, invalidation(), {.bytes = 100}, {.bytes = 100}};
  finish(pair);
  check_success(pair.a.host.sent, 4);
  CHECK(lost);
  CHECK(pair.a.chip.command.counters.local_works == 1);
  CHECK(region.state == KeyState::Free);
}

TEST_CASE("one that is refused fails behind what was posted before it",
          "[chip][T9-24/RC][C9-209]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.bytes = 3000}, invalidation(), {.bytes = 100}};  // there is no such key
  finish(pair);
  REQUIRE(pair.a.host.sent.size() == 3);
  CHECK(pair.a.host.sent[0].status == proto::WcStatus::Success);
  CHECK(pair.a.host.sent[1].status == proto::WcStatus::MwBindErr);
  CHECK(pair.a.host.sent[2].status == proto::WcStatus::WrFlushErr);
  CHECK(contexts(pair).qps[1].state == proto::QpState::Error);
}
