// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "model/engine/domain.h"

namespace hca::engine::test {
struct Config {
  unsigned chips = 3, items = 60;  // items: per source; a chip has two
  u64 seed = 1;
  u16 max_beats = 1;
  Cycle max_gap = 20, wire_latency = 50, memory_latency = 30;
  unsigned tags = 4, entries = 6, credits = 8;
  Cycle sink_interval = 1;
  unsigned stages = 3;        // server to port: a row of links of latency 1 and depth 2 ...
  bool fused_stages = false;  // ... or one link of that latency and twice that depth
  u64 bits_per_second = 100'000'000'000, hertz = 402'830'000;
  Domain::Options domain;
};

// The results of one run.
struct Run {
  u64 digest = 0, events = 0, ticks = 0;
  Cycle cycles = 0;
  std::string problem;  // empty: all items arrived
};
enum class Way { Quanta, Backwards, Hosts };

// Runs the chips of a configuration to their end. Backwards: the last domain first. Hosts: each
// domain sleeps in a host that is only notified of wake-ups from outside.
Run run_chips(const Config& config, Way way, Cycle quantum);

// Runs the configuration in all ways; returns the first difference, or "". `wanted`: returns the
// plain run, if not nullptr.
std::string first_difference(const Config& config, unsigned shuffles, Run* wanted = nullptr);
}  // namespace hca::engine::test
