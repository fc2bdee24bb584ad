// SPDX-License-Identifier: Apache-2.0
// Cycles in which a block was refused: counted once, and the same whoever comes first in a cycle.
#include <catch2/catch.hpp>

#include "model/engine/budget.h"
#include "model/engine/link.h"
#include "testbench/tests/engine/engine_fixture.h"

using namespace hca;
using namespace hca::engine;
using namespace hca::engine::test;

namespace {
u64 stalled_cycles(const Pair& p) { return *p.domain.stalls().at(0).cycles; }
}  // namespace

TEST_CASE("a link: from the refusal to the room of a pop", "[engine][stall]") {
  const bool reader_first = GENERATE(false, true);
  Pair p;
  Link<int, 2> link{2, 3};
  link.connect(p.writer.self, p.reader.self, "packets");
  CHECK(std::string(p.domain.stalls().at(0).cause) == "packets");
  p.go_to(1), link.push(1);
  p.go_to(2), link.push(2);
  p.go_to(10);
  CHECK(stalled_cycles(p) == 0);  // nobody asked
  CHECK_FALSE(link.can_push());
  p.go_to(15);
  CHECK_FALSE(link.can_push());  // the same wait
  p.go_to(20), link.pop();       // room from 23 on
  CHECK(stalled_cycles(p) == 13);
  p.go_to(21);
  CHECK_FALSE(link.can_push());
  CHECK(stalled_cycles(p) == 13);
  p.go_to(23), link.push(3);
  // Refused in the cycle of the pop, before it or after it: 3 cycles either way.
  p.go_to(30);
  if (reader_first) link.pop();
  CHECK_FALSE(link.can_push());
  if (!reader_first) link.pop();
  CHECK(stalled_cycles(p) == 16);
}

TEST_CASE("a link: a writer that is busy with its own beats does not stall", "[engine][stall]") {
  Pair p;
  Link<int, 2> link{1, 1};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(10), link.push(1, 20);  // until 30
  p.go_to(12);
  CHECK_FALSE(link.can_push());
  p.go_to(34), link.pop();  // room from 35 on
  CHECK(stalled_cycles(p) == 5);
}

TEST_CASE("a budget: from the refusal to what is given back", "[engine][stall]") {
  const bool giver_first = GENERATE(false, true);
  Pair p;
  Budget budget{1};
  budget.connect(p.writer.self, "tags");
  p.go_to(1), budget.take();
  p.go_to(4);
  CHECK_FALSE(budget.available());
  p.go_to(9), budget.give(12);
  CHECK(stalled_cycles(p) == 8);
  p.go_to(12), budget.take();
  p.go_to(20);
  if (giver_first) budget.give(25);
  CHECK_FALSE(budget.available());
  if (!giver_first) budget.give(25);
  CHECK(stalled_cycles(p) == 13);
  p.go_to(22);
  CHECK_FALSE(budget.available());  // the same wait
  CHECK(stalled_cycles(p) == 13);
}
