// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/service_time.h"

#include "model/engine/random.h"
#include "testbench/workload/arrivals.h"

namespace hca::testbench {
namespace {
constexpr unsigned kLogBits = 32;  // bits of minus_log()

// Independent of the numbers that choose operation and size.
u64 random_of(const Traffic& t, u32 qp, u64 k) {
  u64 state = t.seed ^ 0x9e6c63d0876a9a47 ^ (u64{qp} << 40 | k) * 0xd1342543de82ef95;
  engine::split_mix(state);
  return engine::split_mix(state);
}
}  // namespace

u64 service_time(const Traffic& t, u32 qp, u64 k) {
  if (t.serve_times.empty() && !t.serve_exponential) return t.serve.picoseconds;
  const u64 random = random_of(t, qp, k);
  if (t.serve_times.empty())
    return u64(engine::u128{t.serve.picoseconds} * minus_log(random ? random : 1) >> kLogBits);
  u64 sum = 0;
  for (const ServeTime& one : t.serve_times) sum += one.weight;
  u64 at = u64(engine::u128{random} * sum >> 64);
  for (const ServeTime& one : t.serve_times) {
    if (at < one.weight) return one.picoseconds;
    at -= one.weight;
  }
  return t.serve_times.back().picoseconds;
}
}  // namespace hca::testbench
