// SPDX-License-Identifier: Apache-2.0
#include "testbench/bench/functional_limit.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "model/proto/wire/crc.h"
#include "model/proto/wire/framing.h"
#include "testbench/bench/processor_time.h"

namespace hca::bench {
FunctionalLimit::FunctionalLimit(u32 mtu)
    : mtu_(mtu),
      lines_((kWorkingSet + kGapBytes + kHeaderBytes + mtu + proto::kIcrcBytes) / sizeof(Line) + 1),
      contexts_(16) {
  std::memset(lines_.data(), 0x5a, kWorkingSet);
}

void FunctionalLimit::packet() {
  const u32 slots = kWorkingSet / 2 / mtu_, slot = at_ % slots;
  Context& context = contexts_[at_ % contexts_.size()];
  u8* const memory = reinterpret_cast<u8*>(lines_.data());
  u8* const frame = memory + kWorkingSet + kGapBytes;
  u8* const crc = frame + kHeaderBytes + mtu_;
  ++at_;
  std::memcpy(frame, &context, kHeaderBytes);
  std::memcpy(frame + kHeaderBytes, memory + u64{slot} * mtu_, mtu_);
  const u32 sent = proto::crc32(0, frame, kHeaderBytes + mtu_);
  std::memcpy(crc, &sent, sizeof sent);
  benchmark::ClobberMemory();
  u32 received;
  std::memcpy(&received, crc, sizeof received);
  if (received != proto::crc32(0, frame, kHeaderBytes + mtu_)) std::abort();
  ++context.psn;
  context.bytes += mtu_;
  ++context.messages;
  std::memcpy(memory + kWorkingSet / 2 + u64{slot} * mtu_, frame + kHeaderBytes, mtu_);
  benchmark::ClobberMemory();
}

double FunctionalLimit::stretch() {
  constexpr int kBatch = 5000;
  const double start = processor_seconds();
  double spent = 0;
  int packets = 0;
  for (; spent < kStretch; packets += kBatch) {
    for (int i = 0; i < kBatch; ++i) packet();
    spent = processor_seconds() - start;
  }
  return spent / packets;
}

double FunctionalLimit::seconds_per_packet(u32 mtu) {
  static std::map<u32, double> known;
  if (const auto found = known.find(mtu); found != known.end()) return found->second;
  FunctionalLimit limit(mtu);
  double best = limit.stretch();
  for (int more = 19; more; --more) best = std::min(best, limit.stretch());
  return known[mtu] = best;
}

namespace {
void functional_limit(benchmark::State& state) {
  FunctionalLimit limit(u32(state.range(0)));
  for (auto _ : state) limit.packet();
  state.counters["packets_per_s"] =
      benchmark::Counter(double(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(functional_limit)->Name("f")->Arg(256)->Arg(4096);
}  // namespace
}  // namespace hca::bench
