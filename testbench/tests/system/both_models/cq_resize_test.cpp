// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <utility>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/both_models/loop.h"

namespace hca::testbench {
using namespace proto;

// The ACKs of 16 work requests come later and later after the doorbell of ModifyCq.
TEST_CASE("a CQ changes its size while CQEs come: each once, in order, none lost",
          "[both models][CQ-20]") {
  const ReplayRunner& runner = replay_runners()[GENERATE(0u, 1u)];
  const u32 left = GENERATE(0u, 5u, 11u), entries = GENERATE(32u, 256u);
  CAPTURE(runner.name, left, entries);
  constexpr u32 kUnderWay = 16;
  u32 in_between = 0;
  for (u64 moment = 0; moment < 600; moment += runner.name == "cycle" ? 5 : 600) {
    CAPTURE(moment);
    u64 delay = moment;
    Loop loop(runner);
    const Loop::Ends ends = loop.connect({.entries = 64});
    Loop::Results wanted;
    u64 id = 0;
    const auto post = [&](u32 count) {
      for (u32 i = 0; i < count; ++i) {
        REQUIRE(loop.post(ends, ++id, 8) == Error::None);
        wanted.emplace_back(id, WcStatus::Success);
      }
    };
    post(left), loop.carry();
    post(kUnderWay);
    loop.give(loop.take());
    std::vector<Frame> acks = loop.take();
    REQUIRE(!acks.empty());
    u32 old_ring = 0;
    loop.device->memory().watch(loop.send_cq->address, u64{loop.send_cq->entries()} * kCqeBytes,
                                [&](u64, u64 bytes) { old_ring += u32(bytes / kCqeBytes); });
    loop.verbs.set_step([&] {
      if (delay) loop.device->advance(std::exchange(delay, 0));
      loop.give(std::exchange(acks, {}));
      return loop.device->run(), false;
    });
    REQUIRE(loop.verbs.resize_cq(*loop.send_cq, entries) == Error::None);
    loop.give(std::exchange(acks, {}));  // where a command takes no time
    in_between += old_ring > 0 && old_ring < kUnderWay;
    loop.carry();
    CHECK(loop.poll(loop.send_cq) == wanted);
    post(entries > 40 ? 40 : 8), loop.carry();
    wanted.erase(wanted.begin(), wanted.begin() + left + kUnderWay);
    CHECK(loop.poll(loop.send_cq) == wanted);
    CHECK_FALSE(loop.verbs.query_cq(*loop.send_cq).overflowed);
  }
  if (runner.name == "cycle") CHECK(in_between > 0);
}

// CQEs of the old ring are in memory before the answer to ModifyCq, in whatever cycle that comes:
// the driver looks each cycle.
TEST_CASE("a CQ that changes its size waits for the CQEs that are on their way to the old ring",
          "[both models][CQ-20]") {
  const ReplayRunner& runner = replay_runners()[1];
  REQUIRE(runner.name == "cycle");
  constexpr u32 kUnderWay = 16, kLongest = 700;
  u32 late = 0;
  for (u64 moment = 200; moment < 600; moment += 5) {
    CAPTURE(moment);
    Loop loop(runner);
    const Loop::Ends ends = loop.connect({.entries = 64});
    Loop::Results wanted;
    for (u64 id = 1; id <= kUnderWay; ++id) {
      REQUIRE(loop.post(ends, id, 8) == Error::None);
      wanted.emplace_back(id, WcStatus::Success);
    }
    loop.give(loop.take());
    const std::vector<Frame> acks = loop.take();
    const auto is_answered = [&] {
      for (u32 slot = 0; slot < VerbsContext::kCommandSlots; ++slot) {
        std::array<u8, kCommandHeaderBytes> bytes;
        loop.device->memory().read(loop.verbs.command_blocks() + slot * kCommandBytes, bytes.data(),
                                   bytes.size());
        const auto header = decode<CommandHeader>(bytes.data());
        if (header.opcode == CommandOpcode::ModifyCq && header.done) return true;
      }
      return false;
    };
    loop.device->memory().watch(loop.send_cq->address, u64{loop.send_cq->entries()} * kCqeBytes,
                                [&](u64, u64) { late += is_answered(); });
    u32 steps = 0;
    loop.verbs.set_step([&] {
      if (!steps++) loop.device->advance(moment), loop.give(acks);
      loop.device->advance(3);  // a cycle is 2.5
      return steps < kLongest;
    });
    REQUIRE(loop.verbs.resize_cq(*loop.send_cq, 256) == Error::None);
    loop.carry();
    CHECK(loop.poll(loop.send_cq) == wanted);
  }
  CHECK(late == 0);
}
}  // namespace hca::testbench
