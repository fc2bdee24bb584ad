// SPDX-License-Identifier: Apache-2.0
// Each command by itself: what it does, and each reason to refuse it. What is refused changes
// nothing. Each goes to the functional runner and through the mailbox of a chip.
#include <catch2/catch.hpp>
#include <cstring>

#include "model/blocks/chip.h"
#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using S = CommandStatus;

namespace {
// A chip alone; its memory is one command block, all else reads as zeros.
struct Mailbox : blocks::Outside {
  bool read_memory(u64 address, std::span<u8> to, u32 count, blocks::Cycle) override {
    std::memset(to.data(), 0, count);
    if (address + count <= sizeof block) std::memcpy(to.data(), block + address, count);
    return true;
  }
  bool write_memory(u64 address, std::span<const u8> from, u32 count, blocks::Cycle) override {
    if (address + count <= sizeof block) std::memcpy(block + address, from.data(), count);
    return true;
  }
  void transmit(blocks::Packet* packet, blocks::Cycle) override {
    blocks::PacketPool::give_back(packet);
  }
  template <class Body>
  CommandHeader run(CommandOpcode opcode, u32 object, const Body& body) {
    std::memset(block, 0, sizeof block);
    encode(CommandHeader{opcode, {}, false, object}, block);
    encode(body, block + kCommandHeaderBytes);
    const u8 bell[8] = {};  // the block's address
    chip.doorbell.write(chip.domain.now() + 1, u32(BarOffset::CommandDoorbell), bell);
    chip.domain.run_until(chip.domain.now() + 1000);
    return decode<CommandHeader>(block);
  }
  static blocks::ChipConfig config() {
    blocks::ChipConfig config;
    config.link_control.mode = blocks::FlowControl::Endless;
    return config;
  }
  u8 block[kCommandBytes] = {};
  blocks::FixedHostTiming timing{60};
  blocks::Chip chip{config(), engine::Domain::Options{}, timing, *this};
};

struct Device : Station {
  Mailbox chip;
  template <class Body>
  S run(CommandOpcode opcode, u32 object, const Body& body) {
    const S status = verbs.status(block = verbs.begin(opcode, object, body));
    const CommandHeader header = chip.run(opcode, object, body);
    CAPTURE(u32(opcode), object);
    CHECK(header.done);
    CHECK(header.status == status);
    return status;
  }
  S run(CommandOpcode opcode, u32 object) { return run(opcode, object, CommandDoorbell{}); }
  template <class Body>
  Body answer() {
    const std::vector<u8> body = bytes(block.block + kCommandHeaderBytes, bytes_of<Body>());
    CHECK(!std::memcmp(body.data(), chip.block + kCommandHeaderBytes, body.size()));
    return decode<Body>(body.data());
  }
  template <class Body>
  Body query(CommandOpcode opcode, u32 object) {
    REQUIRE(run(opcode, object) == S::Ok);
    return answer<Body>();
  }
  u32 uses_of_pd(u32 pd) { return query<PdAttributes>(CommandOpcode::QueryPd, pd).uses; }
  u32 uses_of_cq(u32 cqn) { return query<QueueAttributes>(CommandOpcode::QueryCq, cqn).uses; }
  u32 uses_of_eq(u32 eqn) { return query<QueueAttributes>(CommandOpcode::QueryEq, eqn).uses; }

  testbench::VerbsContext::Command block;
};
constexpr MrAttributes kRegion{0x1000, 64, 0x9000, 1, 0x205, 3};
QpCreate queue_pair() { return {0, true, 1, 1, 2, 0x10000, 0x20000, 4, 5, 7, 6, 0xc0ffee}; }
}  // namespace

TEST_CASE("the device tells its limits", "[commands]") {
  Device d;
  const auto a = d.query<DeviceAttributes>(CommandOpcode::QueryDevice, 0);
  CHECK(a.ports == 1);
  CHECK(a.gid_entries == 8);
  CHECK(a.pkey_entries == 16);
  CHECK(a.max_qps == 65536);
  CHECK(a.max_eqs == 64);
  CHECK(a.max_vectors == 64);
  CHECK(a.credits);
}

TEST_CASE("an opcode without a command is refused", "[commands]") {
  Device d;
  CHECK(d.run(CommandOpcode(0), 1) == S::BadOpcode);
  CHECK(d.run(CommandOpcode(kCommandOpcodes.size() + 1), 1) == S::BadOpcode);
  CHECK(d.run(CommandOpcode(0xff), 1) == S::BadOpcode);
}

TEST_CASE("a PD is freed when nothing is of it", "[commands]") {
  Device d;
  CHECK(d.run(CommandOpcode::AllocPd, 0) == S::BadObject);
  CHECK(d.run(CommandOpcode::AllocPd, 65536) == S::NoResources);
  CHECK(d.run(CommandOpcode::AllocPd, 1) == S::Ok);
  CHECK(d.run(CommandOpcode::AllocPd, 1) == S::BadObject);
  CHECK(d.uses_of_pd(1) == 0);
  REQUIRE(d.run(CommandOpcode::RegisterMr, 0, kRegion) == S::Ok);
  CHECK(d.uses_of_pd(1) == 1);
  CHECK(d.run(CommandOpcode::DeallocPd, 1) == S::Busy);
  CHECK(d.uses_of_pd(1) == 1);
  REQUIRE(d.run(CommandOpcode::DeregisterMr, 0x205) == S::Ok);
  CHECK(d.run(CommandOpcode::DeallocPd, 1) == S::Ok);
  CHECK(d.run(CommandOpcode::DeallocPd, 1) == S::BadObject);
  CHECK(d.run(CommandOpcode::QueryPd, 1) == S::BadObject);
}

TEST_CASE("a region comes back as it was registered", "[commands]") {
  Device d;
  CHECK(d.run(CommandOpcode::RegisterMr, 0, kRegion) == S::BadObject);  // no PD 1
  REQUIRE(d.run(CommandOpcode::AllocPd, 1) == S::Ok);
  const auto with = [](auto change) {
    MrAttributes a = kRegion;
    change(a);
    return a;
  };
  using A = MrAttributes;
  CHECK(d.run(CommandOpcode::RegisterMr, 0, with([](A& a) { a.key = 1u << 28; })) ==
        S::NoResources);  // index 2^20
  CHECK(d.run(CommandOpcode::RegisterMr, 0, with([](A& a) { a.start = ~u64{0} - 62; })) ==
        S::BadValue);
  CHECK(d.run(CommandOpcode::RegisterMr, 0, with([](A& a) { a.physical = ~u64{0} - 62; })) ==
        S::BadValue);
  CHECK(d.run(CommandOpcode::RegisterMr, 0, with([](A& a) { a.access = 128; })) == S::BadValue);
  CHECK(d.run(CommandOpcode::QueryMr, 0x205) == S::BadObject);
  CHECK(d.uses_of_pd(1) == 0);
  REQUIRE(d.run(CommandOpcode::RegisterMr, 0, kRegion) == S::Ok);
  CHECK(d.run(CommandOpcode::RegisterMr, 0, with([](A& a) { a.key = 0x206; })) ==
        S::BadObject);  // the same index
  const auto a = d.query<MrAttributes>(CommandOpcode::QueryMr, 0x205);
  CHECK(a.start == 0x1000);
  CHECK(a.bytes == 64);
  CHECK(a.physical == 0x9000);
  CHECK(a.pd == 1);
  CHECK(a.access == 3);
  CHECK(a.valid);
  CHECK(d.run(CommandOpcode::QueryMr, 0x206) == S::BadObject);
  CHECK(d.run(CommandOpcode::DeregisterMr, 0x206) == S::BadObject);
  CHECK(d.run(CommandOpcode::DeregisterMr, 0x205) == S::Ok);
  CHECK(d.run(CommandOpcode::DeregisterMr, 0x205) == S::BadObject);
}

TEST_CASE("CQs and EQs come back as they were created and go when nothing uses them",
          "[commands]") {
  Device d;
  const QueueAttributes eq{.address = 0x4000, .log_entries = 3, .vector = 5, .context = 7};
  const QueueAttributes cq{.address = 0x8000, .log_entries = 4, .eqn = 2, .context = 6};
  const auto with = [](QueueAttributes a, auto member, auto value) {
    a.*member = value;
    return a;
  };
  using A = QueueAttributes;
  CHECK(d.run(CommandOpcode::CreateEq, 64, eq) == S::NoResources);
  CHECK(d.run(CommandOpcode::CreateEq, 2, with(eq, &A::vector, u16(64))) == S::BadObject);
  CHECK(d.run(CommandOpcode::CreateEq, 2, with(eq, &A::log_entries, u8(23))) == S::BadValue);
  CHECK(d.run(CommandOpcode::CreateEq, 2, with(eq, &A::eqn, 1u)) == S::BadValue);
  CHECK(d.run(CommandOpcode::QueryEq, 2) == S::BadObject);
  CHECK(d.run(CommandOpcode::CreateCq, 9, cq) == S::BadObject);  // no EQ 2
  REQUIRE(d.run(CommandOpcode::CreateEq, 2, eq) == S::Ok);
  CHECK(d.run(CommandOpcode::CreateEq, 2, eq) == S::BadObject);
  CHECK(d.run(CommandOpcode::CreateCq, 0, cq) == S::Ok);  // CQ-23: no number is reserved
  CHECK(d.run(CommandOpcode::DestroyCq, 0) == S::Ok);
  CHECK(d.run(CommandOpcode::CreateCq, 65536, cq) == S::NoResources);
  CHECK(d.run(CommandOpcode::CreateCq, 9, with(cq, &A::log_entries, u8(23))) == S::BadValue);
  CHECK(d.run(CommandOpcode::CreateCq, 9, with(cq, &A::context, u64{5})) == S::BadValue);
  CHECK(d.uses_of_eq(2) == 0);
  REQUIRE(d.run(CommandOpcode::CreateCq, 9, cq) == S::Ok);
  CHECK(d.run(CommandOpcode::CreateCq, 9, cq) == S::BadObject);
  CHECK(d.uses_of_eq(2) == 1);
  CHECK(d.run(CommandOpcode::DestroyEq, 2) == S::Busy);
  const auto e = d.query<A>(CommandOpcode::QueryEq, 2), c = d.query<A>(CommandOpcode::QueryCq, 9);
  CHECK(e.address == 0x4000);
  CHECK(e.log_entries == 3);
  CHECK(e.vector == 5);
  CHECK(e.context == 7);
  CHECK(c.address == 0x8000);
  CHECK(c.log_entries == 4);
  CHECK(c.eqn == 2);
  CHECK(c.context == 6);
  CHECK(c.producer == 0);
  CHECK(d.run(CommandOpcode::DestroyCq, 9) == S::Ok);
  CHECK(d.run(CommandOpcode::DestroyCq, 9) == S::BadObject);
  CHECK(d.run(CommandOpcode::DestroyEq, 2) == S::Ok);
  CHECK(d.run(CommandOpcode::DestroyEq, 2) == S::BadObject);
}

TEST_CASE("doorbells of CQ and EQ can be read back", "[commands][G21.2]") {
  Device d;
  testbench::CompChannel* channel = d.verbs.create_comp_channel(8);
  testbench::Cq* cq = d.verbs.create_cq(4, channel);
  REQUIRE(cq);
  CHECK(d.verbs.query_eq(*channel).armed == Arm::Next);
  CHECK(d.verbs.query_cq(*cq).armed == Arm::None);
  cq->consumer = 3;
  d.verbs.req_notify_cq(*cq, true);
  CHECK(d.verbs.query_cq(*cq).armed == Arm::Solicited);
  CHECK(d.verbs.query_cq(*cq).consumer == 3);
  d.verbs.req_notify_cq(*cq, false);
  CHECK(d.verbs.query_cq(*cq).armed == Arm::Next);
  d.verbs.req_notify_cq(*cq, true);  // is not reduced
  CHECK(d.verbs.query_cq(*cq).armed == Arm::Next);
}

TEST_CASE("a vector is masked at first and comes back as it was set", "[commands]") {
  Device d;
  CHECK(d.query<VectorAttributes>(CommandOpcode::QueryVector, 63).masked);
  CHECK(d.run(CommandOpcode::QueryVector, 64) == S::BadObject);
  CHECK(d.run(CommandOpcode::SetVector, 64, VectorAttributes{0x100, 9, false}) == S::BadObject);
  CHECK(d.run(CommandOpcode::SetVector, 3, VectorAttributes{0x102, 9, false}) == S::BadValue);
  CHECK(d.query<VectorAttributes>(CommandOpcode::QueryVector, 3).masked);
  CHECK(d.run(CommandOpcode::SetVector, 3, VectorAttributes{0x100, 9, false}) == S::Ok);
  const auto v = d.query<VectorAttributes>(CommandOpcode::QueryVector, 3);
  CHECK(v.address == 0x100);
  CHECK(v.data == 9);
  CHECK_FALSE(v.masked);
  CHECK_FALSE(v.pending);
}

TEST_CASE("a port's tables come back", "[commands]") {
  Device d;
  PortAttributes a;
  a.framing = u8(Framing::RoceV2Ip4), a.mac = 0x020000000007, a.lid = 9, a.mtu = 2048;
  for (unsigned i = 0; i < 8; ++i) a.gids[i] = make_gid(0xfe80 + i, 100 * i);
  for (unsigned i = 0; i < 16; ++i) a.pkeys[i] = u16(0x8100 + i);
  CHECK(d.run(CommandOpcode::SetPort, 0, a) == S::BadObject);
  CHECK(d.run(CommandOpcode::SetPort, 2, a) == S::BadObject);
  CHECK(d.run(CommandOpcode::QueryPort, 2) == S::BadObject);
  PortAttributes bad = a;
  bad.framing = 5;
  CHECK(d.run(CommandOpcode::SetPort, 1, bad) == S::BadValue);
  bad = a, bad.mtu = 1500;
  CHECK(d.run(CommandOpcode::SetPort, 1, bad) == S::BadValue);
  CHECK(d.verbs.query_port().mac == 0);
  CHECK(d.verbs.query_port().pkeys[0] == 0xffff);
  REQUIRE(d.run(CommandOpcode::SetPort, 1, a) == S::Ok);
  const PortAttributes b = d.verbs.query_port();
  CHECK(b.mac == 0x020000000007);
  CHECK(b.lid == 9);
  CHECK(b.mtu == 2048);
  CHECK(b.gids == a.gids);
  CHECK(b.pkeys == a.pkeys);
}

TEST_CASE("a queue pair holds its CQs and its PD", "[commands]") {
  Device d;
  const auto with = [](auto member, auto value) {
    QpCreate a = queue_pair();
    a.*member = value;
    return a;
  };
  using A = QpCreate;
  REQUIRE(d.run(CommandOpcode::AllocPd, 1) == S::Ok);
  for (u32 cqn : {1u, 2u})
    REQUIRE(d.run(CommandOpcode::CreateCq, cqn, QueueAttributes{0x1000 * cqn, 4}) == S::Ok);
  const auto create = [&](u32 qpn, const A& a) { return d.run(CommandOpcode::CreateQp, qpn, a); };
  CHECK(create(65536, queue_pair()) == S::NoResources);
  CHECK(create(9, with(&A::pd, 2u)) == S::BadObject);
  CHECK(create(9, with(&A::send_cq, 3u)) == S::BadObject);
  CHECK(create(9, with(&A::receive_cq, 0u)) == S::BadObject);
  CHECK(create(9, with(&A::service, u8(7))) == S::BadValue);
  CHECK(create(9, with(&A::sq_log_entries, u8(16))) == S::BadValue);
  CHECK(create(9, with(&A::rq_log_entries, u8(16))) == S::BadValue);
  CHECK(create(9, with(&A::sq_log_stride, u8(5))) == S::BadValue);
  CHECK(create(9, with(&A::sq_log_stride, u8(10))) == S::BadValue);
  CHECK(create(9, with(&A::rq_log_stride, u8(4))) == S::BadValue);
  CHECK(create(9, with(&A::rq_log_stride, u8(9))) == S::BadValue);
  CHECK(d.run(CommandOpcode::QueryQp, 9) == S::BadObject);
  CHECK(d.uses_of_pd(1) == 0);
  CHECK(d.uses_of_cq(1) == 0);
  REQUIRE(create(9, queue_pair()) == S::Ok);
  CHECK(create(9, queue_pair()) == S::BadObject);
  CHECK(d.uses_of_pd(1) == 1);
  CHECK(d.uses_of_cq(1) == 1);
  CHECK(d.uses_of_cq(2) == 1);
  CHECK(d.run(CommandOpcode::DestroyCq, 1) == S::Busy);
  CHECK(d.run(CommandOpcode::DestroyCq, 2) == S::Busy);
  CHECK(d.run(CommandOpcode::DeallocPd, 1) == S::Busy);
  CHECK(d.query<QpAttributes>(CommandOpcode::QueryQp, 9).state == QpState::Reset);
  CHECK(d.run(CommandOpcode::ModifyQp, 10, QpAttributes{}) == S::BadObject);
  CHECK(d.run(CommandOpcode::DestroyQp, 10) == S::BadObject);
  CHECK(d.run(CommandOpcode::DestroyQp, 9) == S::Ok);
  CHECK(d.run(CommandOpcode::DestroyQp, 9) == S::BadObject);
  for (u32 cqn : {1u, 2u}) CHECK(d.run(CommandOpcode::DestroyCq, cqn) == S::Ok);
  CHECK(d.run(CommandOpcode::DeallocPd, 1) == S::Ok);
}
}  // namespace hca::functional
