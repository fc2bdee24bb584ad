// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>

#include "testbench/bench/functional_limit.h"
#include "testbench/bench/processor_time.h"
#include "testbench/bench/rtl/hot_path.h"

namespace hca::bench {
namespace {
using MakePath = std::unique_ptr<HotPath> (*)(const WriteStream&);

// Each packet is executed, and its payload arrives.
bool moved_right(const WriteStream& stream, const HotPath& path) {
  return path.epsn() == proto::psn_add(stream.state.epsn, u32(path.packets())) &&
         std::equal(stream.payload.begin(), stream.payload.end(), path.received().begin());
}

// Seconds a packet, the best of several runs in this process: what ratios are made with.
double seconds_per_packet(MakePath make, u32 payload_bytes) {
  static std::map<std::pair<MakePath, u32>, double> known;
  const auto [at, fresh] = known.try_emplace({make, payload_bytes}, 1.0);
  if (!fresh) return at->second;
  const WriteStream stream(payload_bytes);
  const auto path = make(stream);
  path->run(20);
  for (int run = 0; run < 10; ++run) {
    constexpr int kPackets = 200;
    const double start = processor_seconds();
    path->run(kPackets);
    at->second = std::min(at->second, (processor_seconds() - start) / kPackets);
  }
  return at->second;
}

void hot_path(benchmark::State& state, MakePath make) {
  const u32 payload_bytes = u32(state.range(0));
  const WriteStream stream(payload_bytes);
  const auto path = make(stream);
  path->run(20);  // warm, and a beat in each stage
  const u64 cycles = path->cycles(), packets = path->packets();
  const double start = processor_seconds();
  for (auto _ : state) path->run(10);
  const double spent = processor_seconds() - start;
  const double per_packet = spent / double(path->packets() - packets);
  state.counters["ns_per_packet"] = per_packet * 1e9;
  state.counters["ratio_to_f"] = FunctionalLimit::seconds_per_packet(payload_bytes) / per_packet;
  if (const double run = double(path->cycles() - cycles)) {
    state.counters["cycles_per_packet"] = run / double(path->packets() - packets);
    state.counters["ns_per_cycle"] = spent / run * 1e9;
  }
  state.counters["times_v"] = seconds_per_packet(bare_path, payload_bytes) / per_packet;
  if (!moved_right(stream, *path)) state.SkipWithError("a packet failed or its bytes differ");
}

struct Row {
  const char* name;
  MakePath make;
};
constexpr Row kRows[] = {{"v", bare_path}, {"v_wrapped", wrapped_path}, {"twin", twin_path}};
const bool kRegistered = [] {
  for (const Row& row : kRows)
    benchmark::RegisterBenchmark(row.name, hot_path, row.make)
        ->Unit(benchmark::kMicrosecond)
        ->Arg(256)
        ->Arg(4096);
  return true;
}();
}  // namespace
}  // namespace hca::bench
