// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "testbench/tests/engine/test_chip.h"

using namespace hca;
using namespace hca::engine;
using namespace hca::engine::test;

namespace {
struct Case {
  const char* name;
  Config config;
};

// Traffic and back-pressure; each also runs under stalls.
std::vector<Case> cases() {
  Config free_flow, packets, pauses, choked, one_tag;
  free_flow.sink_interval = 1, free_flow.tags = 8, free_flow.credits = 32;
  packets.max_beats = 9, packets.max_gap = 60, packets.wire_latency = 64;
  pauses.items = 25, pauses.max_gap = 5000,
  pauses.wire_latency = 3000;  // beyond the wheel's horizon
  choked.sink_interval = 23, choked.credits = 2, choked.max_gap = 3, choked.max_beats = 3;
  one_tag.tags = 1, one_tag.entries = 1, one_tag.memory_latency = 200, one_tag.items = 20;
  return {{"free flow", free_flow},
          {"packets of many beats", packets},
          {"long pauses", pauses},
          {"a slow sink", choked},
          {"one tag, one entry", one_tag}};
}
}  // namespace

TEST_CASE("sleeping, every cycle, shuffled orders, quanta and hosts give one run hash",
          "[engine][wakeup]") {
  std::set<u64> digests;
  unsigned runs = 0;
  for (Case c : cases())
    for (const unsigned stall : {0u, 40u, 160u}) {
      c.config.seed = 7 + stall;
      c.config.domain.stall_per_256 = stall;
      c.config.domain.never_stalled = "stage";
      CAPTURE(c.name, stall);
      Run wanted;
      c.config.fused_stages = false;
      REQUIRE(first_difference(c.config, 50, &wanted) == "");
      digests.insert(wanted.digest), ++runs;

      // A row of plain stages is one link of their latency and twice their depth each.
      c.config.fused_stages = true;
      const Run fused = run_chips(c.config, Way::Quanta, c.config.wire_latency);
      CHECK(fused.digest == wanted.digest);
      CHECK(fused.ticks < wanted.ticks);
    }
  CHECK(digests.size() == runs);  // the hash sees the configuration
}

TEST_CASE("a run's hash sees one cycle of latency", "[engine]") {
  Config c;
  const u64 before = run_chips(c, Way::Quanta, 10).digest;
  CHECK(run_chips(c, Way::Quanta, 10).digest == before);
  ++c.memory_latency;
  CHECK(run_chips(c, Way::Quanta, 10).digest != before);
}

TEST_CASE("stalls are a function of name, cycle and seed", "[engine]") {
  Config c;
  c.domain.stall_per_256 = 60;
  const u64 before = run_chips(c, Way::Quanta, 10).digest;
  CHECK(run_chips(c, Way::Quanta, 10).digest == before);
  c.domain.stall_seed = 1;
  CHECK(run_chips(c, Way::Quanta, 10).digest != before);
}

TEST_CASE("every item is seen once by each block on its way", "[engine]") {
  Config c;
  const Run run = run_chips(c, Way::Quanta, 10);
  CHECK(run.problem == "");
  CHECK(run.events == 3 * 2 * 60 * 7);  // chips, sources, items, kinds of events
}
