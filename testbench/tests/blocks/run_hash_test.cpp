// SPDX-License-Identifier: Apache-2.0
// One hash for each configuration of traffic, back-pressure and stalls, in all ways to run it.
#include <catch2/catch.hpp>

#include "model/engine/digest.h"
#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;

namespace {
struct Traffic {
  const char* name;
  u32 path_mtu, qps, messages, largest;
  unsigned loss_per_256;
  bool tight;          // small buffers everywhere
  bool reads = false;  // READs and ATOMICs as well
  u32 ports = 1;       // the second with a quarter of the first one's rate
  u32 engines = 1;
  bool pushes = false;    // of small messages, inline
  bool buffered = false;  // link_control before the port
  bool cached = false;    // few contexts on chip
  bool lanes = false;     // of link_control, each with buffers of its own
  bool unreliable = false;
};
constexpr Traffic kTraffic[] = {
    {"small messages of many queue pairs", 256, 8, 60, 300, 0, false},
    {"streaming", 1024, 1, 12, 20000, 0, false},
    {"loss in both directions", 1024, 4, 40, 6000, 12, false},
    {"back-pressure", 512, 4, 30, 5000, 0, true},
    {"back-pressure and loss", 4096, 3, 30, 12000, 8, true},
    {"READs and ATOMICs", 1024, 3, 40, 9000, 0, false, true},
    {"READs and ATOMICs, back-pressure and loss", 512, 3, 30, 5000, 8, true, true},
    {"two ports", 1024, 6, 40, 6000, 0, false, true, 2},
    {"two ports, back-pressure and loss", 512, 4, 30, 5000, 8, true, true, 2},
    {"engines", 512, 6, 40, 4000, 8, false, true, 1, 3},
    {"engines, two ports and back-pressure", 512, 6, 30, 5000, 8, true, true, 2, 2},
    {"pushed WQEs among others", 512, 6, 60, 900, 0, false, true, 1, 1, true},
    {"pushed WQEs, loss and back-pressure", 512, 3, 40, 900, 8, true, true, 1, 1, true},
    {"pushed WQEs, link control", 512, 6, 60, 900, 8, false, true, 1, 1, true, true},
    {"caches", 512, 6, 60, 2000, 8, false, true, 1, 1, true, false, true},
    {"caches, two ports and back-pressure", 512, 6, 30, 2000, 8, true, true, 2, 1, true, false,
     true},
    {"unreliable", 512, 4, 40, 3000, 8, true, false, 1, 1, false, false, false, false, true},
    {"buffers of lanes", 512, 6, 30, 5000, 8, false, true, 1, 1, false, true, false, true},
};

constexpr Cycle kRunEnd = 40'000;
constexpr proto::WorkOpcode kReads[] = {proto::WorkOpcode::RdmaRead, proto::WorkOpcode::CompareSwap,
                                        proto::WorkOpcode::FetchAdd};

PairConfig config_of(const Traffic& t) {
  PairConfig c;
  c.path_mtu = t.path_mtu, c.qps = t.qps, c.timeout = 2;
  c.wire_latency = 64;
  c.chip.core.ports = t.ports, c.chip.port[1].link_rate /= 4;
  if (t.cached) {
    CacheConfigs& caches = c.chip.caches;
    caches.qp.entries = 3, caches.cq.entries = 1, caches.mpt.entries = 2, caches.mtt.entries = 2;
    caches.wqe.entries = 12, caches.wqe.acks = true;
    caches.qp.misses = 2, c.cqs = 2;
  }
  if (t.buffered)
    c.chip.link_control.mode = FlowControl::Lossy, c.chip.link_control.buffer = 1 << 20;
  if (t.lanes) c.chip.packetizer.lane_buffers = c.chip.responder_execute.lane_responses = 2;
  if (t.engines > 1) {
    c.chip.requester.engines = c.chip.responder_execute.engines = t.engines;
    c.chip.requester.engine_interval = 70, c.chip.responder_execute.engine_interval = 110;
    c.chip.responder_execute.engine_queue = t.tight ? 1 : 16;
    c.chip.responder_execute.atomics = 3;
    if (t.ports == 2) c.chip.responder_execute.atomic_by = AtomicBy::Host;
  }
  if (t.tight) {
    c.chip.packetizer.buffers = 2, c.chip.qp_scheduler.slots = 3,
    c.chip.responder_execute.parking = 2;
    c.chip.responder_reply.depth = 1, c.chip.qp_scheduler.batch = 2;
    c.chip.responder_execute.interval = 90;
    c.chip.responder_execute.responses = 2, c.chip.responder_execute.outcomes = 3;
  }
  return c;
}

void plan(Pair& pair, const Traffic& t) {
  for (Pair::Side* side : {&pair.a, &pair.b}) {
    for (u32 qpn = 1; t.unreliable && qpn <= t.qps; ++qpn) {
      proto::QpConfig& qp = side->chip.contexts.qps[qpn];
      qp.service = proto::Service::Uc, qp.reliable = false;
    }
    engine::Random random(side == &pair.a ? 7 : 8);
    for (u32 i = 0; i < t.messages; ++i) {
      Message m;
      m.opcode = random.below(2) ? proto::WorkOpcode::Send : proto::WorkOpcode::RdmaWrite;
      if (t.reads && random.below(2)) m.opcode = kReads[random.below(3)];
      m.qpn = u32(1 + random.below(t.qps));
      m.bytes = u32(random.below(t.largest + 1)), m.sges = u32(1 + random.below(3));
      m.local = random.below(0x100000), m.remote = 0x200000 + random.below(0x100000);
      m.signaled = random.below(4);
      if (t.reads) m.fence = !random.below(4), m.operand = random(), m.compare = random();
      if (m.opcode == proto::WorkOpcode::CompareSwap || m.opcode == proto::WorkOpcode::FetchAdd)
        m.bytes = 8, m.sges = 1, m.remote &= ~u64{7};
      const bool sends =
          m.opcode == proto::WorkOpcode::Send || m.opcode == proto::WorkOpcode::RdmaWrite;
      if (t.pushes) m.inline_data = sends && random.below(2), m.pushed = random.below(2);
      if (m.inline_data) m.bytes %= 64;
      side->host.plan.push_back(m);
    }
    // The last message of each queue pair is signaled, or the end would not be seen.
    std::vector<bool> last(t.qps + 1);
    for (auto m = side->host.plan.rbegin(); m != side->host.plan.rend(); ++m)
      if (!last[m->qpn]) m->signaled = last[m->qpn] = true;
    for (u32 qpn = 1; qpn <= t.qps; ++qpn) side->host.post_receives(qpn, 40, 32768);
    // A packet is lost by its PSN and its turn, not by the order of anything.
    auto turns = std::make_shared<std::map<u64, u32>>();
    if (t.loss_per_256)
      side->loses = [turns, t](const Packet& p) {
        u64 state = u64{p.qpn} << 40 | u64{p.psn} << 8 | (*turns)[u64{p.qpn} << 24 | p.psn]++ % 256;
        return engine::split_mix(state) % 256 < t.loss_per_256;
      };
  }
}

u64 hash(const Traffic& t, engine::Domain::Options options, Cycle quantum) {
  PairConfig c = config_of(t);
  c.domain = options;
  Pair pair(c);
  plan(pair, t);
  const bool finished = pair.run(quantum);
  INFO(t.name << "\n" << pair.report());
  REQUIRE(finished);
  if (t.unreliable) {  // what was sent last arrives
    REQUIRE(pair.cycles < kRunEnd);
    pair.advance(kRunEnd - pair.cycles);
  }
  return pair.digest();
}

// `seeds`: orders of the blocks tried.
void check_orders(const Traffic& t, unsigned stalls, std::pair<unsigned, unsigned> seeds) {
  engine::Domain::Options plain;
  plain.stall_per_256 = stalls;
  const u64 wanted = hash(t, plain, 0);
  CAPTURE(t.name, stalls);
  engine::Domain::Options every = plain;
  every.mode = engine::Mode::EveryCycle;
  for (unsigned seed = seeds.first; seed <= seeds.second; ++seed) {
    engine::Domain::Options shuffled = seed % 2 ? plain : every;
    shuffled.shuffle_seed = seed;
    CAPTURE(seed);
    CHECK(hash(t, shuffled, 0) == wanted);
  }
  for (Cycle quantum : {1u, 7u, 63u}) CHECK(hash(t, plain, quantum) == wanted);
}
}  // namespace

TEST_CASE("a chip that sleeps does what one does that is ticked in every cycle",
          "[chip][hash][wakeup]") {
  const Traffic& t = kTraffic[GENERATE(range(0, int(std::size(kTraffic))))];
  engine::Domain::Options options;
  options.stall_per_256 = GENERATE(0u, 40u);
  CAPTURE(t.name, options.stall_per_256);
  const u64 asleep = hash(t, options, 0);
  options.mode = engine::Mode::EveryCycle;
  CHECK(hash(t, options, 0) == asleep);
}

TEST_CASE("shuffled orders and quanta give one hash", "[chip][hash]") {
  const Traffic& t = kTraffic[GENERATE(range(0, int(std::size(kTraffic))))];
  check_orders(t, GENERATE(0u, 40u), {1, 8});
}

TEST_CASE("many shuffled orders give one hash", "[chip][hash][slow]") {
  const Traffic& t = kTraffic[GENERATE(range(0, int(std::size(kTraffic))))];
  check_orders(t, GENERATE(0u, 40u), {9, 50});
}
