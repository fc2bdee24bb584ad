// SPDX-License-Identifier: Apache-2.0
#include "model/engine/link.h"

#include <catch2/catch.hpp>
#include <memory>

#include "testbench/tests/engine/engine_fixture.h"

using namespace hca;
using namespace hca::engine;
using namespace hca::engine::test;
using Cycles = std::vector<Cycle>;

TEST_CASE("an item pushed in cycle n is hidden at n + latency - 1 and seen at n + latency",
          "[engine][link]") {
  const Cycle latency = GENERATE(1, 2, 7, 2000);
  Pair p;
  Link<int, 4> link{4, latency};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(10);
  link.push(5);
  if (latency > 1) p.go_to(10 + latency - 1);
  CHECK_FALSE(link.can_pop());
  p.go_to(10 + latency);
  CHECK(link.can_pop());
  CHECK(link.front() == 5);
  CHECK(p.reader.ticked == Cycles{10 + latency});  // woken then, and only then
}

TEST_CASE("extra latency is that of one item", "[engine][link]") {
  Pair p;
  Link<int, 4> link{4, 3};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(10);
  link.push(1, 1, 20);
  p.go_to(32);
  CHECK_FALSE(link.can_pop());
  p.go_to(33);
  CHECK(link.pop() == 1);
  link.push(2);
  p.go_to(35);
  CHECK_FALSE(link.can_pop());
  p.go_to(36);
  CHECK(link.pop() == 2);
}

TEST_CASE("room made by a pop in cycle n is refused at n + latency - 1 and given at n + latency",
          "[engine][link]") {
  const Cycle latency = GENERATE(1, 2, 7, 2000);
  Pair p;
  Link<int, 2> link{2, latency};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(1), link.push(1);
  p.go_to(2), link.push(2);
  p.go_to(10000);
  p.writer.ticked.clear();
  CHECK_FALSE(link.can_push());  // full; the refusal is a subscription
  CHECK(link.pop() == 1);
  if (latency > 1) p.go_to(10000 + latency - 1);
  CHECK_FALSE(link.can_push());
  p.go_to(10000 + latency);
  CHECK(link.can_push());
  CHECK(p.writer.ticked == Cycles{10000 + latency});
}

TEST_CASE("each place has room from its own pop on", "[engine][link]") {
  Pair p;
  Link<int, 2> link{2, 5};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(1), link.push(1);
  p.go_to(2), link.push(2);
  p.go_to(14), link.pop();  // room from 19 on
  p.go_to(18), link.pop();  // the other place from 23 on
  p.go_to(19), link.push(3);
  p.go_to(22);
  CHECK_FALSE(link.can_push());
  p.go_to(23);
  CHECK(link.can_push());
}

// An item is seen 5 cycles after its push and popped then, its room 5 cycles later: as many items
// in 10 cycles as the link is deep, in their order.
TEST_CASE("a link that is less deep than it could be has room for so many", "[engine][link]") {
  const unsigned deeper = GENERATE(3u, 5u, 8u);
  Pair p;
  Link<int, 8> link{3, 5};
  link.deepen(deeper);
  link.connect(p.writer.self, p.reader.self);
  unsigned sent = 0, read = 0;
  for (Cycle n = 1; n <= 100; ++n) {
    p.go_to(n);
    if (link.can_pop()) CHECK(link.pop() == int(read++));
    CHECK(link.can_push() == ((n - 1) % 10 < deeper));
    if (link.can_push()) link.push(int(sent++));
  }
  CHECK(sent == 10 * deeper);
  CHECK(read == 9 * deeper + std::min(deeper, 5u));
}

// 100 items that take 90 cycles each, one a cycle: 91 are on their way or have just left.
TEST_CASE("a link made deeper holds what a long latency has on its way", "[engine][link]") {
  const unsigned depth = GENERATE(8u, 91u);
  Pair p;
  Link<int, 8> link{8, 1};
  link.deepen(depth), link.deepen(4);
  CHECK(link.depth() == depth);
  link.connect(p.writer.self, p.reader.self);
  int sent = 0, read = 0;
  for (Cycle n = 1; n <= 200; ++n) {
    p.go_to(n);
    if (link.can_pop()) CHECK(link.pop() == read++);
    if (sent < 100 && link.can_push()) link.push(sent++, 1, 89);
  }
  CHECK(sent == (depth == 91 ? 100 : 24));  // or 8 each 91 cycles
  CHECK(read == (depth == 91 ? 100 : 16));
  CHECK(last_words([&] { link.deepen(200); }) ==
        "cycle 0, block link, link: a link in use is not made deeper\n");
}

TEST_CASE("a grant stands until a start, whatever the reader does", "[engine][link]") {
  Pair p;
  Link<int, 2> link{2};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(1), link.push(1);
  p.go_to(2);
  REQUIRE(link.can_push());
  link.hold_until(50);
  for (Cycle n = 3; n < 60; ++n) {
    p.go_to(n);
    CHECK(link.can_push());
  }
  link.pop(30);
  CHECK(link.can_push());
  link.push(2);
  CHECK_FALSE(link.can_push());
}

TEST_CASE("a packet of b beats keeps the next start away for b cycles", "[engine][link]") {
  Pair p;
  Link<int, 4> link{4};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(10);
  link.push(1, 64);
  CHECK_FALSE(link.can_push());
  p.go_to(11);
  CHECK(link.can_pop());  // seen with its first beat
  p.go_to(73);
  CHECK_FALSE(link.can_push());
  p.go_to(74);
  CHECK(link.can_push());
  CHECK(p.writer.ticked == Cycles{74});
}

TEST_CASE("room that is free before the beats have passed waits for them", "[engine][link]") {
  Pair p;
  Link<int, 1> link{1};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(10);
  link.push(1, 8);
  CHECK_FALSE(link.can_push());
  p.go_to(11);
  link.pop();
  p.go_to(17);
  CHECK_FALSE(link.can_push());
  p.go_to(18);
  CHECK(link.can_push());
  CHECK(p.writer.ticked == Cycles{18});
}

TEST_CASE("the reader's interval hides the next item until it has passed", "[engine][link]") {
  Pair p;
  Link<int, 4> link{4};
  link.connect(p.writer.self, p.reader.self);
  for (int i = 1; i <= 3; ++i) p.go_to(Cycle(i)), link.push(i);
  p.go_to(10);
  p.reader.ticked.clear();
  CHECK(link.pop(5) == 1);
  p.go_to(14);
  CHECK_FALSE(link.can_pop());
  p.go_to(15);
  CHECK(link.can_pop());
  CHECK(p.reader.ticked == Cycles{15});
  link.hold_until(20);
  p.go_to(19);
  CHECK_FALSE(link.can_pop());
  p.go_to(20);
  CHECK(link.pop() == 2);
  CHECK(p.reader.ticked == Cycles{15, 20});
}

TEST_CASE("a writer that asked for the next push is woken at the end of its beats",
          "[engine][link]") {
  Pair p;
  Link<int, 4> link{4};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(5);
  link.push(1, 8);
  link.wake_when_free();
  p.go_to(40);
  CHECK(p.writer.ticked == Cycles{13});
  link.wake_when_free();  // free already: the next cycle
  p.go_to(50);
  CHECK(p.writer.ticked == Cycles{13, 41});
}

TEST_CASE("links carry items that can only be moved", "[engine][link]") {
  Pair p;
  Link<std::unique_ptr<int>, 2> link{2};
  link.connect(p.writer.self, p.reader.self);
  p.go_to(1);
  link.push(std::make_unique<int>(7));
  p.go_to(2);
  CHECK(*link.front() == 7);
  const std::unique_ptr<int> item = link.pop();
  CHECK(*item == 7);
}

TEST_CASE("broken link rules abort with cycle, block and link", "[engine][link]") {
  Pair p;
  Link<int, 2> link{2};
  link.connect(p.writer.self, p.reader.self, "packets");
  p.go_to(9);
  CHECK(last_words([&] { link.pop(); }) == "cycle 9, block reader, packets: pop of nothing\n");
  CHECK(last_words([&] {
          link.push(1, 1, 5);
          p.go_to(10);
          link.push(2, 1, 4);  // seen at the same time: allowed
        }) == "survived");
  CHECK(last_words([&] {
          link.push(1, 1, 5);
          p.go_to(10);
          link.push(2, 1, 3);
        }) == "cycle 10, block writer, packets: an item overtakes an earlier one\n");
  CHECK(last_words([&] { link.push(1), link.push(2); }) ==
        "cycle 9, block writer, packets: push without room\n");
  CHECK(last_words([&] { link.connect(p.writer.self, p.reader.self, "packets"); }) ==
        "cycle 0, block writer, packets: a link has one writer\n");
  CHECK(last_words([&] {
          Pair other;
          Link<int> wire;
          wire.connect(p.writer.self, other.reader.self, "wire");
        }) == "cycle 0, block writer, wire: a link may not leave its domain\n");
}
