// SPDX-License-Identifier: Apache-2.0
// A port that goes Down, or changes its addresses, while packets are under way (T15-PORT_ACTIVE).
#include <catch2/catch.hpp>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/both_models/loop.h"

namespace hca::testbench {
using namespace proto;

namespace {
using Events = std::vector<EventType>;

void set_state(Loop& loop, PortState state) {
  PortAttributes port = loop.verbs.query_port();
  port.state = state;
  REQUIRE(loop.verbs.set_port(port) == Error::None);
  CHECK(loop.events() ==
        Events{state == PortState::Down ? EventType::PortErr : EventType::PortActive});
}
void set_mac(Loop& loop, u64 mac) {
  PortAttributes port = loop.verbs.query_port();
  port.mac = mac;
  REQUIRE(loop.verbs.set_port(port) == Error::None);
  CHECK(loop.events().empty());
}
void set_cable(Loop& loop, bool is_broken) {
  loop.device->change_cable(is_broken, 1);
  loop.device->run();
}
// Of a WRITE of 600 bytes at 256.
constexpr std::size_t kPackets = 3;
constexpr u8 kRetries = 2;
}  // namespace

TEST_CASE("RC: a port that is Down loses what is under way, and retries bring it when it is back",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const u8 late = u8(GENERATE(0u, 1u, 2u));  // timeouts before it is Active again
  CAPTURE(late);
  const Loop::Ends ends = loop.connect({.retry_count = kRetries});
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  REQUIRE(under_way.size() == kPackets);
  set_state(loop, PortState::Down);
  loop.give(under_way);
  CHECK(loop.take().empty());
  CHECK(loop.drops().port_down == kPackets);
  CHECK(loop.bytes(Loop::kBytes / 2, 600) == std::vector<u8>(600));
  CHECK(loop.post(ends, 2, 40, Loop::kBytes / 2 + 1024) == Error::None);
  for (u8 i = 0; i < late; ++i) {
    loop.device->advance_to_next_timer();
    CHECK(loop.take().empty());
  }
  CHECK(loop.poll(loop.send_cq).empty());
  set_state(loop, PortState::Active);
  if (late < kRetries) {
    loop.device->advance_to_next_timer();
    loop.carry();
    CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
    CHECK(loop.arrived(600));
    CHECK(loop.arrived(40, Loop::kBytes / 2 + 1024));
    CHECK(loop.verbs.query_qp(*ends.from).state == QpState::Rts);
    return;
  }
  // The last retry went into a port that was Down: nothing is left of it.
  loop.device->advance_to_next_timer();
  loop.carry();
  CHECK(loop.poll(loop.send_cq) ==
        Loop::Results{{1, WcStatus::RetryExcErr}, {2, WcStatus::WrFlushErr}});
  CHECK(loop.verbs.query_qp(*ends.from).state == QpState::Error);
  CHECK(loop.verbs.query_qp(*ends.to).state == QpState::Rts);
  CHECK(loop.bytes(Loop::kBytes / 2, 600) == std::vector<u8>(600));
}

TEST_CASE(
    "RC: an ACK that is under way when the port goes Down is lost, and the retry is a duplicate",
    "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect();
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  loop.give(loop.take());
  const std::vector<Frame> acks = loop.take();
  REQUIRE(!acks.empty());
  set_state(loop, PortState::Down);
  loop.give(acks);
  CHECK(loop.take().empty());
  CHECK(loop.drops().port_down == acks.size());
  CHECK(loop.poll(loop.send_cq).empty());
  const u32 msn = loop.verbs.query_qp(*ends.to).msn;
  set_state(loop, PortState::Active);
  loop.device->advance_to_next_timer();
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.verbs.query_qp(*ends.to).msn == msn);
}

TEST_CASE("UC and UD: a port that is Down loses messages whole, which their senders do not learn",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Service service = GENERATE(Service::Uc, Service::Ud);
  const bool ud = service == Service::Ud;
  const u32 bytes = ud ? 200 : 600, grh = ud ? 40 : 0;
  CAPTURE(u32(service));
  const Loop::Ends ends = loop.connect({.service = service});
  if (ud) REQUIRE(loop.post_receive(ends, 9, bytes + grh) == Error::None);
  REQUIRE(loop.post(ends, 1, bytes) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  set_state(loop, PortState::Down);
  loop.give(under_way);
  CHECK(loop.take().empty());
  CHECK(loop.drops().port_down == (ud ? 1 : kPackets));
  REQUIRE(loop.post(ends, 2, bytes) == Error::None);
  CHECK(loop.take().empty());
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
  CHECK(loop.poll(loop.recv_cq).empty());
  CHECK(loop.bytes(Loop::kBytes / 2, bytes + grh) == std::vector<u8>(bytes + grh));
  set_state(loop, PortState::Active);
  REQUIRE(loop.post(ends, 3, bytes) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{3, WcStatus::Success}});
  CHECK(loop.arrived(bytes, Loop::kBytes / 2 + grh));
  if (ud) CHECK(loop.poll(loop.recv_cq) == Loop::Results{{9, WcStatus::Success}});
}

TEST_CASE("UC: the rest of a message whose beginning was lost is dropped, and the next one arrives",
          "[both models][T15-PORT_ACTIVE][G14.2]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.service = Service::Uc});
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  REQUIRE(under_way.size() == kPackets);
  set_state(loop, PortState::Down);
  loop.give({under_way[0]});
  loop.take();
  set_state(loop, PortState::Active);
  loop.give({under_way[1], under_way[2]});
  loop.take();
  CHECK(loop.drops().port_down == 1);
  CHECK(loop.bytes(Loop::kBytes / 2, 600) == std::vector<u8>(600));
  REQUIRE(loop.post(ends, 2, 600) == Error::None);
  loop.carry();
  CHECK(loop.arrived(600));
}

// C9-53: the queue pairs of the port keep the path that they were given.
TEST_CASE("packets to an address that a port has no more are counted as not for it",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const bool comes_back = GENERATE(true, false);
  CAPTURE(comes_back);
  const Loop::Ends ends = loop.connect({.retry_count = kRetries});
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  set_mac(loop, Loop::kMac + 1);
  loop.give(under_way);
  CHECK(loop.take().empty());
  CHECK(loop.drops().not_for_port == kPackets);
  CHECK(loop.bytes(Loop::kBytes / 2, 600) == std::vector<u8>(600));
  loop.device->advance_to_next_timer();
  loop.carry();
  CHECK(loop.drops().not_for_port == 2 * kPackets);
  if (comes_back) {
    set_mac(loop, Loop::kMac);
    loop.device->advance_to_next_timer();
    loop.carry();
    CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
    CHECK(loop.arrived(600));
    return;
  }
  for (u8 i = 0; i < kRetries; ++i) loop.device->advance_to_next_timer(), loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::RetryExcErr}});
  CHECK(loop.drops().not_for_port == (1 + kRetries) * kPackets);
}

TEST_CASE("a GID that changes leaves connections as they are; a datagram takes the new one",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends rc = loop.connect(), ud = loop.connect({.service = Service::Ud});
  REQUIRE(loop.post(rc, 1, 600) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  PortAttributes port = loop.verbs.query_port();
  port.gids[0] = gid_of_ipv4(Loop::kIp + 1);
  REQUIRE(loop.verbs.set_port(port) == Error::None);
  CHECK(loop.events() == Events{EventType::GidChange});
  loop.give(under_way);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.arrived(600));
  const auto source = [&](const Loop::Ends& ends) {
    REQUIRE(loop.post(ends, 2, 64) == Error::None);
    const std::vector<Frame> frames = loop.take();
    REQUIRE(frames.size() == 1);
    return load_be<4>(frames[0].data() + 14 + 12);  // after Ethernet, in the IPv4 header
  };
  CHECK(source(ud) == Loop::kIp + 1);
  CHECK(source(rc) == Loop::kIp);
}

// T15, T13: a cable that breaks takes the port Down, and what is in it is lost.
TEST_CASE("RC: a cable that breaks loses what is under way, and retries bring it when it is mended",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.retry_count = kRetries});
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  set_cable(loop, true);
  CHECK(loop.events() == Events{EventType::PortErr});
  CHECK(loop.verbs.query_port().state == PortState::Down);
  loop.give(under_way);
  CHECK(loop.take().empty());
  CHECK(loop.drops().port_down == kPackets);
  loop.device->advance_to_next_timer();
  CHECK(loop.take().empty());
  CHECK(loop.bytes(Loop::kBytes / 2, 600) == std::vector<u8>(600));
  set_cable(loop, false);
  CHECK(loop.events() == Events{EventType::PortActive});
  CHECK(loop.verbs.query_port().state == PortState::Active);
  loop.device->advance_to_next_timer();
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.arrived(600));
}

// The state that software asked for holds when the cable is whole; without a change no event.
TEST_CASE("a port with a broken cable is Down, whatever SetPort asks for",
          "[both models][T15-PORT_ACTIVE]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const PortState first = GENERATE(PortState::Active, PortState::Down);
  const PortState then = GENERATE(PortState::AsItIs, PortState::Active, PortState::Down);
  CAPTURE(int(first), int(then));
  const auto ask = [&](PortState state) {
    PortAttributes port = loop.verbs.query_port();
    port.state = state;
    REQUIRE(loop.verbs.set_port(port) == Error::None);
  };
  ask(first);
  loop.events();
  set_cable(loop, true), set_cable(loop, true);
  CHECK(loop.events() == (first == PortState::Active ? Events{EventType::PortErr} : Events{}));
  ask(then);
  CHECK(loop.events().empty());
  CHECK(loop.verbs.query_port().state == PortState::Down);
  set_cable(loop, false), set_cable(loop, false);
  const PortState wanted = then == PortState::AsItIs ? first : then;
  CHECK(loop.verbs.query_port().state == wanted);
  CHECK(loop.events() == (wanted == PortState::Active ? Events{EventType::PortActive} : Events{}));
}

// C9-53 for native InfiniBand: DLID in LRH.
TEST_CASE("packets to a LID that a port has no more are counted as not for it",
          "[both models][T15-PORT_ACTIVE]") {
  constexpr u16 kLid = 0x17, kOther = 0x18;
  const ReplayRunner& runner = replay_runners()[GENERATE(0u, 1u)];
  const bool comes_back = GENERATE(true, false);
  CAPTURE(runner.name, comes_back);
  Loop loop(runner, Framing::IbLocal);
  const auto set_lid = [&](u16 lid) {
    PortAttributes port = loop.verbs.query_port();
    port.lid = lid;
    REQUIRE(loop.verbs.set_port(port) == Error::None);
    CHECK(loop.events() == Events{EventType::LidChange});
  };
  set_lid(kLid);
  const Loop::Ends ends = loop.connect({.retry_count = kRetries, .dlid = kLid});
  REQUIRE(loop.post(ends, 1, 600) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.arrived(600));
  REQUIRE(loop.post(ends, 2, 300, Loop::kBytes / 2 + 1024) == Error::None);
  const std::vector<Frame> under_way = loop.take();
  REQUIRE(under_way.size() == 2);
  set_lid(kOther);
  loop.give(under_way);
  CHECK(loop.take().empty());
  CHECK(loop.drops().not_for_port == 2);
  loop.device->advance_to_next_timer();
  loop.carry();  // the path of the queue pair is what it was
  CHECK(loop.drops().not_for_port == 4);
  if (comes_back) set_lid(kLid);
  for (u8 i = 0; i < (comes_back ? 1 : kRetries); ++i)
    loop.device->advance_to_next_timer(), loop.carry();
  CHECK(loop.poll(loop.send_cq) ==
        Loop::Results{{2, comes_back ? WcStatus::Success : WcStatus::RetryExcErr}});
  CHECK(loop.arrived(300, Loop::kBytes / 2 + 1024) == comes_back);
}
}  // namespace hca::testbench
