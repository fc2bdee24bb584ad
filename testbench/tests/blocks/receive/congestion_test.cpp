// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/congestion.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct CongestionBench {
  explicit CongestionBench(const CongestionConfig& config) : block(config, 400'000'000) {
    set_up(contexts, 2);
  }
  Cycle notify(u32 qpn, Cycle at, bool marked = true) {
    Packet* p = parsed(write_packet(pool, contexts.qps[qpn], 100, 8));
    p->frame()[p->shape.network_offset + 1] = marked ? proto::kEcnCongestionExperienced : 0;
    return block.notify(*p, at);
  }
  device::Contexts contexts;
  PacketPool pool;
  Congestion block;
};
}  // namespace

TEST_CASE("a marked packet draws a CNP after the latency, the next one an interval later",
          "[congestion][G26.2]") {
  for (const Cycle at : {14, 15, 16}) {
    CongestionBench bench({.latency = 2, .interval = 5});
    CHECK(bench.notify(1, 10) == 10 + 2);
    CHECK(bench.notify(2, at) == std::max<Cycle>(at, 15) + 2);
  }
}

TEST_CASE("a packet without the mark draws nothing", "[congestion][G26.2]") {
  CongestionBench bench({});
  CHECK(bench.notify(1, 10, false) == engine::kNever);
  CHECK(bench.block.counters.marked == 0);
}

TEST_CASE("a queue pair draws one CNP in cnp_interval, the others theirs", "[congestion][G26.2]") {
  CongestionBench bench({.cnp_interval = 50'000'000});  // 50 us = 20000 cycles of 2.5 ns
  CHECK(bench.notify(1, 10) == 11);
  CHECK(bench.notify(2, 20) == 21);
  CHECK(bench.notify(1, 20'009) == engine::kNever);
  CHECK(bench.notify(1, 20'010) == 20'011);
  CHECK(bench.block.counters.marked == 4);
}
