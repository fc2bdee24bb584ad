// SPDX-License-Identifier: Apache-2.0
// Samples the levels of a chip's queues, and what it counts.
#include <algorithm>

#include "testbench/run/run_recorder.h"

namespace hca::testbench {
// The levels of a chip in the cycles between two samples: those of the later one, at which every
// kEach-th cycle is a sample, whether a cycle runs there or not.
void RunRecorder::hold_levels(Chip& chip, Cycle sample) {
  const u64 to = sample * chip.period;
  const u64 from = std::clamp(recording_since_, (sample - kEach) * chip.period, to);
  if (!recording_) return;
  std::fill(chip.work.begin(), chip.work.end(), 0);
  for (std::size_t w = 0; w < chip.levels.size(); ++w) {
    const u64 level = chip.levels[w];
    if (!level) continue;
    chip.work[chip.blocks[w]] = 1;
    series_.hold(chip.level_columns[w], from, to, level);
    if (chip.resources[w] == kNoResource) continue;
    Resource& r = resources_[chip.resources[w]];
    r.busy += double(level * (to - from));
    series_.hold(r.column, from, to, level);
  }
  for (std::size_t b = 0; b < chip.work.size(); ++b) {
    if (!chip.work[b]) continue;
    series_.hold(chip.block_columns[b], from, to, 1);
    chip.waited[b] += to - from;
  }
}

// Between two cycles that run only the time changes a level (Watched::changes). `at` runs next, or
// is the present one of a chip that sleeps.
void RunRecorder::look_at_levels(Chip& chip, Cycle first, Cycle last, Cycle at) {
  const auto& watched = chip.domain->watched();
  chip.changes.clear();
  for (std::size_t w = 0; w < chip.levels.size(); ++w) {
    chip.levels[w] = watched[w].level(watched[w].object).used;
    if (!watched[w].changes || first == at) continue;
    chip.found.clear();
    watched[w].changes(watched[w].object, first, at + 1, chip.found);
    for (const engine::LevelChange& change : chip.found) {
      chip.levels[w] -= u64(std::int64_t(change.by));
      if (change.at <= last) chip.changes.push_back({change.at, w, change.by});
    }
  }
  std::ranges::stable_sort(chip.changes, {}, &Chip::Change::at);
  auto change = chip.changes.begin();
  for (Cycle sample = first; sample <= last; sample += kEach) {
    for (; change != chip.changes.end() && change->at <= sample; ++change)
      chip.levels[change->watched] += u64(std::int64_t(change->by));
    hold_levels(chip, sample);
  }
}

// Samples lie at the multiples of kEach, before their cycle.
void RunRecorder::look(Chip& chip, Cycle at) {
  const Cycle first = chip.seen + kEach, last = at - at % kEach;
  if (first > last) return;
  look_at_levels(chip, first, last, at);
  const u64 to = first * chip.period;
  const u64 from = std::clamp(recording_since_, chip.seen * chip.period, to);
  chip.seen = last;
  for (Chip::Engine& engine : chip.engines) {
    const Cycle worked = engine.engines->worked(engine.index);
    if (recording_ && worked != engine.worked)
      use(engine.resource, from, to, double((worked - engine.worked) * chip.period));
    engine.worked = worked;
  }
  for (Chip::Pace& pace : chip.paces) {
    if (pace.items) use(pace.resource, from, to, double(pace.items * pace.interval * chip.period));
    pace.items = 0;
  }
  for (Chip::Counted& counted : chip.counted) {
    const u64 more = *counted.count - counted.seen;
    if (recording_ && more)
      use(counted.resource, from, to, double(more * counted.each * chip.period));
    counted.seen += more;
  }
  look_at_stalls(chip, to);
}
}  // namespace hca::testbench
