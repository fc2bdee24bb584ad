// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/responder_execute.h"

#include <catch2/catch.hpp>

#include "model/blocks/receive/responder_check.h"
#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
// Judged WRITEs of `bytes` bytes, which the block sees in the given cycles; of the queue pairs
// `qpns`, or all of queue pair 1; of `sizes`, if there are any. With `shared`, SENDs that take WQEs
// of an SRQ instead. With `replies_from`, answers have one place, which is free from then on.
struct ExecuteBench : Bench {
  ExecuteBench(const ResponderExecuteConfig& c, u32 bytes, const Cycles& requests,
               unsigned depth = 8, Cycle from = 0, const std::vector<u32>& qpns = {},
               bool shared = false, const std::vector<u32>& sizes = {}, Cycle replies_from = 0,
               const Plan<ReceiveBell>& bells = {})
      : config(c) {
    set_up(peer, 3), set_up(contexts, 3, true);
    if (shared) {
      contexts.srqs.resize(2);
      contexts.srqs[1].allocated = true, contexts.srqs[1].posted = 8;
      contexts.qps[1].srqn = 1;
    }
    add(execute, "responder_execute");
    Plan<Packet*> plan;
    std::array<u32, 4> psns{100, 100, 100, 100};
    for (const Cycle at : requests) {
      const u32 qpn = qpns.empty() ? 1 : qpns[plan.size()];
      Packet* p = parsed(
          write_packet(pool, peer.qps[qpn], psns[qpn]++, sizes.empty() ? bytes : sizes[plan.size()],
                       shared ? proto::WorkOpcode::Send : proto::WorkOpcode::RdmaWrite));
      check.check(*p, 1, 1);
      p->last = 0;
      plan.push_back({at, p});
    }
    feed(execute.packets_in.add(), execute, plan);
    feed(execute.bells_in.add(), execute, bells);
    execute.batches_in.connect(execute.self, execute.self, "receive WQEs");
    execute.ordered_in.connect(execute.self, execute.self, "ordered payloads");
    execute.ports[0].responses_in.connect(execute.self, execute.self, "READ responses");
    execute.connect_atomics(execute.self);
    execute.ports[0].responses.connect(execute.self, "response buffers");
    take(execute.outputs.reads_out, execute);
    take(execute.outputs.atomics_out, execute);
    writes = &take(execute.outputs.payload_out, execute, depth, from);
    wqes = &take(execute.outputs.receive_wqes_out, execute);
    replies = &take(execute.ports[0].replies_out, execute, replies_from ? 1 : 8, replies_from);
    completions = &take(execute.outputs.completions_out, execute, depth, from);
    take(execute.outputs.faults_out, execute);
  }
  ExecuteBench& run() {
    domain.run_until(300);
    return *this;
  }
  ResponderExecuteConfig config;
  device::Contexts peer;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  ResponderCheckConfig check_config;
  ResponderCheck check{check_config, context, contexts, protection};
  PacketPool pool;
  ResponderExecute execute{config, release(TxStart::Full), contexts, protection, accesses};
  Taker<DmaRequest, 8>*writes = nullptr, *wqes = nullptr;
  Taker<Reply, 8>* replies = nullptr;
  Taker<Completed, 8>* completions = nullptr;
};
}  // namespace

TEST_CASE("a request asks for its write after look-up and latency", "[responder_execute]") {
  CHECK(ExecuteBench({.latency = 3, .interval = 1}, 64, {10}).run().writes->seen ==
        Cycles{10 + 2 + 3});
  CHECK(ExecuteBench({.latency = 4, .interval = 1}, 64, {10}).run().writes->seen ==
        Cycles{10 + 2 + 4});
}

TEST_CASE("a request within the interval is blocked at n - 1 and executed at n",
          "[responder_execute]") {
  for (const Cycle at : {14, 15, 16})
    CHECK(ExecuteBench({.latency = 3, .interval = 5}, 64, {10, at}).run().writes->seen ==
          Cycles{15, std::max<Cycle>(at, 15) + 5});
}

TEST_CASE("a request waits for room in front of dma", "[responder_execute]") {
  CHECK(ExecuteBench({.latency = 3, .interval = 1}, 64, {10, 11}, 1, 50).run().writes->seen ==
        Cycles{50, 51 + 2 + 3});
}

TEST_CASE("an answer leaves one cycle after its write is ordered", "[responder_execute]") {
  ExecuteBench bench({.latency = 3, .interval = 1}, 64, {10});
  bench.plan({{40, [&] {
                 const DmaCallbacks client = bench.execute.payload_client();
                 client.done(client.self, bench.writes->items.at(0), 60, 60);
               }}});
  CHECK(bench.run().replies->seen == Cycles{60 + 1});
  // Without data there is nothing to be ordered: the answer leaves when the request would write.
  CHECK(ExecuteBench({.latency = 3, .interval = 1}, 0, {10}).run().replies->seen ==
        Cycles{10 + 2 + 3 + 1});
}

// The third request has data, which are ordered in 60, the others have none. From 12 on no answer
// has room: they wait in the order of their requests.
TEST_CASE("answers of several queue pairs that wait for room leave in the order of their requests",
          "[responder_execute]") {
  ExecuteBench bench({.latency = 3, .interval = 1}, 0, {10, 11, 24, 26}, 8, 0, {1, 1, 2, 3}, false,
                     {0, 0, 64, 0}, 100);
  bench.plan({{40, [&] {
                 const DmaCallbacks client = bench.execute.payload_client();
                 client.done(client.self, bench.writes->items.at(0), 60, 60);
               }}});
  bench.run();
  std::vector<u32> qpns;
  for (const Reply& reply : bench.replies->items) qpns.push_back(reply.qpn);
  CHECK(qpns == std::vector<u32>{1, 1, 2, 3});
}

// Two places. The first answer leaves, the next two wait for room and fill the places. From then on
// a later ACK takes the place of the last one of its queue pair; one of a queue pair without an
// answer has a place of its own.
TEST_CASE("with all outcomes in use ACKs of a queue pair merge, and no request waits",
          "[responder_execute][G4.2]") {
  const auto psns_of = [](const std::vector<u32>& qpns, u64 merged) {
    ExecuteBench bench({.latency = 3, .interval = 1, .outcomes = 2}, 0, {10, 20, 30, 40, 50, 60}, 8,
                       0, qpns, false, {}, 100);
    bench.run();
    CHECK(bench.execute.counters.merged == merged);
    CHECK(bench.execute.counters.waits_places == 0);
    std::vector<std::pair<u32, u32>> psns;
    for (const Reply& reply : bench.replies->items) psns.emplace_back(reply.qpn, reply.psn);
    return psns;
  };
  using Psns = std::vector<std::pair<u32, u32>>;
  CHECK(psns_of({1, 1, 1, 1, 1, 1}, 3) == Psns{{1, 100}, {1, 101}, {1, 105}});
  CHECK(psns_of({1, 1, 1, 2, 2, 3}, 1) == Psns{{1, 100}, {1, 101}, {2, 101}, {3, 100}, {1, 102}});
}

// The merged ACK waits for the data of both requests, which are ordered in 60 and 90.
TEST_CASE("a merged ACK leaves after the data of all its requests", "[responder_execute][G4.2]") {
  ExecuteBench bench({.latency = 3, .interval = 1, .outcomes = 1}, 64, {10, 20});
  const auto done = [&](std::size_t i, Cycle at) {
    const DmaCallbacks client = bench.execute.payload_client();
    client.done(client.self, bench.writes->items.at(i), at, at);
  };
  bench.plan({{40, [&] { done(0, 60); }}, {50, [&] { done(1, 90); }}});
  bench.run();
  CHECK(bench.replies->seen == Cycles{90 + 1});
  CHECK(bench.replies->items.at(0).psn == 101);
}

// Of three requests of a queue pair an engine takes one every 10 cycles; the write is asked for 5
// cycles later.
TEST_CASE("an engine takes a request every engine_interval cycles",
          "[responder_execute][engines]") {
  ExecuteBench bench({.latency = 3, .engine_interval = 10}, 64, {10, 11, 12});
  CHECK(bench.run().writes->seen == Cycles{15, 25, 35});
  CHECK(bench.execute.counters.engine_waits == 2);
}

TEST_CASE("queue pairs of different engines do not wait for each other",
          "[responder_execute][engines]") {
  const ResponderExecuteConfig two{.latency = 3, .engines = 2, .engine_interval = 10};
  // Queue pairs 1 and 3 have one engine, 2 the other one.
  ExecuteBench bench(two, 64, {10, 11, 12, 13}, 8, 0, {1, 3, 2, 2});
  CHECK(bench.run().writes->seen == Cycles{10 + 5, 12 + 5, 20 + 5, 22 + 5});
}

// The second request of queue pair 1 has the place; the third one and all after it wait until the
// place is free, in 20, and move to their engines in 21 and 22.
TEST_CASE("a request without a place in front of its engine holds up those behind it",
          "[responder_execute][engines]") {
  const ResponderExecuteConfig two{
      .latency = 3, .engines = 2, .engine_interval = 10, .engine_queue = 1};
  ExecuteBench bench(two, 64, {10, 11, 12, 13}, 8, 0, {1, 1, 1, 2});
  CHECK(bench.run().writes->seen == Cycles{10 + 5, 20 + 5, 22 + 5, 30 + 5});
}

TEST_CASE("a request judged in front of a reset is not executed behind it",
          "[responder_execute][engines][T13]") {
  ExecuteBench bench({.latency = 3, .engine_interval = 100}, 64, {10, 11});
  bench.plan({{50, [&] { bench.execute.clear(1); }}});
  CHECK(bench.run().writes->seen == Cycles{15});
  CHECK(bench.contexts.drops[0].bad_qp_state == 1);
}

// The three CQEs have room in 10, in 51 and in 53, each after the previous one; after them the
// event reports that the queue pair takes no WQE any more.
TEST_CASE("WQEs of an SRQ that requests took in Error are flushed one after the other",
          "[responder_execute][G20.4]") {
  ExecuteBench bench({.latency = 3}, 64, {10, 11, 12}, 1, 50, {}, true);
  bench.plan({{5, [&] { bench.execute.enter_error(1); }}});
  bench.run();
  std::vector<u32> indices;
  for (const Completed& c : bench.completions->items)
    if (!c.is_event()) indices.push_back(c.cqe.wqe_index);
  CHECK(indices == std::vector<u32>{0, 1, 2});
  CHECK(bench.completions->seen == Cycles{50, 52, 54, 56});
}

// 10 WQEs of 64 B are a batch of 8 and one of 2. The SRQ is destroyed and made again, elsewhere: 4
// WQEs from its begin on.
TEST_CASE("WQEs of an SRQ are read from its doorbell on, also of the next SRQ of its number",
          "[responder_execute]") {
  ExecuteBench bench({.latency = 3}, 64, {}, 8, 0, {}, true, {}, 0,
                     {{10, {1, 10, true}}, {100, {1, 4, true}}});
  proto::SharedQueue& srq = bench.contexts.srqs[1];
  srq.life = 1, srq.wqes = {0x1000, 4, 6};
  bench.plan({{50, [&] { srq.life = 2, srq.wqes.address = 0x8000; }}});
  bench.run();
  std::vector<std::pair<u64, u32>> reads;
  for (const DmaRequest& r : bench.wqes->items) reads.emplace_back(r.address, r.bytes);
  CHECK(reads == std::vector<std::pair<u64, u32>>{{0x1000, 512}, {0x1200, 128}, {0x8000, 256}});
}
