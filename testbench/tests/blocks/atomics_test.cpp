// SPDX-License-Identifier: Apache-2.0
// Several ATOMICs at once, each indivisible.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WorkOpcode;

namespace {
// By the device a value is asked for in t and back in t + 1 + 120; the new one is asked for then
// and ordered two cycles later, in which the next ATOMIC under its lock begins. By the host it is
// one request, of 121 cycles.
constexpr Cycle kDevice = 121 + 2, kHost = 121;
constexpr u32 kAtomics = 8;

PairConfig config_of(u32 qps, u32 units) {
  PairConfig config;
  config.qps = qps, config.chip.responder_execute.atomics = units;
  return config;
}
// The second after the first.
Cycle second_of(const Pair::Side& side) {
  return side.sent_frames.at(1).first - side.sent_frames.at(0).first;
}

// Of so many ATOMICs, each of a queue pair of its own.
struct Executed {
  Executed(u32 units, u64 distance, u32 lock_bits, AtomicBy by) {
    PairConfig config = config_of(kAtomics, units);
    config.chip.responder_execute.atomic_lock_bits = lock_bits;
    config.chip.responder_execute.atomic_by = by;
    Pair pair{config};
    for (u32 i = 0; i < kAtomics; ++i) {
      proto::store_le8(pair.data(pair.b, 4096 + i * distance), 0);
      pair.a.host.plan.push_back({.opcode = WorkOpcode::FetchAdd,
                                  .qpn = 1 + i,
                                  .local = i * 8,
                                  .remote = 4096 + i * distance,
                                  .bytes = 8,
                                  .operand = 1});
    }
    finish(pair);
    check_success(pair.a.host.sent, kAtomics);
    CHECK(proto::load_le8(pair.data(pair.b, 4096)) == (distance ? 1 : kAtomics));
    for (const auto& [at, psn] : pair.b.sent_frames) answered.push_back(at);
    REQUIRE(answered.size() == kAtomics);
    second = second_of(pair.a);
    counters = pair.b.chip.responder_execute.counters;
  }
  std::vector<Cycle> answered;
  Cycle second = 0;
  ResponderExecuteCounters counters;
};
}  // namespace

// Two queue pairs of A, and READs of B's own, use one word of B in each moment: what the FetchAdd
// returns and what remains are those of one of the two orders.
TEST_CASE("no access of another queue pair comes between read and write of an ATOMIC",
          "[chip][moments][ATOM-2]") {
  const AtomicBy by = GENERATE(AtomicBy::Device, AtomicBy::Host);
  const WorkOpcode other = GENERATE(WorkOpcode::RdmaWrite, WorkOpcode::Send, WorkOpcode::RdmaRead);
  constexpr u64 kWord = 0x800000, kBefore = 5, kWritten = u64{7} << 56;
  constexpr Cycle kAdd = 300;  // when the FetchAdd is posted
  std::set<u64> left;
  for (Cycle delay = 0; delay < 600; delay += 3) {
    PairConfig config = config_of(2, 4);
    config.chip.responder_execute.atomic_by = by;
    Pair pair{config};
    proto::store_le8(pair.data(pair.b, kWord), kBefore);
    proto::store_le8(pair.data(pair.a, 64), kWritten);
    // The receive WQE's buffer is the word.
    pair.b.host.post_receives(2, 1, 8);
    const Message add{.opcode = WorkOpcode::FetchAdd, .remote = kWord, .bytes = 8, .operand = 1};
    Message message{.opcode = other, .qpn = 2, .local = 64, .remote = kWord, .bytes = 8};
    Pair::Side& from = other == WorkOpcode::RdmaRead ? pair.b : pair.a;
    if (other == WorkOpcode::RdmaRead) message.local = kWord, message.remote = 64;
    const auto post = [](Pair::Side& side, const Message& m) {
      side.host.plan.push_back(m), side.host.start(2);
    };
    pair.advance(100);
    if (delay >= kAdd) post(pair.a, add);
    pair.advance(delay < kAdd ? delay : delay - kAdd);
    post(from, message);
    pair.advance(delay < kAdd ? kAdd - delay : 0);
    if (delay < kAdd) post(pair.a, add);
    finish(pair);
    const u64 value = proto::load_le8(pair.data(pair.b, kWord));
    const u64 returned = proto::load_le8(pair.data(pair.a, 0));
    INFO("delay " << delay << ", returned " << returned);
    CHECK(
        (value == kWritten ? returned == kBefore : value == kWritten + 1 && returned == kWritten));
    left.insert(value);
  }
  CHECK(left == std::set{kWritten, kWritten + 1});
}

TEST_CASE("ATOMICs on different addresses are done at once, as many as there are units",
          "[chip][ATOM-2]") {
  const auto check = [](const Executed& e, u32 at_once, Cycle period) {
    for (u32 i = 0; i + at_once < kAtomics; ++i)
      CHECK(e.answered[i + at_once] - e.answered[i] == period);
    CHECK(e.answered[at_once - 1] - e.answered[0] < period);
    CHECK(e.counters.atomic_cycles == kAtomics * period);
  };
  check({1, 64, 64, AtomicBy::Device}, 1, kDevice);
  check({4, 64, 64, AtomicBy::Device}, 4, kDevice);
  check({4, 0, 64, AtomicBy::Device}, 1, kDevice);
  check({4, 64, 6, AtomicBy::Device}, 1, kDevice);  // all agree in the low six bits
  check({4, 64, 7, AtomicBy::Device}, 2, kDevice);  // every other one does
  check({1, 0, 64, AtomicBy::Host}, 1, kHost);
  check({4, 0, 64, AtomicBy::Host}, 4, kHost);
}

// From when the second is there to when the last one begins.
TEST_CASE("the cycles in which ATOMICs wait for a unit or for a lock are counted",
          "[chip][stalls]") {
  const Executed units(1, 64, 64, AtomicBy::Device);
  CHECK(units.counters.waits_atomics == (kAtomics - 1) * kDevice - units.second);
  CHECK(units.counters.waits_lock == 0);
  const Executed lock(4, 0, 64, AtomicBy::Device);
  CHECK(lock.counters.waits_lock == (kAtomics - 1) * kDevice - lock.second);
  CHECK(lock.counters.waits_atomics == 0);
}

// The first one's addition takes as long as the second one comes later: both values are ready in
// one cycle, and the new value of the second leaves in the next one.
TEST_CASE("of two ATOMICs that write at once one does a cycle later", "[chip][ATOM-2]") {
  const auto run = [](Cycle addition) {
    PairConfig config = config_of(2, 2);
    config.chip.responder_execute.fetch_add = addition;
    Pair pair{config};
    for (const u32 qpn : {1u, 2u})
      pair.a.host.plan.push_back(
          {.opcode = qpn == 1 ? WorkOpcode::FetchAdd : WorkOpcode::CompareSwap,
           .qpn = qpn,
           .local = 64 * qpn,
           .remote = 64 * qpn,
           .bytes = 8});
    finish(pair);
    return std::pair{pair.b.chip.responder_execute.counters.atomic_cycles, second_of(pair.a)};
  };
  const auto [alone, second] = run(0);
  CHECK(alone == 2 * kDevice);
  CHECK(run(second).first == 2 * kDevice + second + 1);
}
