// SPDX-License-Identifier: Apache-2.0
// Two chips in all their work, one block after the other slowed down until all wait for it: a chip
// that sleeps does what one does whose blocks are ticked in every cycle. scripts/try_wakeups.py
// removes each wake-up and sees these tests fail.
#include <catch2/catch.hpp>

#include "model/device/execute_command.h"
#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;
using namespace hca::proto;

namespace {
constexpr const char* kBlocks[] = {
    "doorbell",          "qp_scheduler",    "wqe_fetch",  "requester", "port_transmit",
    "port_receive",      "responder_reply", "completion", "event",     "dma",
    "responder_execute", "command",         "host"};
constexpr u32 kFastKey = 0x207;  // of a region that SENDs invalidate
constexpr WorkOpcode kLoadOpcodes[] = {WorkOpcode::RdmaWrite,          WorkOpcode::Send,
                                       WorkOpcode::RdmaRead,           WorkOpcode::FetchAdd,
                                       WorkOpcode::RdmaWriteImmediate, WorkOpcode::CompareSwap,
                                       WorkOpcode::RdmaWrite,          WorkOpcode::SendInvalidate};

struct Load {
  const char* name;
  u32 qps;
  bool tight;    // small buffers everywhere
  bool marked;   // each packet draws a CNP
  bool changes;  // queue pairs change their states
  u32 bad;       // one message of so many ends in error; 0: none
  u32 loss_per_256, messages, largest;
  bool moderated = false;  // completion events
};
constexpr Load kLoads[] = {
    {"small", 6, false, true, false, 0, 0, 80, 200},
    {"large", 6, false, false, false, 0, 6, 24, 9000},
    {"tight", 6, true, true, false, 0, 6, 40, 4000},
    {"states", 6, false, false, true, 0, 0, 80, 3000},
    {"states, tight", 6, true, true, true, 0, 6, 80, 1000},
    {"states, small", 20, false, false, true, 0, 0, 80, 60},
    {"failures", 12, false, false, false, 6, 0, 200, 300},
    {"failures at once", 20, false, false, false, 1, 0, 40, 300},
    {"moderated events", 6, false, false, false, 0, 6, 80, 2000, true},
    {"moderated events, tight", 6, true, false, true, 0, 0, 80, 300, true},
};

PairConfig config_of(const Load& load) {
  PairConfig c;
  c.path_mtu = 512, c.qps = load.qps, c.cqs = 3, c.timeout = 2, c.armed = true;
  c.chip.congestion.cnp_interval = 0;
  if (load.tight) {
    c.chip.packetizer.buffers = 2, c.chip.qp_scheduler.slots = 3, c.chip.qp_scheduler.batch = 2;
    c.chip.responder_execute.parking = 2, c.chip.responder_execute.responses = 2;
    c.chip.responder_execute.outcomes = 3, c.chip.responder_reply.depth = 1;
  }
  return c;
}

void post(Pair::Side& side, const Load& load, u32 seed) {
  engine::Random random(seed);
  TestHost& host = side.host;
  for (u32 i = 0; i < load.messages; ++i) {
    Message m;
    m.opcode = kLoadOpcodes[random.below(std::size(kLoadOpcodes))];
    m.qpn = u32(1 + random.below(load.qps)), m.bytes = u32(random.below(load.largest + 1));
    m.local = random.below(0x100000), m.remote = 0x200000 + random.below(0x100000);
    m.sges = u32(1 + random.below(3)), m.fence = !random.below(6), m.solicited = random.below(2);
    m.immediate = kFastKey;
    if (m.opcode == WorkOpcode::CompareSwap || m.opcode == WorkOpcode::FetchAdd)
      m.bytes = 8, m.sges = 1, m.remote &= ~u64{7};
    if (load.bad && !random.below(load.bad))
      (random.below(2) ? m.local : m.remote) = kMemoryBytes, m.bytes = 64;
    host.plan.push_back(m);
  }
  host.window = 40;
  for (u32 qpn = 1; qpn <= load.qps; ++qpn) host.post_receives(qpn, 30, load.largest + 3, 3);
  auto turns = std::make_shared<std::map<u64, u32>>();
  side.loses = [turns, load](const Packet& p) {
    u64 state = u64{p.qpn} << 40 | u64{p.psn} << 8 | (*turns)[u64{p.qpn} << 24 | p.psn]++ % 256;
    return engine::split_mix(state) % 256 < load.loss_per_256;
  };
  if (load.marked) side.marks = [](const Packet&) { return true; };
}

void ring(Pair::Side& side, BarOffset offset, u64 value) {
  u8 bell[8];
  store_be<8>(bell, value);
  side.chip.doorbell.write(side.host.self.now() + 20, u32(offset), bell);
}

// Arms all CQs and the EQs, and queries the counters of the chip.
void ask(Pair::Side& side, const Load& load, u32 turn) {
  u8 bell[8];
  for (u32 cqn = 1; cqn <= 3; ++cqn) {
    const u32 consumer = side.chip.contexts.cqs[cqn].consumer;
    encode(CqDoorbell{Arm::Next, cqn, consumer}, bell);
    ring(side, BarOffset::CqDoorbell, load_be<8>(bell));
  }
  for (u32 i = 0; i < 8; ++i) {
    const u32 eqn = i % 2;
    encode(EqDoorbell{true, eqn, side.chip.contexts.eqs[eqn].producer}, bell);
    ring(side, BarOffset::EqDoorbell, load_be<8>(bell));
  }
  side.host.command(turn % 8, CommandOpcode::QueryQp, 1 + turn % load.qps, QpAttributes{});
}

void modify(Pair::Side& side, u32 qpn, QpState state) {
  QpAttributes a{};
  a.state = state, a.mask = kQpState, a.sqd_notify = SqdNotify::Drained;
  if (state == QpState::Sqd) a.mask |= kQpSqdNotify;
  side.host.command(8 + qpn, CommandOpcode::ModifyQp, qpn, a);
}

// By turns: three CQEs or 1 us, two CQEs, 1 us, at once.
void moderate(Pair::Side& side, u32 turn) {
  QueueAttributes a{.mask = kCqModeration};
  a.event_count = u16(turn % 2 ? 0 : 3 - turn % 4 / 2), a.event_period = u16(turn % 4 < 2);
  side.host.command(8 + turn % 4, CommandOpcode::ModifyCq, 1 + turn % 3, a);
}

// What a host does by the clock.
std::map<Cycle, std::function<void()>> plan_of(Pair::Side& side, const Load& load) {
  std::map<Cycle, std::function<void()>> plan;
  for (u32 i = 0; i < 40; ++i) plan[500 + 300 * i] = [&side, &load, i] { ask(side, load, i); };
  for (u32 i = 0; load.moderated && i < 16; ++i)
    plan[701 + 700 * i] = [&side, i] { moderate(side, i); };
  if (!load.changes) return plan;
  for (u32 i = 0; i < 6; ++i)
    plan[1100 + 1000 * i] = [&side, i] { modify(side, 1, i % 2 ? QpState::Rts : QpState::Sqd); };
  plan[1501] = [&side] { modify(side, 2, QpState::Error); };
  plan[1701] = [&side] { modify(side, 3, QpState::Reset); };
  plan[2503] = [&side] { modify(side, 4, QpState::Error); };
  plan[4503] = [&side] { modify(side, 4, QpState::Reset); };
  plan[5503] = [&side] { side.host.post_receives(2, 3, 0x4000); };
  return plan;
}

void open_events(device::Contexts& c) {
  u8 block[kCommandBytes] = {};
  encode(CommandHeader{CommandOpcode::CreateEq, {}, false, kAsyncEq}, block);
  encode(QueueAttributes{.address = kEqs + 0x4000, .log_entries = 8}, block + kCommandHeaderBytes);
  execute_command(c, block);
  c.vectors[0] = {kEqs + 0x8000, 0x01020304, false};
  c.eqs[1].armed = c.eqs[kAsyncEq].armed = Arm::Next;
}

u64 hash(const Load& load, const engine::Domain::Options& options) {
  PairConfig config = config_of(load);
  config.domain = options;
  Pair pair(config);
  std::vector<std::unique_ptr<Doer>> doers;
  for (Pair::Side* side : {&pair.a, &pair.b}) {
    open_events(side->chip.contexts);
    auto& regions = side->chip.contexts.regions;
    regions.resize(3), regions[2] = regions[1];
    regions[2].key = kFastKey, regions[2].access |= kFastRegister;
    post(*side, load, side == &pair.a ? 3 : 4);
    if (load.bad) {
      device::EventRing& cq = side->chip.contexts.cqs[3];
      cq.consumer = cq.producer + 4 - cq.entries();  // it overflows with the fifth CQE
    }
    if (load.changes && side == &pair.b)
      for (u32 qpn = 5; qpn <= load.qps; ++qpn) side->chip.contexts.qps[qpn].state = QpState::Rtr;
    doers.push_back(std::make_unique<Doer>(plan_of(*side, load)));
    doers.back()->self = {&side->chip.domain, side->chip.domain.add_last(*doers.back(), "clock")};
    doers.back()->self.wake(1);
  }
  const bool finished = pair.run(0, 400'000);
  INFO(pair.report());
  if (!load.changes && !load.bad) REQUIRE(finished);
  return pair.digest();
}

// All blocks but one are never stalled.
std::string others(const char* slow) {
  std::string names = "clock";
  for (const char* block : kBlocks)
    if (block != std::string(slow)) names += std::string(" ") + block;
  return names;
}
void check(const Load& load, const char* slow, unsigned stall_per_256) {
  const std::string names = others(slow);
  engine::Domain::Options options;
  options.never_stalled = names.c_str(), options.stall_per_256 = stall_per_256;
  CAPTURE(load.name, slow, stall_per_256);
  const u64 asleep = hash(load, options);
  options.mode = engine::Mode::EveryCycle;
  CHECK(hash(load, options) == asleep);
}
// Every second block very slow, the others slow; or the other way round.
void check_blocks(int load, bool first_is_very_slow) {
  for (bool very = first_is_very_slow; const char* slow : kBlocks) {
    check(kLoads[load], slow, very ? 252 : 240);
    very = !very;
  }
}
}  // namespace

TEST_CASE("a chip with a slow block sleeps and does the same", "[chip][wakeup]") {
  const int load = GENERATE(range(0, int(std::size(kLoads))));
  check_blocks(load, load % 2);
  check(kLoads[load], "command", 255);
}

TEST_CASE("a chip with a block that is slow otherwise does the same", "[chip][wakeup][slow]") {
  const int load = GENERATE(range(0, int(std::size(kLoads))));
  check_blocks(load, !(load % 2));
}
