// SPDX-License-Identifier: Apache-2.0
// Samples the levels of a chip's queues, and reads what it counts, bucket by bucket of the series.
#include <algorithm>
#include <utility>

#include "testbench/run/run_recorder.h"

namespace hca::testbench {
// The levels in the cycle of the next sample, and their changes after it. Between two cycles that
// run only the time changes a level (Watched::changes). `at` runs next, or is the present one of a
// chip that sleeps.
void RunRecorder::find_levels(Chip& chip, Cycle at) {
  const auto& watched = chip.domain->watched();
  const Cycle sample = chip.samples.next();
  for (std::size_t w = 0; w < chip.levels.size(); ++w) {
    chip.levels[w] = watched[w].used(watched[w].object);
    if (!watched[w].changes || sample == at) continue;
    chip.found.clear();
    watched[w].changes(watched[w].object, sample, at + 1, chip.found);
    for (const engine::LevelChange& change : chip.found) {
      chip.levels[w] -= u64(std::int64_t(change.by));
      chip.changes.push_back({change.at, w, change.by});
    }
  }
}

// The levels in the cycles between two samples are those of the later one.
void RunRecorder::hold_levels(Chip& chip, Cycle sample) const {
  if (!recording_ || sample <= chip.held_until) return;
  const Cycle cycles = sample - std::exchange(chip.held_until, sample);
  std::ranges::fill(chip.work, 0);
  for (std::size_t w = 0; w < chip.levels.size(); ++w) {
    if (!chip.levels[w]) continue;  // most
    chip.held[w] += chip.levels[w] * cycles;
    chip.work[chip.blocks[w]] = 1;
  }
  for (std::size_t b = 0; b < chip.work.size(); ++b) chip.worked[b] += chip.work[b] ? cycles : 0;
}

// Samples lie before their cycle.
void RunRecorder::look(Chip& chip, Cycle at) { look(chip, at, at); }

// The samples up to `to`, in cycle `at` or before it.
void RunRecorder::look(Chip& chip, Cycle at, Cycle to) {
  if (chip.samples.next() > to) return;
  look_at_stalls(chip.queue_pair_stalls, chip.period, chip.samples.next() * chip.period);
  chip.changes.clear();
  if (recording_) find_levels(chip, at);
  hold_levels(chip, chip.samples.next());
  pass_sample(chip);
  if (chip.samples.next() <= to) look_further(chip, to);
}

// The later samples of a chip that slept. Those without a change between them are held at once.
void RunRecorder::look_further(Chip& chip, Cycle to) {
  std::ranges::stable_sort(chip.changes, {}, &Chip::Change::at);
  auto change = chip.changes.begin();
  Cycle last = 0;
  for (; chip.samples.next() <= to; pass_sample(chip)) {
    const Cycle sample = chip.samples.next();
    if (change != chip.changes.end() && change->at <= sample) hold_levels(chip, last);
    for (; change != chip.changes.end() && change->at <= sample; ++change)
      chip.levels[change->watched] += u64(std::int64_t(change->by));
    last = sample;
    if (chip.samples.ends_bucket()) hold_levels(chip, sample);
  }
  hold_levels(chip, last);
}

void RunRecorder::pass_sample(Chip& chip) {
  if (chip.samples.ends_bucket()) part_of_bucket(chip, chip.samples.bucket_end());
  chip.samples.advance();
}

// Adds what was held and counted since the end of the last bucket, or the begin of this part of the
// run.
void RunRecorder::part_of_bucket(Chip& chip, u64 to) {
  const u64 from = std::min(std::exchange(chip.counted_until, to), to);
  end_levels(chip, from, to);
  for (Chip::Engine& engine : chip.engines) {
    const Cycle worked = engine.engines->worked(engine.index);
    const Cycle more = worked - std::exchange(engine.worked, worked);
    if (more) use(engine.resource, from, to, double(more * chip.period));
  }
  for (Chip::Pace& pace : chip.paces) {
    const u64 items = std::exchange(pace.items, 0);
    if (items) use(pace.resource, from, to, double(items * pace.interval * chip.period));
  }
  for (Chip::Counted& counted : chip.counted) {
    const u64 more = *counted.count - std::exchange(counted.seen, *counted.count);
    if (more) use(counted.resource, from, to, double(more * counted.each * chip.period));
  }
  look_at_stalls(chip.stalls, chip.period, to);
  look_at_stalls(chip.queue_pair_stalls, chip.period, to);
}

void RunRecorder::end_levels(Chip& chip, u64 from, u64 to) {
  for (std::size_t w = 0; w < chip.held.size(); ++w) {
    const double held = double(std::exchange(chip.held[w], 0) * chip.period);
    if (held == 0) continue;
    series_.add(chip.level_columns[w], from, to, held);
    if (chip.resources[w] != kNoResource) use(chip.resources[w], from, to, held);
  }
  for (std::size_t b = 0; b < chip.worked.size(); ++b) {
    const u64 worked = std::exchange(chip.worked[b], 0) * chip.period;
    if (!worked) continue;
    series_.add(chip.block_columns[b], from, to, double(worked));
    chip.waited[b] += worked;
  }
}
}  // namespace hca::testbench
