// SPDX-License-Identifier: Apache-2.0
#include "model/engine/domain.h"

#include <catch2/catch.hpp>
#include <set>

#include "model/engine/budget.h"
#include "model/engine/link.h"
#include "model/engine/mailbox.h"
#include "model/engine/run.h"
#include "testbench/tests/engine/engine_fixture.h"

using namespace hca;
using namespace hca::engine;
using namespace hca::engine::test;
using Cycles = std::vector<Cycle>;

namespace {
// Pushes each cycle it is ticked in, without ever asking for a tick.
struct Sleepwalker : Block {
  Link<int, 4>* out = nullptr;
  void tick() {
    if (now() == 42) out->push(1);
  }
};
}  // namespace

TEST_CASE("a domain ticks exactly the due blocks and jumps to the next due cycle",
          "[engine][domain]") {
  Pair p;
  p.writer.self.wake(3), p.writer.self.wake(5000), p.reader.self.wake(3), p.writer.self.wake(3);
  p.domain.run_until(4999);
  CHECK(p.domain.now() == 4998);
  CHECK(p.domain.ticks() == 2);
  CHECK_FALSE(p.domain.asleep());
  p.domain.run_until(5001);
  CHECK(p.writer.ticked == Cycles{3, 5000});
  CHECK(p.reader.ticked == Cycles{3});
  CHECK(p.domain.asleep());
  CHECK(p.domain.next() == kNever);
}

TEST_CASE("waking for a cycle that has begun is an error", "[engine][domain]") {
  Pair p;
  p.go_to(7);
  CHECK(last_words([&] { p.reader.self.wake(7); }) ==
        "cycle 7, block reader: woken for a cycle that has begun\n");
}

TEST_CASE("the checked loop names the block that acts in its sleep, and the cycle",
          "[engine][domain]") {
  for (const Mode mode : {Mode::EveryCycle, Mode::Sleep}) {
    const std::string words = last_words([&] {
      Pair p({.mode = mode});
      Sleepwalker walker;
      walker.self = {&p.domain, p.domain.add(walker, "walker")};
      Link<int, 4> link;
      link.connect(walker.self, p.reader.self);
      walker.out = &link;
      p.domain.run_until(100);
    });
    CHECK(words == (mode == Mode::Sleep
                        ? "survived"
                        : "cycle 42, block walker: acted while asleep: a wake-up is missing\n"));
  }
}

TEST_CASE("a shuffled cycle ticks the same blocks in other orders", "[engine][domain]") {
  struct Named : Block {
    std::string* order = nullptr;
    char name = 0;
    void tick() { *order += name, wake_at(now() + 1); }
  };
  std::set<std::string> orders;
  Domain domain({.shuffle_seed = 5});
  std::array<Named, 3> blocks;
  std::string order;
  for (std::size_t i = 0; i < 3; ++i) {
    blocks[i].order = &order, blocks[i].name = char('a' + i);
    blocks[i].self = {&domain, domain.add(blocks[i], "named")};
    blocks[i].self.wake(1);
  }
  for (Cycle n = 1; n <= 100; ++n) {
    order.clear();
    domain.run_until(n + 1);
    REQUIRE(order.size() == 3);
    orders.insert(order);
  }
  CHECK(orders == std::set<std::string>{"abc", "acb", "bac", "bca", "cab", "cba"});
}

TEST_CASE("blocks added last tick behind all others, in the order of their registration",
          "[engine][domain]") {
  struct Named : Block {
    std::string* order = nullptr;
    char name = 0;
    void tick() { *order += name, wake_at(now() + 1); }
  };
  for (const unsigned seed : {0u, 3u}) {
    Domain domain({.shuffle_seed = seed});
    std::array<Named, 5> blocks;
    std::string order;
    for (std::size_t i = 0; i < 5; ++i) {
      blocks[i].order = &order, blocks[i].name = char('a' + i);
      const u64 bit = i < 3 ? domain.add(blocks[i], "first") : domain.add_last(blocks[i], "last");
      blocks[i].self = {&domain, bit};
      blocks[i].self.wake(1);
    }
    std::set<std::string> behind;
    for (Cycle n = 1; n <= 50; ++n) {
      order.clear();
      domain.run_until(n + 1);
      REQUIRE(order.size() == 5);
      behind.insert(order.substr(3));
    }
    CHECK(behind == std::set<std::string>{"de"});
    CHECK(last_words([&] { domain.add(blocks[0], "late"); }) ==
          "cycle 0, block late: registered after a block that ticks last\n");
  }
}

TEST_CASE("a stalled block is ticked later, one that is never stalled is not", "[engine][domain]") {
  Pair p({.stall_per_256 = 128, .never_stalled = "writers reader"});
  Cycles wanted;
  for (Cycle n = 1; n < 100'000; n += 100) wanted.push_back(n);
  for (const Cycle n : wanted) p.writer.self.wake(n), p.reader.self.wake(n);
  p.domain.run_until(100'000);
  CHECK(p.reader.ticked == wanted);
  REQUIRE(p.writer.ticked.size() == 1000);
  unsigned late = 0;
  for (std::size_t i = 0; i < 1000; ++i) late += p.writer.ticked[i] != wanted[i];
  CHECK(late > 420);  // half of 1000, five standard deviations of 16
  CHECK(late < 580);
}

TEST_CASE("each of 64 blocks is ticked as what it is", "[engine][domain]") {
  struct Odd : Block {
    Cycles ticked;
    void tick() { ticked.push_back(now()); }
  };
  Domain domain({});
  std::array<Watcher, 32> even;
  std::array<Odd, 32> odd;
  for (unsigned i = 0; i < 32; ++i) {
    even[i].self = {&domain, domain.add(even[i], "even")};
    odd[i].self = {&domain, domain.add(odd[i], "odd")};
  }
  for (unsigned i = 0; i < 32; ++i) odd[i].self.wake(100 - 2 * i), even[i].self.wake(101 - 2 * i);
  domain.run_until(200);
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(odd[i].ticked == Cycles{100 - 2 * i});
    CHECK(even[i].ticked == Cycles{101 - 2 * i});
  }
  CHECK(domain.ticks() == 64);
}

TEST_CASE("a tick may ask what is due behind it", "[engine][domain]") {
  struct Asks : Block {
    std::vector<std::pair<Cycle, bool>> heard;
    void tick() { heard.push_back({self.domain->next(), self.domain->asleep()}); }
  };
  const unsigned shuffle_seed = GENERATE(0, 1);  // the fast loop and the checked one
  const Cycle gap = GENERATE(1, 64, 255, 256, 1000);
  Domain domain({.shuffle_seed = shuffle_seed});
  Asks block;
  block.self = {&domain, domain.add(block, "asks")};
  block.self.wake(5), block.self.wake(5 + gap);
  domain.run_until(2000);
  using Heard = std::vector<std::pair<Cycle, bool>>;
  CHECK(block.heard == Heard{{5 + gap, false}, {kNever, true}});
}

TEST_CASE("the 65th block of a domain is refused by name", "[engine][domain]") {
  CHECK(last_words([] {
          Domain domain({});
          Watcher block;
          for (unsigned i = 0; i < 64; ++i) domain.add(block, "one");
          domain.add(block, "one too many");
        }) == "cycle 0, block one too many: more than 64 blocks in a domain\n");
}

TEST_CASE("a hang says who waits for what since which cycle, oldest first", "[engine][domain]") {
  Pair p;
  Link<int, 2> link{2};
  Budget tags(5);
  Mailbox<int> wire;
  link.connect(p.writer.self, p.reader.self, "packets");
  tags.connect(p.reader.self, "tags");
  wire.connect(p.writer.self, "wire");
  CHECK(p.domain.stuck_report() == "");
  p.go_to(10), link.push(1);
  p.go_to(11), link.push(2);
  p.go_to(13), link.can_push();
  p.go_to(14), link.can_push();  // the first refusal counts
  for (unsigned i = 0; i < 5; ++i) tags.take();
  p.go_to(17), tags.available();
  p.go_to(18), tags.available();
  wire.deliver(20, 0, 1);
  p.go_to(40);
  CHECK(p.domain.stuck_report() ==
        "cycle 40: all blocks sleep\n"
        "  since cycle 11: 2 items in link packets from writer wait for reader\n"
        "  since cycle 13: writer waits for room in link packets to reader (2 of 2 used)\n"
        "  since cycle 17: reader waits for budget tags (0 of 5 free)\n"
        "  since cycle 20: 1 item in mailbox wire waits for writer\n");
  link.pop();
  CHECK(p.domain.stuck_report() ==
        "cycle 40: next due in cycle 41\n"
        "  since cycle 17: reader waits for budget tags (0 of 5 free)\n"
        "  since cycle 20: 1 item in mailbox wire waits for writer\n");
}

TEST_CASE("a hang report points at rings and at blocks that asked for nothing",
          "[engine][domain]") {
  Pair p;
  Link<int, 1> there{1}, back{1};
  there.connect(p.writer.self, p.reader.self, "there");
  back.connect(p.reader.self, p.writer.self, "back");
  p.go_to(1), there.push(1), back.push(1);
  p.go_to(3), there.can_push();
  CHECK_THAT(p.domain.stuck_report(),
             Catch::Contains("  look at reader: it has work and has requested no wake-up\n"));
  p.go_to(5), back.can_push();
  const std::string report = p.domain.stuck_report();
  CHECK_THAT(
      report,
      Catch::Contains("  a ring of blocks that wait for each other: writer -> reader -> writer\n"));
  CHECK_THAT(report, !Catch::Contains("look at"));
}

TEST_CASE("domains that all sleep while work is left end the run with the report",
          "[engine][domain]") {
  Pair p;
  Link<int, 2> link{2};
  link.connect(p.writer.self, p.reader.self, "packets");
  p.go_to(1), link.push(1);
  Domain* domains[] = {&p.domain};
  CHECK_THROWS_WITH(run_domains(std::span<Domain* const>(domains), 10, [] { return false; }),
                    "all blocks sleep, but the work is not done\n"
                    "domain 0: cycle 11: all blocks sleep\n"
                    "  since cycle 2: 1 item in link packets from writer waits for reader\n"
                    "  look at reader: it has work and has requested no wake-up\n");
  CHECK(run_domains(std::span<Domain* const>(domains), 10, [] { return true; }) == 12);
}
