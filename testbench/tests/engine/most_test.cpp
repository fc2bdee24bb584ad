// SPDX-License-Identifier: Apache-2.0
// The most that links, budgets and mailboxes held, against a look after each cycle.
#include <catch2/catch.hpp>
#include <vector>

#include "model/engine/budget.h"
#include "model/engine/link.h"
#include "model/engine/mailbox.h"

namespace hca::engine {
namespace {
// Acts in cycles, and in a way, that only depend on the seed: in all others it does nothing.
struct Actor : Block {
  u64 state = 0;
  Cycle next = 1;
  u64 draw(u64 n) { return split_mix(state) % n; }
  bool acts() {
    if (now() != next) return false;
    next = now() + 1 + (draw(4) ? 0 : draw(5));
    wake_at(next);
    return true;
  }
};
struct Giver : Actor {
  Link<int, 8>* items_out = nullptr;
  Mailbox<int>* mail_out = nullptr;
  Budget tags{5}, bytes{6, 100};
  void tick() {
    if (!acts()) return;
    if (draw(3) && items_out->can_push()) items_out->push(1, 1 + draw(2));
    if (!draw(3)) mail_out->deliver(now() + 1 + draw(40), 0, 1);
    for (Budget* budget : {&tags, &bytes})
      for (u64 n = draw(3); n && budget->available(); --n) {
        const u32 holds = budget == &bytes ? 20 + u32(draw(40)) : 0;
        budget->take(holds);
        budget->give(now() + 1 + draw(12), holds);
      }
  }
};
struct Taker : Actor {
  Link<int, 8> items;
  Mailbox<int> mail;
  explicit Taker(Cycle latency) : items(6, latency) {}
  void tick() {
    if (!acts()) return;
    if (draw(4) && items.can_pop()) items.drop(1 + draw(2));
    if (draw(2) && mail.can_pop()) mail.pop();
  }
};
using Mosts = std::vector<unsigned>;
// Of each watched object in each of several stretches of a run.
struct Both {
  std::vector<Mosts> kept, seen;
};
Both run(Domain::Options options, bool looks, u64 seed, Cycle latency) {
  Domain domain(options);
  Giver giver;
  Taker taker(latency);
  giver.state = seed, taker.state = seed + 1000;
  giver.self = {&domain, domain.add(giver, "giver")};
  taker.self = {&domain, domain.add(taker, "taker")};
  giver.items_out = &taker.items, giver.mail_out = &taker.mail;
  taker.items.connect(giver.self, taker.self, "items");
  taker.mail.connect(taker.self, "mail");
  giver.tags.connect(giver.self, "tags");
  giver.bytes.connect(giver.self, "bytes");
  const std::vector<Watched>& watched = domain.watched();
  struct Looked {
    const std::vector<Watched>& watched;
    Mosts most;
    void look() {
      for (std::size_t w = 0; w < watched.size(); ++w)
        most[w] = std::max(most[w], watched[w].level(watched[w].object).used);
    }
  } looked{watched, Mosts(watched.size())};
  if (looks)
    domain.observe(&looked, nullptr, [](void* who, Cycle) { static_cast<Looked*>(who)->look(); });
  giver.self.wake(1), taker.self.wake(1);
  Both all;
  Cycle at = 1;
  for (const Cycle length : {40, 1, 2, 300, 7, 1000}) {
    domain.run_until(at += 5);  // not kept
    std::fill(looked.most.begin(), looked.most.end(), 0);
    looked.look();
    for (const Watched& w : watched) w.keep_most(w.object, 0);
    domain.run_until(at += length);
    looked.look();
    all.seen.push_back(looked.most);
    Mosts& kept = all.kept.emplace_back();
    for (const Watched& w : watched) {
      kept.push_back(w.most(w.object));
      w.keep_most(w.object, kNoMost);
    }
  }
  return all;
}
}  // namespace

TEST_CASE("the most that an object holds is that of a look after each cycle, in any order",
          "[engine]") {
  Mosts highest(4);
  for (u64 seed = 1; seed <= 40; ++seed)
    for (const Cycle latency : {1, 3}) {
      CAPTURE(seed, latency);
      const Both observed = run({.mode = Mode::EveryCycle}, true, seed, latency);
      CHECK(observed.kept == observed.seen);
      CHECK(run({}, false, seed, latency).kept == observed.seen);
      CHECK(run({.shuffle_seed = 3}, false, seed, latency).kept == observed.seen);
      CHECK(run({.shuffle_seed = 4}, false, seed, latency).kept == observed.seen);
      for (const Mosts& most : observed.seen)
        for (std::size_t w = 0; w < most.size(); ++w) highest[w] = std::max(highest[w], most[w]);
    }
  // The full link and the full budgets are among them; mail has no limit.
  CHECK(highest[0] == 6);
  CHECK(highest[1] >= 6);
  CHECK(highest[2] == 5);
  CHECK(highest[3] >= 3);
}

// Both in cycle 4: the item that goes makes room for the one that comes.
TEST_CASE("an item that comes as another goes is no new most", "[engine]") {
  struct Writer : Block {
    Link<int>* out = nullptr;
    void tick() {
      if (now() == 2 || now() == 4) out->push(1);
    }
  } writer;
  struct Reader : Block {
    Link<int> in{2};
    void tick() {
      if (now() == 4) in.drop();
    }
  } reader;
  const bool reader_first = GENERATE(true, false);
  Domain domain{Domain::Options{}};
  if (reader_first) reader.self = {&domain, domain.add(reader, "reader")};
  writer.self = {&domain, domain.add(writer, "writer")};
  if (!reader_first) reader.self = {&domain, domain.add(reader, "reader")};
  writer.out = &reader.in;
  reader.in.connect(writer.self, reader.self, "items");
  const Watched& items = domain.watched()[0];
  items.keep_most(items.object, 0);
  writer.self.wake(2), writer.self.wake(4), reader.self.wake(4);
  domain.run_until(3);
  CHECK(items.most(items.object) == 1);
  domain.run_until(10);
  CHECK(items.most(items.object) == 1);
  items.keep_most(items.object, 2);  // the most of before
  CHECK(items.most(items.object) == 2);
}
}  // namespace hca::engine
