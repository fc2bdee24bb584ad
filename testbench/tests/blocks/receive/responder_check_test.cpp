// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_check.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct CheckBench {
  explicit CheckBench(const ResponderCheckConfig& c) : config(c) {
    set_up(peer, 2), set_up(contexts, 2, true);
  }
  Cycle check(u32 qpn, Cycle at) {
    Packet* p = parsed(write_packet(pool, peer.qps[qpn], psn[qpn]++, 64));
    return block.check(*p, at, at);
  }
  ResponderCheckConfig config;
  device::Contexts peer;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  ResponderCheck block{config, context, contexts, protection};
  PacketPool pool;
  std::array<u32, 3> psn{100, 100, 100};
};
}  // namespace

TEST_CASE("a request leaves with its verdict after look-ups and latency", "[responder_check]") {
  CheckBench bench({.latency = 7, .interval = 1}), later({.latency = 8, .interval = 1});
  CHECK(bench.check(1, 10) == 10 + 2 + 2 + 7);
  CHECK(later.check(1, 10) == 10 + 2 + 2 + 8);
  CHECK(bench.block.counters.good == 1);
}

TEST_CASE("a request within the interval is blocked at n - 1 and enters at n",
          "[responder_check]") {
  // The first enters the rules in 14, the next one 3 cycles later: asked for in 12 it would come in
  // 16, in 13 in 17.
  for (const Cycle at : {12, 13, 14}) {
    CheckBench bench({.latency = 7, .interval = 3});
    CHECK(bench.check(1, 10) == 21);
    CHECK(bench.check(2, at) == std::max<Cycle>(at + 4, 17) + 7);
  }
}

TEST_CASE("a request whose context is being changed waits for it, or gets the new value",
          "[responder_check]") {
  // The first writes its context in 21; the look-up of the second ends in 20, 21 or 22.
  for (const Cycle at : {18, 19, 20}) {
    CheckBench stall({.latency = 7, .interval = 1, .context_forwarding = ContextForwarding::Stall});
    CHECK(stall.check(1, 10) == 21);
    CHECK(stall.check(1, at) == std::max<Cycle>(at + 2, 21) + 2 + 7);
    CHECK(stall.block.counters.context_stalls == (at == 18));
    CheckBench forward(
        {.latency = 7, .interval = 1, .context_forwarding = ContextForwarding::Forward});
    forward.check(1, 10);
    CHECK(forward.check(1, at) == at + 2 + 2 + 7);
  }
  CheckBench other({.latency = 7, .interval = 1, .context_forwarding = ContextForwarding::Stall});
  other.check(1, 10);
  CHECK(other.check(2, 11) == 11 + 2 + 2 + 7);  // another queue pair is not concerned
}
