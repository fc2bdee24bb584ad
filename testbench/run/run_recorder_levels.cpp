// SPDX-License-Identifier: Apache-2.0
// Samples the levels of a chip's queues, and what it counts.
#include <algorithm>

#include "model/engine/random.h"
#include "testbench/run/run_recorder.h"

namespace hca::testbench {
// The sample after this one: a function of time alone, so that it is the same in all ways to run.
// When the buckets of the series grow, samples become rarer; they then lie at irregular distances,
// because traffic often repeats in a number of cycles that the distance could be a multiple of.
Cycle RunRecorder::after(const Chip& chip, Cycle sample) {
  const Cycle each = TimeSeries::width_at(sample * chip.period) / chip.period / kSamples;
  if (each <= kEach) return sample + kEach - sample % kEach;
  u64 state = sample;
  return sample + each / 2 + engine::split_mix(state) % each;
}

// The levels of a chip in the cycles between two samples are those of the later one.
void RunRecorder::hold_levels(Chip& chip, Cycle before, Cycle sample) {
  const u64 to = sample * chip.period;
  const u64 from = std::clamp(recording_since_, before * chip.period, to);
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
void RunRecorder::look_at_levels(Chip& chip, Cycle at) {
  const auto& watched = chip.domain->watched();
  chip.changes.clear();
  for (std::size_t w = 0; w < chip.levels.size(); ++w) {
    chip.levels[w] = watched[w].used(watched[w].object);
    if (!watched[w].changes || chip.next == at) continue;
    chip.found.clear();
    watched[w].changes(watched[w].object, chip.next, at + 1, chip.found);
    for (const engine::LevelChange& change : chip.found) {
      chip.levels[w] -= u64(std::int64_t(change.by));
      chip.changes.push_back({change.at, w, change.by});
    }
  }
  std::ranges::stable_sort(chip.changes, {}, &Chip::Change::at);
  auto change = chip.changes.begin();
  Cycle before = chip.seen;
  for (Cycle sample = chip.next; sample <= at;) {
    for (; change != chip.changes.end() && change->at <= sample; ++change)
      chip.levels[change->watched] += u64(std::int64_t(change->by));
    Cycle last = sample;  // of those without a change between them
    while ((sample = after(chip, last)) <= at &&
           (change == chip.changes.end() || change->at > sample))
      last = sample;
    hold_levels(chip, before, last);
    before = last;
  }
}

// Samples lie before their cycle.
void RunRecorder::look(Chip& chip, Cycle at) {
  if (chip.next > at) return;
  if (recording_) look_at_levels(chip, at);
  const u64 to = chip.next * chip.period;
  const u64 from = std::clamp(recording_since_, chip.seen * chip.period, to);
  for (; chip.next <= at; chip.next = after(chip, chip.next)) chip.seen = chip.next;
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
