// SPDX-License-Identifier: Apache-2.0
// Objects that run out, and a CQ that changes its size.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::Error;

namespace {
// Makes objects until there are no more. Returns how many were made.
template <class Make>
u32 exhaust(Station& s, const Make& make) {
  u32 made = 0;
  while (make()) ++made;
  CHECK(s.verbs.last_status() == CommandStatus::NoResources);
  CHECK_FALSE(make());
  CHECK(s.verbs.last_status() == CommandStatus::NoResources);
  return made;
}
void write_works(Pair& pair, u64 wr_id) {
  REQUIRE(pair.post(WorkOpcode::RdmaWrite, wr_id, {pair.from_a(0, 600)}) == Error::None);
  pair.carry();
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(done.size() == 1);
  CHECK(done[0].wr_id == wr_id);
  CHECK(done[0].status == WcStatus::Success);
}
}  // namespace

TEST_CASE(
    "CQs, PDs, regions, windows and queue pairs that run out are refused, what exists goes on",
    "[functional]") {
  Pair pair;
  Station& s = pair.a;
  const DeviceAttributes limits = s.verbs.query_device();
  write_works(pair, 1);
  // The pair has two CQs, numbered from 1 on, and the first PD and region; its queue pair is 0x11.
  CHECK(exhaust(s, [&] { return s.verbs.create_cq(2); }) == limits.max_cqs - 3);
  CHECK(exhaust(s, [&] { return s.verbs.alloc_pd(); }) == limits.max_pds - 2);
  testbench::QpInitAttr one;
  one.send_cq = one.recv_cq = s.send_cq, one.max_send_wr = one.max_recv_wr = 1;
  u32 qpn = 0x20;
  CHECK(exhaust(s, [&] { return s.verbs.create_qp(one, qpn++); }) == limits.max_qps - 0x20);
  bool window = false;
  const u32 keys = exhaust(s, [&] {
    window = !window;
    return window ? s.verbs.alloc_mw(KeyKind::Window1).rkey != 0 : s.verbs.alloc_mr().lkey != 0;
  });
  CHECK(keys == limits.max_regions - 2);
  write_works(pair, 2);
}

TEST_CASE("CQEs not taken move to the new ring of their CQ, and come once each in their order",
          "[functional][CQ-20]") {
  const u32 before = GENERATE(0, 1, 5, 8), entries = GENERATE(4, 8, 32);
  CAPTURE(before, entries);
  Pair pair;
  testbench::Cq& cq = *pair.a.send_cq;
  u64 posted = 0, taken = 0;
  const auto post = [&](u32 count) {
    for (u32 i = 0; i < count; ++i)
      REQUIRE(pair.post(WorkOpcode::RdmaWrite, ++posted, {pair.from_a(0, 8)}) == Error::None);
    pair.carry();
  };
  const auto take = [&] {
    for (const testbench::Wc& wc : pair.a.poll(&cq)) CHECK(wc.wr_id == ++taken);
  };
  post(3), take();
  post(before);  // these stay
  const bool fits = before <= entries;
  REQUIRE(pair.a.verbs.resize_cq(cq, entries) == (fits ? Error::None : Error::Invalid));
  const QueueAttributes told = pair.a.verbs.query_cq(cq);
  CHECK(told.producer == 3 + before);
  CHECK(told.address == cq.address);
  CHECK((u32{1} << told.log_entries) == cq.entries());
  if (fits) CHECK(cq.entries() == entries);
  post(fits ? entries - before : 1);  // as many as there is room for
  take();
  CHECK(taken == posted);
  post(4), take();
  CHECK(taken == posted);
  CHECK_FALSE(pair.a.verbs.query_cq(cq).overflowed);
}
}  // namespace hca::functional
