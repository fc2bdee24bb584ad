// SPDX-License-Identifier: Apache-2.0
// Compares blocks::Completion of the chip with blocks::CompletionUnit, the twin of the RTL.
#include "model/blocks/completion/completion.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::completion_twin {
namespace {
constexpr unsigned kItems = 300;
constexpr u32 kRings = 3;  // one more CQ does not exist

proto::EntryRing ring(u32 cqn, u8 log_entries) {
  proto::EntryRing cq;
  cq.allocated = true, cq.log_entries = log_entries, cq.address = u64{cqn} << 20;
  return cq;
}

// CQEs, and doorbells if the rings are small, as the unit gets them.
struct Traffic {
  Traffic(u64 seed, bool small) : random(seed), answers(kItems) {
    for (u32 cqn = 1; cqn <= kRings; ++cqn) cqs[cqn] = ring(cqn, small ? 2 : 12);
    const Cycles arrivals = random_arrivals(random, kItems, 12);
    requests.reserve(kItems);
    for (unsigned i = 0; i < kItems; ++i) {
      CompletionItem item;
      item.cqn = 1 + u32(random.below(kRings + small));
      item.cq = &cqs[item.cqn], item.answer = &answers[i];
      item.context_late = random.chance(1, 5) ? random.below(20) : 0;
      requests.push_back(request(item.cqn, i, small));
      item.request = &requests.back();
      plan.push_back({arrivals[i], item});
    }
  }
  CqRequest request(u32 cqn, unsigned i, bool small) {
    CqRequest r;
    if (small && random.chance(1, 3)) {  // all but one or none is taken
      const u32 left = std::min(produced[cqn], u32(random.below(2)));
      return {.step = CqStep::Doorbell, .consumer = produced[cqn] - left};
    }
    ++produced[cqn];
    r.cqe.qpn = 1 + u32(random.below(5)), r.cqe.wqe_index = u16(i), r.cqe.byte_len = u32(random());
    r.cqe.solicited = random.chance(1, 2);
    return r;
  }
  engine::Random random;
  std::array<proto::EntryRing, kRings + 2> cqs{};
  std::array<u32, kRings + 2> produced{};
  std::vector<CqRequest> requests;
  std::vector<CqAnswer> answers;
  Plan<CompletionItem> plan;
};

// The chip's block. `seen[i]`: when it sees item i of the traffic.
struct ChipBlock : Bench {
  ChipBlock(const CompletionConfig& config, const Traffic& t, const Cycles& seen, u8 log_entries,
            unsigned depth, const Cycles& waits)
      : writes(depth, waits), completion(config, 400'000'000, contexts, accesses) {
    set_up(contexts, 1);
    contexts.cqs.resize(kRings + 2);
    for (u32 cqn = 1; cqn <= kRings; ++cqn)
      static_cast<proto::EntryRing&>(contexts.cqs[cqn]) = ring(cqn, log_entries);
    add(completion, "completion"), add(writes, "writes");
    plan_items(t, seen);
    completion.written_in.connect(completion.self, completion.self, "CQEs in memory");
    completion.changed_in.connect(completion.self, completion.self, "CQs changed");
    completion.buffers.connect(completion.self, "CQE buffers");
    completion.dma = completion.self, writes.in.accesses = &accesses;
    completion.outputs.dma_out = &writes.in;
    writes.in.connect(completion.self, writes.self, "writes");
    writes.takes = [this](const DmaRequest& r) {
      bytes.push_back({});
      std::copy_n(r.buffer, proto::kCqeBytes, bytes.back().begin());
      completion.client().released(&completion, r);
    };
    take(completion.outputs.events_out, completion);
    faults = &take(completion.outputs.faults_out, completion);
    domain.run_until(1'000'000);
  }
  void plan_items(const Traffic& t, const Cycles& seen) {
    Plan<Completed> cqes;
    Plan<proto::CqDoorbell> bells;
    for (unsigned i = 0; i < kItems; ++i) {
      const CompletionItem& item = t.plan[i].second;
      Completed c;
      c.cqn = item.cqn, c.cqe = item.request->cqe;
      if (item.request->step == CqStep::Complete)
        cqes.push_back({seen[i], c});
      else
        bells.push_back({seen[i], {proto::Arm::None, item.cqn, item.request->consumer}});
    }
    feed(completion.completions_in[0], completion, cqes);
    feed(completion.completions_in[1], completion, {});
    feed(completion.bells_in, completion, bells);
  }
  device::Contexts contexts;
  StallingTaker<DmaRequest, 8> writes;
  Completion completion;
  std::vector<std::array<u8, proto::kCqeBytes>> bytes;
  Taker<Fault, 4>* faults = nullptr;
};

constexpr Cycle kMostLatency = 6;
using Times = TwinTimes<CompletionConfig, CompletionUnit::Config>;

// What the unit has written, and what has found no room.
struct Written {
  template <class Run>
  Written(const Traffic& t, const Run& run) {
    for (unsigned i = 0; i < kItems; ++i) {
      const CqAnswer& a = t.answers[i];
      const proto::CqResult result = a.place.result;
      if (t.requests[i].step == CqStep::Doorbell || result == proto::CqResult::NoQueue) continue;
      if (result != proto::CqResult::Written) {
        first_lost += result == proto::CqResult::FirstLost, ++lost;
        continue;
      }
      left.push_back(run.leaves()[i]), addresses.push_back(a.place.address);
      bytes.push_back(a.bytes);
    }
  }
  void check(const ChipBlock& block) const {
    CHECK(block.writes.left == left);
    CHECK(block.bytes == bytes);
    std::vector<u64> at;
    for (const DmaRequest& r : block.writes.items) at.push_back(r.address);
    CHECK(at == addresses);
    CHECK(block.completion.counters.overflows == lost);
  }
  Cycles left;
  std::vector<u64> addresses;
  std::vector<std::array<u8, proto::kCqeBytes>> bytes;
  u64 first_lost = 0, lost = 0;
};
}  // namespace

// A gate of the chip precedes the block: a CQE is seen when the unit has its context.
TEST_CASE("a CQE leaves the completion block in the cycle in which it leaves the unit",
          "[completion_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  CAPTURE(seed);
  Times times(seed, kMostLatency);
  const unsigned depth = 1 + unsigned(times.random.below(8));
  const Cycles waits = random_waits(times.random, kItems);
  CAPTURE(times.block.latency, times.block.interval, depth);
  Traffic t(seed, false);
  UnitRun<CompletionUnit, CompletionItem> unit(times.unit, t.plan, depth, waits);
  Cycles has_context = context_answers(unit, t.plan);
  for (Cycle& at : has_context) ++at;
  const ChipBlock block(times.block, t, has_context, 12, depth, waits);
  const Written written(t, unit);
  CHECK(written.left.size() == kItems);
  written.check(block);
}

// In the unit they take a turn and leave. In the chip's block a doorbell has its own link, and a
// CQE without room leaves as a fault. So both see an item when the unit starts it.
TEST_CASE("doorbells and CQEs without room do in the completion block what they do in the unit",
          "[completion_unit][twin][G21.3]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  CAPTURE(seed);
  Times times(seed, kMostLatency);
  Traffic t(seed, true);
  UnitRun<CompletionUnit, CompletionItem> unit(times.unit, t.plan, 8, {});
  Cycles starts = unit.leaves();
  for (Cycle& at : starts) at -= times.unit.latency;
  const ChipBlock block(times.block, t, starts, 2, 8, {});
  const Written written(t, unit);
  CHECK(written.left.size() > kItems / 50);
  CHECK(written.lost > 0);
  written.check(block);
  CHECK(block.faults->items.size() == written.lost + written.first_lost);
  for (u32 cqn = 1; cqn <= kRings; ++cqn) {
    CHECK(block.contexts.cqs[cqn].producer == t.cqs[cqn].producer);
    CHECK(block.contexts.cqs[cqn].consumer == t.cqs[cqn].consumer);
    CHECK(block.contexts.cqs[cqn].overflowed == t.cqs[cqn].overflowed);
  }
}
}  // namespace hca::test::completion_twin
