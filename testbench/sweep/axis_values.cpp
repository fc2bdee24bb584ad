// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/axis_values.h"

#include <algorithm>
#include <bit>

namespace hca::testbench {
namespace {
using engine::u128;
constexpr unsigned kPoint = 62;  // of numbers in [1, 4)

constexpr u64 square_root(u128 x) {
  u64 root = 0;
  for (u64 bit = u64{1} << 63; bit; bit >>= 1)
    if (const u64 next = root | bit; u128{next} * next <= x) root = next;
  return root;
}
// 2 to the power of 1/2, 1/4, 1/8 ...
constexpr std::array<u64, kLogarithmBits> roots_of_2() {
  std::array<u64, kLogarithmBits> roots{};
  u64 last = u64{2} << kPoint;
  for (u64& root : roots) root = last = square_root(u128{last} << kPoint);
  return roots;
}
constexpr std::array kRoots = roots_of_2();
}  // namespace

std::vector<u64> stepped(u64 from, u64 to, u64 step, std::size_t at_most) {
  std::vector<u64> values;
  for (u128 value = from; value <= to && values.size() < at_most; value += step)
    values.push_back(u64(value));
  return values;
}

std::vector<u64> multiplied(u64 from, u64 to, Factor factor, std::size_t at_most) {
  std::vector<u64> values;
  for (u128 value = from; value <= to && values.size() < at_most;) {
    values.push_back(u64(value));
    value = value * factor.numerator / factor.denominator;
    if (value <= values.back()) break;
  }
  return values;
}

u64 logarithm_2(u64 x) {
  const unsigned whole = unsigned(std::bit_width(x)) - 1;
  u128 rest = u128{x} << (63 - whole);  // in [1, 2), the point after bit 63
  u64 part = 0;
  for (unsigned i = 0; i < kLogarithmBits; ++i) {
    rest = rest * rest >> 63;
    const bool carry = rest >> 64 != 0;
    part = part << 1 | u64(carry);
    if (carry) rest >>= 1;
  }
  return u64{whole} << kLogarithmBits | part;
}

u64 exponential_2(u64 logarithm) {
  u128 product = u128{1} << kPoint;
  for (unsigned i = 0; i < kLogarithmBits; ++i)
    if (logarithm >> (kLogarithmBits - 1 - i) & 1) product = product * kRoots[i] >> kPoint;
  return u64(product << (logarithm >> kLogarithmBits) >> kPoint);
}

u64 drawn(engine::Random& random, u64 from, u64 to, Scale scale) {
  if (scale == Scale::Uniform) return from + random.below(to - from + 1);
  const u64 low = logarithm_2(from), high = logarithm_2(to + 1);
  return std::clamp(exponential_2(low + random.below(std::max(high - low, u64{1}))), from, to);
}
}  // namespace hca::testbench
