// SPDX-License-Identifier: Apache-2.0
// A device with two ports.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

using namespace hca;
using namespace hca::functional;
using proto::RequestCause;
using proto::WorkOpcode;

namespace {
PairOptions on_port(u8 port) {
  PairOptions options;
  options.ports = 2, options.port = port;
  return options;
}
u64 requests(const FunctionalHca& hca, u32 port, RequestCause cause) {
  return hca.port_counters(port).requests[std::size_t(cause)];
}
}  // namespace

TEST_CASE("a queue pair sends and receives through its own port", "[ports]") {
  const u8 own = GENERATE(u8(1), u8(2));
  const u32 other = 3u - own;
  Pair pair(on_port(own));
  CHECK(pair.post(WorkOpcode::RdmaWrite, 7, {pair.from_a(0, 600)}) == testbench::Error::None);
  CHECK(pair.a.sent_through == own);
  pair.carry();
  CHECK(pair.b.sent_through == own);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{7, proto::WcStatus::Success}});
  CHECK(pair.a.hca.port_counters(own).sent == 3);  // 600 bytes at 256
  CHECK(pair.b.hca.port_counters(own).received == 3);
  CHECK(requests(pair.b.hca, own, RequestCause::Good) == 3);
  CHECK(pair.a.hca.port_counters(other).sent == 0);
  CHECK(pair.b.hca.port_counters(other).received == 0);
}

TEST_CASE("a packet that comes through another port than its queue pair's changes a counter alone",
          "[ports][DROP-1][T12-7]") {
  Pair pair(on_port(2));
  pair.post(WorkOpcode::RdmaWrite, 7, {pair.from_a(0, 64)});
  std::vector<u8> frame = pair.a.sent.front();
  frame[5] = u8(Pair::mac(2, 1));  // the Ethernet destination is port 1's: no earlier check sees it
  const auto before = pair.b.verbs.query_qp(*pair.b.qp);
  pair.b.hca.receive(frame, 1);
  CHECK(pair.b.hca.drops(1).wrong_port == 1);
  CHECK(pair.b.hca.drops(2).wrong_port == 0);
  CHECK(requests(pair.b.hca, 1, RequestCause::Good) == 0);
  CHECK(pair.b.sent.empty());
  const auto after = pair.b.verbs.query_qp(*pair.b.qp);
  CHECK(after.rq_psn == before.rq_psn);
  CHECK(after.msn == before.msn);
  CHECK(after.state == before.state);
  CHECK(pair.b.bytes(Pair::kBuffer, 64) == std::vector<u8>(64));
  // The same bytes through its own port are a good request.
  pair.b.hca.receive(pair.a.sent.front(), 2);
  CHECK(requests(pair.b.hca, 2, RequestCause::Good) == 1);

  // A response that goes astray is no answer (DROP-9, DROP-10).
  std::vector<u8> ack = pair.b.sent.front();
  ack[5] = u8(Pair::mac(1, 1));
  pair.a.hca.receive(ack, 1);
  CHECK(pair.a.hca.drops(1).wrong_port == 1);
  CHECK(pair.a.poll(pair.a.send_cq).empty());
  pair.a.hca.receive(pair.b.sent.front(), 2);
  CHECK(pair.a.poll(pair.a.send_cq).size() == 1);
}

TEST_CASE("each port has tables of its own, and there is no third", "[ports][commands]") {
  Pair pair(on_port(1));
  testbench::VerbsContext& verbs = pair.a.verbs;
  proto::PortAttributes second = Pair::attributes(9, 2);
  second.gids[3] = proto::make_gid(1, 2), second.pkeys[5] = 0x8123, second.lid = 77;
  CHECK(verbs.set_port(second, 2) == testbench::Error::None);
  const proto::PortAttributes one = verbs.query_port(1), two = verbs.query_port(2);
  CHECK(two.mac == Pair::mac(9, 2));
  CHECK(two.gids[3].bytes == second.gids[3].bytes);
  CHECK(two.pkeys[5] == 0x8123);
  CHECK(two.lid == 77);
  CHECK(one.mac == Pair::mac(1, 1));
  CHECK(one.gids[3].bytes == proto::Gid{}.bytes);
  CHECK(one.pkeys[5] == 0);
  CHECK(verbs.set_port(second, 3) != testbench::Error::None);
  CHECK(verbs.set_port(second, 0) != testbench::Error::None);
}

TEST_CASE("a queue pair takes P_Key and addresses from the tables of its port",
          "[ports][C9-43][VAL-6]") {
  PairOptions options = on_port(2);
  Pair pair(options);
  proto::PortAttributes one = Pair::attributes(2, 1);
  one.pkeys[0] = 0x8001;  // of the port that is not used
  CHECK(pair.b.verbs.set_port(one, 1) == testbench::Error::None);
  pair.post(WorkOpcode::RdmaWrite, 7, {pair.from_a(0, 64)});
  pair.carry();
  CHECK(requests(pair.b.hca, 2, RequestCause::Good) == 1);
  CHECK(parsed(pair.log_a[0]).bth.pkey == 0xffff);
}

// Packets are under way beyond the port in SQD.
TEST_CASE("a queue pair changes its port in Init, not in SQD",
          "[ports][commands][T13-SQD/transitions]") {
  using namespace proto;
  Pair pair(on_port(1));
  testbench::VerbsContext& verbs = pair.a.verbs;
  QpAttributes a{};
  a.state = QpState::Sqd, a.mask = kQpState;
  CHECK(verbs.modify_qp(*pair.a.qp, a) == testbench::Error::None);
  a.mask = kQpState | kQpPort, a.port = 2;
  CHECK(verbs.modify_qp(*pair.a.qp, a) != testbench::Error::None);
  CHECK(verbs.last_status() == CommandStatus::BadValue);
  CHECK(verbs.query_qp(*pair.a.qp).port == 1);
  a.port = 1;
  CHECK(verbs.modify_qp(*pair.a.qp, a) == testbench::Error::None);

  a.state = QpState::Reset, a.mask = kQpState;
  CHECK(verbs.modify_qp(*pair.a.qp, a) == testbench::Error::None);
  a.state = QpState::Init, a.mask = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
  CHECK(verbs.modify_qp(*pair.a.qp, a) == testbench::Error::None);
  a.mask = kQpState | kQpPort, a.port = 2;
  CHECK(verbs.modify_qp(*pair.a.qp, a) == testbench::Error::None);
  CHECK(verbs.query_qp(*pair.a.qp).port == 2);
  a.port = 3;
  CHECK(verbs.modify_qp(*pair.a.qp, a) != testbench::Error::None);
}
