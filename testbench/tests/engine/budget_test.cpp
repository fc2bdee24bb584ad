// SPDX-License-Identifier: Apache-2.0
#include "model/engine/budget.h"

#include <catch2/catch.hpp>
#include <memory>

#include "model/engine/mailbox.h"
#include "testbench/tests/engine/engine_fixture.h"

using namespace hca;
using namespace hca::engine;
using namespace hca::engine::test;
using Cycles = std::vector<Cycle>;

TEST_CASE("what is given back for cycle n is refused at n - 1 and free at n", "[engine][budget]") {
  const Cycle wait = GENERATE(1, 2, 900, 5000);
  Pair p;
  Budget budget(1);
  budget.connect(p.writer.self);
  p.go_to(10);
  budget.take();
  SECTION("the refusal comes first") {
    CHECK_FALSE(budget.available());
    budget.give(10 + wait);
  }
  SECTION("the return comes first") {
    budget.give(10 + wait);
    CHECK_FALSE(budget.available());
  }
  p.go_to(10 + wait - 1);
  CHECK_FALSE(budget.available());
  p.go_to(10 + wait);
  CHECK(budget.available());
  CHECK(p.writer.ticked == Cycles{10 + wait});
}

TEST_CASE("a budget gives as much as it holds", "[engine][budget]") {
  Pair p;
  Budget budget(3);
  budget.connect(p.writer.self);
  p.go_to(1);
  for (unsigned i = 0; i < 3; ++i) {
    REQUIRE(budget.available());
    budget.take();
  }
  CHECK_FALSE(budget.available());
  budget.give(5), budget.give(5), budget.give(7);
  p.go_to(5);
  budget.take(), budget.take();
  CHECK_FALSE(budget.available());
  p.go_to(7);
  CHECK(budget.available());
}

// Refused in 10 for what comes back in 20; two come sooner meanwhile.
TEST_CASE("what is given back later and for a sooner cycle is free sooner", "[engine][budget]") {
  Pair p;
  Budget budget(3);
  budget.connect(p.writer.self);
  p.go_to(10);
  for (unsigned i = 0; i < 3; ++i) budget.take();
  budget.give(20);
  CHECK_FALSE(budget.available());
  budget.give(12), budget.give(15);
  p.go_to(11);
  CHECK_FALSE(budget.available());
  p.go_to(12);
  CHECK(budget.available());
  budget.take();
  CHECK_FALSE(budget.available());
  p.go_to(15);
  budget.take();
  CHECK_FALSE(budget.available());
  p.go_to(19);
  CHECK_FALSE(budget.available());
  p.go_to(20);
  CHECK(budget.available());
  CHECK(p.writer.ticked == Cycles{12, 15, 20});
}

// 10 and 120 bytes are held: the second unit was taken when 10 were. The third waits until less
// than 100 are held, which the first return does not change.
TEST_CASE("a budget with a bound of bytes has a unit while less than that is held",
          "[engine][budget]") {
  Pair p;
  Budget budget(3, 100);
  budget.connect(p.writer.self);
  p.go_to(10);
  budget.take(10);
  REQUIRE(budget.available());
  budget.take(120);
  CHECK_FALSE(budget.available());
  budget.give(12, 10);
  p.go_to(12);
  CHECK_FALSE(budget.available());
  budget.give(15, 120);
  p.go_to(14);
  CHECK_FALSE(budget.available());
  p.go_to(15);
  CHECK(budget.available());
  CHECK(p.writer.ticked == Cycles{12, 15});
  budget.take(100);
  CHECK_FALSE(budget.available());  // 100 are not less than 100
}

TEST_CASE("broken budget rules abort with cycle, block and budget", "[engine][budget]") {
  Pair p;
  Budget tags(2);
  tags.connect(p.writer.self, "tags");
  p.go_to(4);
  tags.take();
  CHECK(last_words([&] { tags.take(), tags.take(); }) ==
        "cycle 4, block writer, tags: took a unit that was not free\n");
  CHECK(last_words([&] { tags.give(4); }) ==
        "cycle 4, block writer, tags: given back for a cycle that has begun\n");
  CHECK(last_words([&] { tags.give(5), tags.give(6); }) ==
        "cycle 4, block writer, tags: more given back than taken\n");
  CHECK(last_words([&] {
          tags.give(5, 1);
          p.go_to(5);
          tags.available();
        }) == "cycle 5, block writer, tags: more bytes given back than taken\n");
  CHECK(last_words([&] { Budget copy(tags); }) ==
        "cycle 0, block writer, tags: copied after connect\n");
}

TEST_CASE("mail is read in the order of cycle and source, whatever the order of delivery",
          "[engine][mailbox]") {
  Pair p;
  Mailbox<int> mail;
  mail.connect(p.reader.self);
  p.go_to(1);
  mail.deliver(30, 2, 302);
  mail.deliver(20, 3, 203);
  mail.deliver(20, 1, 201);
  mail.deliver(20, 3, 204);  // of one source in one cycle: as sent
  mail.deliver(2000, 0, 2000);
  p.go_to(19);
  CHECK_FALSE(mail.can_pop());
  std::vector<int> read;
  for (Cycle n = 20; n <= 2000; ++n) {
    p.go_to(n);
    if (mail.can_pop()) read.push_back(mail.pop(n == 20 ? 4 : 1));
    if (n == 23) CHECK(read == std::vector<int>{201});
  }
  CHECK(read == std::vector<int>{201, 203, 204, 302, 2000});
  CHECK(p.reader.ticked == Cycles{20, 24, 25, 30, 2000});
}

TEST_CASE("mailboxes carry items that can only be moved", "[engine][mailbox]") {
  Pair p;
  Mailbox<std::unique_ptr<int>> mail;
  mail.connect(p.reader.self);
  mail.deliver(3, 1, std::make_unique<int>(31));
  mail.deliver(2, 1, std::make_unique<int>(21));
  p.go_to(2);
  CHECK(*mail.pop() == 21);
  p.go_to(3);
  CHECK(*mail.pop() == 31);
}

TEST_CASE("broken mailbox rules abort with cycle, block and mailbox", "[engine][mailbox]") {
  Pair p;
  Mailbox<int> wire;
  wire.connect(p.reader.self, "wire");
  p.go_to(6);
  CHECK(last_words([&] { wire.deliver(6, 0, 1); }) ==
        "cycle 6, block reader, wire: mail for a cycle that has begun\n");
  CHECK(last_words([&] { wire.pop(); }) == "cycle 6, block reader, wire: pop of nothing\n");
}

TEST_CASE("a sleeping host hears of each wake-up that comes before its own", "[engine][domain]") {
  Pair p;
  Mailbox<int> mail;
  mail.connect(p.reader.self);
  Cycles heard;
  p.domain.host_sleeps(
      &heard, [](void* host, Cycle at) { static_cast<Cycles*>(host)->push_back(at); }, 100);
  mail.deliver(200, 0, 1);
  CHECK(heard.empty());
  mail.deliver(50, 0, 1);
  CHECK(heard == Cycles{50});
  p.domain.host_runs();
  mail.deliver(40, 0, 1);
  CHECK(heard == Cycles{50});
}
