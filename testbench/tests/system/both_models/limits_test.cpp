// SPDX-License-Identifier: Apache-2.0
// What runs out is refused at once, with the right error, and what exists goes on.
#include <catch2/catch.hpp>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/both_models/loop.h"

namespace hca::testbench {
using namespace proto;

namespace {
// Two tries more are refused alike.
template <class Make>
u32 exhaust(Loop& loop, const Make& make) {
  u32 made = 0;
  while (make()) ++made;
  CHECK(loop.verbs.last_status() == CommandStatus::NoResources);
  CHECK_FALSE(make());
  CHECK(loop.verbs.last_status() == CommandStatus::NoResources);
  return made;
}
void write_works(Loop& loop, const Loop::Ends& ends) {
  REQUIRE(loop.post(ends, 77, 600) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{77, WcStatus::Success}});
  CHECK(loop.arrived(600));
}
}  // namespace

TEST_CASE("event queues, shared receive queues and key indices that run out are refused",
          "[both models]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect();
  const DeviceAttributes limits = loop.verbs.query_device();
  // EQ 0 has the asynchronous events.
  CHECK(exhaust(loop, [&] { return loop.verbs.create_comp_channel(4); }) == limits.max_eqs - 1);
  SrqInitAttr small;
  small.max_wr = 1;
  CHECK(exhaust(loop, [&] { return loop.verbs.create_srq(small); }) == limits.max_srqs - 1);
  u32 index = limits.max_regions - 5;
  CHECK(exhaust(loop, [&] {
          return loop.verbs.alloc_mw(KeyKind::Window2B, make_key(index++, 9)).rkey != 0;
        }) == 5);
  write_works(loop, ends);
}

TEST_CASE("members of multicast groups that run out are refused, and one that leaves makes room",
          "[both models][C9-59]") {
  constexpr u32 kMembers = 1024;
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.service = Service::Ud});
  const auto attach = [&](u32 group, CommandOpcode opcode = CommandOpcode::AttachMulticast) {
    return loop.command(opcode, ends.to->qpn,
                        MulticastAttributes{0, u64{0xff15} << 48, u64{1} << 32 | group});
  };
  u32 group = 0;
  while (attach(group) == CommandStatus::Ok) ++group;
  CHECK(group == kMembers);
  CHECK(attach(group) == CommandStatus::NoResources);
  CHECK(attach(0) == CommandStatus::BadState);  // it is there still
  CHECK(attach(17, CommandOpcode::DetachMulticast) == CommandStatus::Ok);
  CHECK(attach(group) == CommandStatus::Ok);
  CHECK(attach(group + 1) == CommandStatus::NoResources);
}

// 512 bytes are the longest send WQE. Behind 32 bytes of control segment, and of UD 48 of an
// address handle, SGEs of 16 bytes or inline data. A receive WQE has 256 bytes, 16 of them in front
// of SGEs.
TEST_CASE("SGEs, inline bytes and entries beyond those of the device are refused",
          "[both models]") {
  const ReplayRunner& runner = replay_runners()[GENERATE(0u, 1u)];
  const Service service = GENERATE(Service::Rc, Service::Ud);
  const u32 room = service == Service::Ud ? 512 - 32 - 48 : 512 - 32;
  Loop loop(runner);
  const LoopOptions options{.service = service};
  const auto made = [&](auto change) {
    QpInitAttr init = loop.init_of(options);
    change(init);
    if (loop.verbs.create_qp(init)) return true;
    CHECK(loop.verbs.last_status() == CommandStatus::BadValue);
    return false;
  };
  for (const u32 more : {0u, 1u}) {
    CHECK(made([&](auto& a) { a.max_send_sge = room / 16 + more; }) == !more);
    CHECK(made([&](auto& a) { a.max_inline_data = room + more; }) == !more);
    CHECK(made([&](auto& a) { a.max_recv_sge = (256 - 16) / 16 + more; }) == !more);
    CHECK(made([&](auto& a) { a.max_send_wr = (1u << 15) + more; }) == !more);
    CHECK(made([&](auto& a) { a.max_recv_wr = (1u << 15) + more; }) == !more);
  }
  CHECK(loop.verbs.create_cq(1u << 21));  // twice as many entries
  CHECK_FALSE(loop.verbs.create_cq((1u << 21) + 1));
  CHECK(loop.verbs.last_status() == CommandStatus::BadValue);
}

TEST_CASE("the longest WQEs: all their inline bytes are written, all their SGEs filled by a READ",
          "[both models]") {
  constexpr u32 kInlineBytes = 480, kSges = 30, kEach = 20;
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.sges = 15, .inline_bytes = kInlineBytes});
  const bool push = GENERATE(false, true);  // it is too long for that, and is fetched
  const SgeList all = loop.sge(0, kInlineBytes);
  SendWr wr = loop.wr_of(ends, 1, all, Loop::kBytes / 2);
  wr.send_flags |= kInline, wr.push = push;
  CHECK(loop.verbs.post_send(*ends.from, wr) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.arrived(kInlineBytes));

  const Loop::Ends wide = loop.connect({.sges = kSges, .receive_sges = 1});
  std::vector<SgeList> into;
  for (u64 i = 0; i < kSges; ++i)
    into.push_back(loop.sge(Loop::kBytes / 2 + 1024 + i * kEach, kEach));
  wr = loop.wr_of(wide, 2, all, 0);
  wr.opcode = WorkOpcode::RdmaRead, wr.sg_list = into;
  CHECK(loop.verbs.post_send(*wide.from, wr) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{2, WcStatus::Success}});
  CHECK(loop.arrived(kSges * kEach, Loop::kBytes / 2 + 1024));
}

TEST_CASE("a full send queue takes those in front of the first that does not fit",
          "[both models]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.entries = 16});
  const SgeList from = loop.sge(0, 300);
  std::vector<SendWr> list;
  for (u64 id = 0; id < 20; ++id) list.push_back(loop.wr_of(ends, id, from, Loop::kBytes / 2));
  std::size_t bad = 0;
  CHECK(loop.verbs.post_send(*ends.from, list, &bad) == Error::NoMemory);
  CHECK(bad == 16);
  CHECK(loop.verbs.post_send(*ends.from, list[16]) == Error::NoMemory);
  loop.carry();
  Loop::Results wanted;
  for (u64 id = 0; id < 16; ++id) wanted.emplace_back(id, WcStatus::Success);
  CHECK(loop.poll(loop.send_cq) == wanted);
  CHECK(loop.arrived(300));
  CHECK(loop.verbs.post_send(*ends.from, std::span(list).subspan(16), &bad) == Error::None);
  CHECK(bad == 4);
  loop.carry();
  CHECK(loop.poll(loop.send_cq).size() == 4);
}

TEST_CASE(
    "a full receive queue, own or shared, takes those in front of the first that does not fit",
    "[both models]") {
  const ReplayRunner& runner = replay_runners()[GENERATE(0u, 1u)];
  const bool shared = GENERATE(false, true);
  CAPTURE(runner.name, shared);
  Loop loop(runner);
  SrqInitAttr of_eight;
  of_eight.max_wr = 8;
  Srq* const srq = shared ? loop.verbs.create_srq(of_eight) : nullptr;
  const Loop::Ends ends = loop.connect({.service = Service::Ud, .entries = 8, .srq = srq});
  const SgeList into = loop.sge(Loop::kBytes / 2, 340);
  std::vector<RecvWr> list;
  for (u64 id = 0; id < 11; ++id) list.push_back({id, {&into, 1}});
  std::size_t bad = 0;
  const auto post = [&] {
    return srq ? loop.verbs.post_srq_recv(*srq, list, &bad)
               : loop.verbs.post_recv(*ends.to, list, &bad);
  };
  CHECK(post() == Error::NoMemory);
  CHECK(bad == 8);
  CHECK(post() == Error::NoMemory);
  CHECK(bad == 0);
  for (u64 id = 0; id < 9; ++id) {  // one more than there are receive WQEs
    CHECK(loop.post(ends, id, 256) == Error::None);
    loop.carry();
    CHECK(loop.poll(loop.send_cq).size() == 1);
  }
  Loop::Results wanted;
  for (u64 id = 0; id < 8; ++id) wanted.emplace_back(id, WcStatus::Success);
  CHECK(loop.poll(loop.recv_cq) == wanted);
  CHECK(loop.drops().no_receive_wqe == 1);
  CHECK(post() == Error::NoMemory);
  CHECK(bad == 8);
}

TEST_CASE("SGEs and inline bytes beyond those of the queue pair are refused, as many as it has go",
          "[both models]") {
  Loop loop(replay_runners()[GENERATE(0u, 1u)]);
  const Loop::Ends ends = loop.connect({.sges = 4, .inline_bytes = 64});
  std::vector<SgeList> sges;
  for (u64 i = 0; i < 5; ++i) sges.push_back(loop.sge(20 * i, 20));
  SendWr wr = loop.wr_of(ends, 1, sges[0], Loop::kBytes / 2);
  wr.sg_list = sges;
  CHECK(loop.verbs.post_send(*ends.from, wr) == Error::Invalid);
  wr.sg_list = std::span(sges).first(4);
  CHECK(loop.verbs.post_send(*ends.from, wr) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{1, WcStatus::Success}});
  CHECK(loop.arrived(80));

  const SgeList fits = loop.sge(0, 64), too_long = loop.sge(0, 65);
  wr = loop.wr_of(ends, 2, too_long, Loop::kBytes / 2 + 128), wr.send_flags |= kInline;
  CHECK(loop.verbs.post_send(*ends.from, wr) == Error::NoMemory);
  wr.sg_list = {&fits, 1};
  CHECK(loop.verbs.post_send(*ends.from, wr) == Error::None);
  loop.carry();
  CHECK(loop.poll(loop.send_cq) == Loop::Results{{2, WcStatus::Success}});
  CHECK(loop.arrived(64, Loop::kBytes / 2 + 128));

  CHECK(loop.verbs.post_recv(*ends.to, RecvWr{3, sges}) == Error::Invalid);
  CHECK(loop.verbs.post_recv(*ends.to, RecvWr{3, std::span(sges).first(4)}) == Error::None);
}
}  // namespace hca::testbench
