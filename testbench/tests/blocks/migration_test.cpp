// SPDX-License-Identifier: Apache-2.0
// Automatic path migration in the cycle model (G17): traffic of all kinds goes on when the wire of
// one port dies, or when software asks for the other path.
#include <catch2/catch.hpp>
#include <optional>

#include "model/device/execute_command.h"
#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using namespace hca::proto;

namespace {
PairConfig two_paths(u32 qps, u8 ports = 2) {
  PairConfig c;
  c.chip.core.ports = ports, c.chip.transport.apm = true;
  c.qps = qps, c.timeout = 2, c.retry_count = 1;
  return c;
}

QpAttributes change_of(PathMigState state) {
  QpAttributes a{};
  a.state = QpState::Rts, a.path_mig_state = state, a.mask = kQpState | kQpPathMigState;
  return a;
}

// Loads the path between the ports of this number, and sets Rearm. Both have one QPN.
void rearm(Pair::Side& side, u32 qpn, u32 port) {
  device::Contexts& c = side.chip.contexts;
  QpAttributes a = change_of(PathMigState::Rearm);
  PathAttributes path = primary_of(c.given[qpn]);
  const PortAttributes& to = side.peer->chip.contexts.ports[port - 1];
  path.dmac = to.mac;
  path.dgid_low = load_be<8>(to.gids[0].bytes.data() + 8);
  set_alternate(a, path);
  a.alt_port = u8(port), a.alt_timeout = c.given[qpn].timeout;
  a.mask |= kQpAltPath;
  u8 block[kCommandBytes] = {};
  encode(CommandHeader{CommandOpcode::ModifyQp, {}, false, qpn}, block);
  encode(a, block + kCommandHeaderBytes);
  device::execute_command(c, block);
  REQUIRE(decode<CommandHeader>(block).status == CommandStatus::Ok);
}

// Alternating SENDs, WRITEs, READs and FetchAdds on all queue pairs.
void plan_mixed(Pair& pair, u32 qps, u32 count) {
  constexpr std::array kKinds{WorkOpcode::Send, WorkOpcode::RdmaWrite, WorkOpcode::RdmaRead,
                              WorkOpcode::FetchAdd};
  for (u32 i = 0; i < count; ++i) {
    Message m;
    m.opcode = kKinds[i / qps % kKinds.size()];
    m.qpn = 1 + i % qps;
    m.bytes = m.opcode == WorkOpcode::FetchAdd ? 8 : 3000;
    m.local = u64{i} * 0x1000, m.remote = 0xc00000 + u64{i} * 0x1000;  // after the receive buffers
    pair.a.host.plan.push_back(m);
  }
  pair.a.host.window = 8 * qps;
  for (u32 qpn = 1; qpn <= qps; ++qpn) pair.b.host.post_receives(qpn, count / 4 / qps, 3000);
}

bool arrived(Pair& pair) {
  for (const Message& m : pair.a.host.plan) {
    if (m.opcode == WorkOpcode::FetchAdd || m.opcode == WorkOpcode::Send) continue;
    if (std::memcmp(pair.data(pair.a, m.local), pair.data(pair.b, m.remote), m.bytes)) return false;
  }
  return true;
}

void check_migrated(Pair& pair, u32 qpn, u8 port) {
  for (Pair::Side* side : {&pair.a, &pair.b}) {
    CHECK(side->chip.contexts.qps[qpn].port == port);
    CHECK(side->chip.contexts.qps[qpn].path_mig == PathMigState::Migrated);
    CHECK_FALSE(side->chip.contexts.qps[qpn].moves);
    CHECK_FALSE(side->chip.contexts.alternate_of(qpn).loaded);
  }
}
}  // namespace

TEST_CASE("all queue pairs of a port whose wire dies go on through the other one",
          "[chip][ports][migration][G17.2][o9-152]") {
  const u32 after = GENERATE(range(30u, 70u, 8u));
  const u32 qps = GENERATE(1u, 4u);
  INFO("after " << after << " packets, " << qps << " queue pairs");
  Pair pair(two_paths(qps));
  for (u32 qpn = 1; qpn <= qps; ++qpn)
    for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, qpn, qpn % 2 ? 2 : 1);
  plan_mixed(pair, qps, 40 * qps);
  u32 seen = 0;
  const auto dies = [&](const Packet& p) { return p.port == 0 && ++seen > after * qps; };
  pair.a.loses = pair.b.loses = dies;
  finish(pair);
  check_success(pair.a.host.sent, 40 * qps);
  CHECK(arrived(pair));
  check_migrated(pair, 1, 2);
  if (qps > 1) CHECK(pair.b.chip.contexts.qps[2].port == 2);  // its path was good
  CHECK(pair.a.chip.command.counters.migrations == (qps + 1) / 2);
  CHECK(pair.b.chip.command.counters.migrations == (qps + 1) / 2);
}

TEST_CASE("software takes a busy queue pair to the other port, and back",
          "[chip][ports][migration][G17.2]") {
  const Cycle at = GENERATE(range(2'000u, 12'000u, 1'111u));
  INFO("in cycle " << at);
  Pair pair(two_paths(1));
  for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, 1, 2);
  plan_mixed(pair, 1, 200);
  pair.advance(at);
  REQUIRE(pair.a.chip.contexts.qps[1].path_mig == PathMigState::Armed);
  pair.a.host.command(0, CommandOpcode::ModifyQp, 1, change_of(PathMigState::Migrated));
  pair.advance(20'000);
  check_migrated(pair, 1, 2);
  for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, 1, 1);
  finish(pair);
  check_success(pair.a.host.sent, 200);
  CHECK(arrived(pair));
}

TEST_CASE("a migration on one port needs no wait, and loses nothing", "[chip][migration][G17.2]") {
  Pair pair(two_paths(1, 1));
  for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, 1, 1);
  plan_mixed(pair, 1, 40);
  pair.advance(3'000);
  pair.a.host.command(0, CommandOpcode::ModifyQp, 1, change_of(PathMigState::Migrated));
  finish(pair);
  check_success(pair.a.host.sent, 40);
  CHECK(arrived(pair));
  check_migrated(pair, 1, 1);
  CHECK(pair.a.chip.requester.counters.resent == 0);
  CHECK(pair.b.chip.command.counters.waits_migration == 0);
}

// The packets after a lost one are kept, and then the path is another one: by software, or because
// all repetitions of the lost packet are lost too.
TEST_CASE("what selective repeat kept of the old path is sent again on the new one",
          "[chip][ports][migration][selective_repeat]") {
  const bool by_software = GENERATE(false, true);
  const u8 ports = GENERATE(u8{1}, u8{2});
  INFO("by software: " << by_software << ", " << int(ports) << " ports");
  PairConfig config = two_paths(1, ports);
  config.chip.transport.recovery = Recovery::SelectiveRepeat;
  Pair pair(config);
  for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, 1, ports);
  pair.a.host.plan = {{.bytes = 1000}, {.local = 0x1000, .remote = 0xc00000, .bytes = 30'000}};
  u32 seen = 0;
  std::optional<Psn> lost;
  pair.a.loses = [&](const Packet& p) {
    if (pair.a.chip.command.counters.migrations) return false;
    if (++seen == 10) lost = p.psn;
    return lost == p.psn;
  };
  while (!pair.b.chip.ports[0]->receive.counters.rx_kept) pair.advance(100);
  if (by_software)
    pair.a.host.command(0, CommandOpcode::ModifyQp, 1, change_of(PathMigState::Migrated));
  finish(pair);
  check_success(pair.a.host.sent, 2);
  CHECK(arrived(pair));
  check_migrated(pair, 1, ports);
  // Not one for each packet that was kept.
  CHECK(pair.a.chip.requester.counters.timeouts <= 2);
}

TEST_CASE("selective repeat loses nothing when the wire of one port dies, or is bad",
          "[chip][ports][migration][selective_repeat]") {
  const u32 after = GENERATE(range(30u, 70u, 8u));
  INFO("after " << after << " packets");
  PairConfig config = two_paths(2);
  config.retry_count = 7;
  config.chip.transport.recovery = Recovery::SelectiveRepeat;
  config.chip.transport.reorder_window = 16;
  Pair pair(config);
  for (u32 qpn = 1; qpn <= 2; ++qpn)
    for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, qpn, qpn % 2 ? 2 : 1);
  plan_mixed(pair, 2, 80);
  u32 seen = 0;
  pair.a.loses = pair.b.loses = [&](const Packet& p) {
    ++seen;
    return seen % 13 == 5 || (p.port == 0 && seen > 2 * after);
  };
  finish(pair);
  check_success(pair.a.host.sent, 80);
  CHECK(arrived(pair));
  check_migrated(pair, 1, 2);
}

TEST_CASE("the order in which blocks tick changes no migration", "[chip][ports][migration][hash]") {
  const auto digest_of = [](u32 shuffle) {
    PairConfig config = two_paths(4);
    config.domain.shuffle_seed = shuffle;
    Pair pair(config);
    for (u32 qpn = 1; qpn <= 4; ++qpn)
      for (Pair::Side* side : {&pair.a, &pair.b}) rearm(*side, qpn, qpn % 2 ? 2 : 1);
    plan_mixed(pair, 4, 160);
    u32 seen = 0;
    pair.a.loses = pair.b.loses = [&](const Packet& p) { return p.port == 0 && ++seen > 60; };
    finish(pair);
    check_success(pair.a.host.sent, 160);
    return pair.digest();
  };
  const u64 first = digest_of(0);
  for (const u32 shuffle : {1u, 2u, 3u, 4u}) CHECK(digest_of(shuffle) == first);
}
