// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/response_check.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
Packet* ack_packet(PacketPool& pool, const proto::QpConfig& from, u32 psn, u8 syndrome) {
  const proto::OpcodeRow& row =
      *proto::opcode_row(proto::Service::Rc, proto::Operation::Acknowledge, proto::Position::Only);
  Packet* p = pool.take();
  proto::Bth bth{};
  bth.pkey = from.pkey, bth.dest_qp = from.dest_qpn, bth.psn = psn;
  proto::ExtHeaders ext;
  ext.aeth = {syndrome, 1};
  proto::write_headers(from.path, row, bth, ext, 0, p->frame());
  p->shape = proto::shape_of(from.path, row, 0);
  p->frame_bytes = proto::finish_frame(p->frame(), p->shape);
  p->psn = psn;
  return parsed(p);
}
struct ResponseBench {
  explicit ResponseBench(const ResponseCheckConfig& config) : block(config, context, contexts) {
    set_up(contexts, 2), set_up(peer, 2, true);
  }
  Cycle check(Cycle at, u32 psn = 100) {
    return block.check(*ack_packet(pool, peer.qps[1], psn, 0x1f), at, ack);
  }
  device::Contexts peer;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  ResponseCheck block;
  PacketPool pool;
  Acknowledgement ack;
};
}  // namespace

TEST_CASE("a good response reaches the requester after look-up and latency", "[response_check]") {
  ResponseBench bench({.latency = 4, .interval = 1}), later({.latency = 5, .interval = 1});
  CHECK(bench.check(10, 77) == 10 + 2 + 4);
  CHECK(later.check(10) == 10 + 2 + 5);
  CHECK(bench.ack.psn == 77);
}

TEST_CASE("a response within the interval is blocked at n - 1 and enters at n",
          "[response_check]") {
  for (const Cycle at : {13, 14, 15}) {  // the first enters in 12, the second 4 cycles later
    ResponseBench bench({.latency = 4, .interval = 4});
    CHECK(bench.check(10) == 16);
    CHECK(bench.check(at) == std::max<Cycle>(at + 2, 16) + 4);
  }
}

TEST_CASE("a response that is no answer to this queue pair is dropped",
          "[response_check][VAL-6][G12.7]") {
  ResponseBench bench({});
  bench.contexts.qps[1].state = proto::QpState::Error;
  CHECK(bench.check(10) == engine::kNever);
  CHECK(bench.block.counters.bad_qp_state == 1);
  bench.contexts.qps[1].state = proto::QpState::Rts;
  bench.contexts.qps[1].path.head[0] ^= 1;
  bench.peer.qps[1].path = bench.contexts.qps[1].path;  // sent by this side itself
  CHECK(bench.check(20) == engine::kNever);
  CHECK(bench.block.counters.wrong_path == 1);
}
