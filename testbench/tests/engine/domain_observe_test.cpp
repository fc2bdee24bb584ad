// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "model/engine/budget.h"
#include "model/engine/link.h"

namespace hca::engine {
namespace {
struct Writer : Block {
  Link<int>* out = nullptr;
  Budget tags{3};
  void tick() {
    if (now() < 3) tags.take(), out->push(1), wake_at(now() + 1);
    if (now() == 5) tags.give(8);
  }
};
struct Reader : Block {
  Link<int> in{2};
  void tick() {
    if (now() >= 5 && in.can_pop()) in.drop();
  }
};
}  // namespace

TEST_CASE("an observer sees the levels behind each cycle that is run, and what changes without one",
          "[engine]") {
  Domain domain{Domain::Options{}};
  Writer writer;
  Reader reader;
  writer.self = {&domain, domain.add(writer, "writer")};
  reader.self = {&domain, domain.add(reader, "reader")};
  writer.out = &reader.in;
  reader.in.connect(writer.self, reader.self, "items");
  writer.tags.connect(writer.self, "tags");
  struct Seen {
    Domain* domain;
    std::vector<std::array<u64, 3>> levels;      // cycle, items, tags
    std::vector<std::pair<Cycle, Cycle>> freed;  // the cycle run, and one before it without a block
    Cycle last = 0;
  } seen{&domain, {}, {}};
  const auto before = [](void* who, Cycle at) {
    auto& s = *static_cast<Seen*>(who);
    std::vector<LevelChange> changes;
    for (const Watched& w : s.domain->watched())
      if (w.changes) w.changes(w.object, s.last, at, changes);
    for (const LevelChange& c : changes) s.freed.push_back({at, c.by == -1 ? c.at : 0});
  };
  domain.observe(&seen, before, [](void* who, Cycle at) {
    auto& s = *static_cast<Seen*>(who);
    s.last = at;
    std::array<u64, 3> row{at, 0, 0};
    for (const Watched& w : s.domain->watched()) {
      const Level level = w.level(w.object);
      row[std::string_view(level.object) == "items" ? 1 : 2] = level.used;
    }
    s.levels.push_back(row);
  });
  writer.self.wake(1), writer.self.wake(5), writer.self.wake(8), reader.self.wake(5);
  domain.run_until(20);
  // Pushes in 1 and 2, seen one cycle later and popped in 5 and, woken by that, in 6; a tag is
  // given back for cycle 8. Cycle 3 has the writer's last wake-up and the reader's.
  const std::vector<std::array<u64, 3>> expected{{1, 1, 1}, {2, 2, 2}, {3, 2, 2},
                                                 {5, 1, 2}, {6, 0, 2}, {8, 0, 1}};
  CHECK(seen.levels == expected);
  // The tag counts again from 8 on, a cycle that is run; the next one is given back for 33.
  CHECK(seen.freed.empty());
  writer.tags.give(33);
  reader.self.wake(35);
  domain.run_until(36);
  CHECK(seen.freed == std::vector<std::pair<Cycle, Cycle>>{{35, 33}});
  CHECK(seen.levels.size() == expected.size() + 1);
  domain.observe(&seen, nullptr, nullptr);
  writer.self.wake(40);
  domain.run_until(50);
  CHECK(seen.levels.size() == expected.size() + 1);
}

TEST_CASE("a sample is taken before the first cycle with work from the one asked for on",
          "[engine]") {
  const Mode mode = GENERATE(Mode::Sleep, Mode::EveryCycle);
  Domain domain{Domain::Options{.mode = mode}};
  Writer writer;
  Reader reader;
  writer.self = {&domain, domain.add(writer, "writer")};
  reader.self = {&domain, domain.add(reader, "reader")};
  writer.out = &reader.in;
  reader.in.connect(writer.self, reader.self, "items");
  writer.tags.connect(writer.self, "tags");
  struct Sampled {
    Domain* domain;
    std::vector<std::pair<Cycle, u64>> taken;  // cycle, items
  } sampled{&domain, {}};
  domain.sample(&sampled, [](void* who, Cycle at) {
    auto& s = *static_cast<Sampled*>(who);
    s.taken.push_back({at, s.domain->watched()[0].level(s.domain->watched()[0].object).used});
    return at + 3;
  });
  writer.self.wake(1), writer.self.wake(5), writer.self.wake(12), reader.self.wake(5);
  domain.run_until(6);
  domain.run_until(20);
  using Taken = std::vector<std::pair<Cycle, u64>>;
  // Cycles 1, 2, 3, 5, 6 and 12 have something to do, in both modes; items come in 1 and 2 and go in
  // 5 and 6.
  CHECK(sampled.taken == Taken{{1, 0}, {5, 2}, {12, 0}});
  const std::size_t before = sampled.taken.size();
  domain.sample(nullptr, nullptr);
  writer.self.wake(30);
  domain.run_until(40);
  CHECK(sampled.taken.size() == before);
}
}  // namespace hca::engine
