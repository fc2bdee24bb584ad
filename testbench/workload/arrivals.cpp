// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/arrivals.h"

#include <bit>

namespace hca::testbench {
using engine::u128;

namespace {
constexpr unsigned kFraction = 32;
constexpr u64 kLn2 = 2'977'044'471;  // ln 2 in units of 2^-32, rounded down

// log2(u) in units of 2^-32: the place of its first bit, then one bit of the fraction for each
// squaring of the mantissa.
u64 log2_of(u64 u) {
  const unsigned whole = unsigned(std::bit_width(u)) - 1;
  u64 mantissa = u << (63 - whole);  // 1 <= mantissa / 2^63 < 2
  u64 result = whole;
  for (unsigned i = 0; i < kFraction; ++i) {
    const u128 square = u128{mantissa} * mantissa >> 63;
    const bool carries = square >> 64;
    mantissa = u64(carries ? square >> 1 : square);
    result = result << 1 | u64(carries);
  }
  return result;
}
}  // namespace

u64 minus_log(u64 u) {
  const u64 distance = (u64{64} << kFraction) - log2_of(u);
  return u64(u128{distance} * kLn2 >> kFraction);
}

void Arrivals::advance(u128 picoseconds, u64 per) {
  if (exponential_) {
    const u64 u = random_();
    next_ += u64((picoseconds * minus_log(u ? u : 1) >> kFraction) / per);
    return;
  }
  const u128 all = picoseconds + left_;
  next_ += u64(all / per);
  left_ = all % per;
}
}  // namespace hca::testbench
