// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/both_models/loop.h"

namespace hca::testbench {
using namespace proto;

// Host software looks at the entry after each write of the device, as a processor may at any time.
TEST_CASE("when an asynchronous EQE has its valid bit, all its other fields are there",
          "[both models][AEQ-3][T17]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const auto word_of = [](u32 code) { return u64{1} << 63 | u64{code} << 34 | 1; };  // of port 1
  std::vector<u64> seen;
  u32 entry = 0;
  loop.device->memory().watch(
      loop.async->address, u64{loop.async->entries()} * kEqeBytes, [&](u64, u64) {
        std::array<u8, kEqeBytes> eqe;
        loop.device->memory().read(loop.async->address + entry * kEqeBytes, eqe.data(), eqe.size());
        u64 word = 0;  // the second, low byte first
        for (u32 i = 0; i < 8; ++i) word |= u64{eqe[8 + i]} << 8 * i;
        if (word >> 63) seen.push_back(word), ++entry;
      });
  for (const PortState state : {PortState::Down, PortState::Active}) {
    PortAttributes port = loop.verbs.query_port();
    port.state = state, port.sm_lid = u16(state);
    REQUIRE(loop.verbs.set_port(port) == Error::None);
    loop.device->run();
  }
  CHECK(seen == std::vector<u64>{word_of(0xf05), word_of(0xf0a), word_of(0xf06), word_of(0xf0a)});
}
}  // namespace hca::testbench
