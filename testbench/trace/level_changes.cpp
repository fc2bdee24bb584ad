// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/level_changes.h"

#include <algorithm>
#include <utility>

#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
LevelChanges::LevelChanges(Testbed& testbed, Sink sink, std::function<void()> looked)
    : sink_(std::move(sink)), looked_(std::move(looked)) {
  for (unsigned i = 0; i < testbed.nodes(); ++i) {
    Chip& chip = chips_.emplace_back();
    chip.owner = this, chip.number = i, chip.domain = &testbed.node(i).hca.domain();
    chip.period = testbed.node(i).hca.period().value();
    chip.values.resize(chip.domain->watched().size());
    chip.domain->observe(
        &chip,
        [](void* who, Cycle at) {
          Chip& c = *static_cast<Chip*>(who);
          c.owner->catch_up(c, at);
        },
        [](void* who, Cycle at) {
          Chip& c = *static_cast<Chip*>(who);
          c.owner->sample(c, at);
        });
  }
}

LevelChanges::~LevelChanges() {
  for (Chip& chip : chips_) chip.domain->observe(&chip, nullptr, nullptr);
}

void LevelChanges::catch_up(Chip& chip, Cycle to) {
  if (to <= chip.seen + 1) return;
  const auto& watched = chip.domain->watched();
  for (std::size_t w = 0; w < watched.size(); ++w) {
    if (!watched[w].changes) continue;
    found_.clear();
    watched[w].changes(watched[w].object, chip.seen, to, found_);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      chip.values[w] += u64(std::int64_t(found_[i].by));
      if (i + 1 < found_.size() && found_[i + 1].at == found_[i].at) continue;
      sink_(chip.number, w, chip.time_of(found_[i].at), chip.values[w]);
    }
  }
  chip.seen = to - 1;
}

void LevelChanges::sample(Chip& chip, Cycle at) {
  const auto& watched = chip.domain->watched();
  for (std::size_t w = 0; w < watched.size(); ++w) {
    const u64 used = watched[w].used(watched[w].object);
    if (used == chip.values[w]) continue;
    chip.values[w] = used;
    sink_(chip.number, w, chip.time_of(at), used);
  }
  chip.seen = at;
  looked_();
}

// No change can come for a cycle that lies before the kernel's time.
u64 LevelChanges::catch_up() {
  const u64 now = kernel_picoseconds();
  u64 known = now;
  for (Chip& chip : chips_) {
    catch_up(chip, now / chip.period);
    known = std::min(known, chip.time_of(chip.seen));
  }
  return known;
}

void LevelChanges::finish() {
  for (Chip& chip : chips_) catch_up(chip, engine::kNever);
}
}  // namespace hca::testbench
