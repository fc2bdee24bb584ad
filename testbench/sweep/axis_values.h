// SPDX-License-Identifier: Apache-2.0
// The numbers of an axis, in whole units of its knob. Only integers, so they are the same on every
// machine.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "model/engine/random.h"

namespace hca::testbench {
// from, from + step, ... up to `to`, which is included if it is hit exactly. step > 0.
std::vector<u64> stepped(u64 from, u64 to, u64 step, std::size_t at_most);

// A factor above 1 as a fraction: 1.25 is 5 / 4, or 125 / 100.
struct Factor {
  u64 numerator = 2, denominator = 1;
};
// Starts with `from`; each further number is the previous one times the factor, rounded down, up to
// `to`. Ends early if the factor no longer increases the number.
std::vector<u64> multiplied(u64 from, u64 to, Factor factor, std::size_t at_most);

// Logarithms of base 2 in units of 2^-40. logarithm_2(x), x >= 1, by repeated squaring, rounded
// down; exponential_2() by a table of square roots, rounded down. exponential_2(logarithm_2(x)) is
// x or slightly less.
inline constexpr unsigned kLogarithmBits = 40;
u64 logarithm_2(u64 x);
u64 exponential_2(u64 logarithm);

enum class Scale : u8 { Uniform, Log };
inline constexpr std::array<std::string_view, 2> kScaleNames{"uniform", "log"};
// A random number in [from, to]. Log: the probability of [a, b] is proportional to log((b + 1) /
// a); from >= 1.
u64 drawn(engine::Random& random, u64 from, u64 to, Scale scale);
}  // namespace hca::testbench
