// SPDX-License-Identifier: Apache-2.0
// The entry of the P_Key table goes while a READ is answered: nothing leaves without a partition,
// and the connection goes on when there is one again. Tried in each moment of the answer's way.
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

namespace hca::test {
namespace {
constexpr u32 kBytes = 20 * 1024;

// What SetPort of port 1 then has as its first entry; the second is a partition, as a table needs
// one.
void set_entry(Pair& pair, u16 pkey, u32 slot) {
  proto::PortAttributes port = pair.b.chip.contexts.ports[0];
  port.pkeys = {pkey, 0xffff};
  pair.b.host.command(slot, proto::CommandOpcode::SetPort, 1, port);
}
u16 pkey_of(const blocks::Packet& p) {
  return proto::decode<proto::Bth>(p.frame() + p.shape.transport_offset).pkey;
}

// How many packets the peer had sent when the entry came back; 0 is none.
std::size_t take_entry_away(engine::Cycle at) {
  PairConfig config;
  config.timeout = 3;
  Pair pair{config};
  std::vector<u16> sent;
  pair.b.loses = [&](const blocks::Packet& p) { return sent.push_back(pkey_of(p)), false; };
  pair.a.host.plan = {{.opcode = proto::WorkOpcode::RdmaRead, .remote = 4096, .bytes = kBytes}};
  pair.a.host.start(1), pair.b.host.start(1);
  pair.advance(at);
  set_entry(pair, 0, 0);
  pair.advance(3000);  // more than the READ takes
  const std::size_t before = sent.size();
  set_entry(pair, 0xffff, 1);
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(std::memcmp(pair.data(pair.a, 0), pair.data(pair.b, 4096), kBytes) == 0);
  for (const u16 pkey : sent) CHECK(proto::pkey_is_valid(pkey));
  CHECK(pair.b.chip.contexts.qps[1].state == proto::QpState::Rts);
  return before;
}
}  // namespace

TEST_CASE(
    "a response leaves with a partition or not at all, and a READ cut short is answered later",
    "[chip][moments][PKEY-11][PKEY-13][G18.3]") {
  const u32 packets = kBytes / 1024;
  bool none = false, some = false, all = false;
  for (engine::Cycle at = 200; at < 2200; at += 8) {
    INFO("SetPort in cycle " << at);
    const std::size_t before = take_entry_away(at);
    none |= before == 0, some |= before > 0 && before < packets, all |= before == packets;
  }
  CHECK(none);
  CHECK(some);
  CHECK(all);
}
}  // namespace hca::test
