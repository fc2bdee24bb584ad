// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>

#include "model/proto/types.h"

namespace hca::engine {
__extension__ using u128 = unsigned __int128;

// splitmix64: a scrambled counter; generates seeds for Random.
constexpr u64 split_mix(u64& state) {
  u64 z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// xoshiro256**: the same numbers from the same seed on every machine, compiler and library.
class Random {
 public:
  using result_type = u64;
  using State = std::array<u64, 4>;
  constexpr explicit Random(u64 seed) {
    for (u64& word : state_) word = split_mix(seed);
  }
  constexpr explicit Random(const State& state) : state_(state) {}

  constexpr u64 operator()() {
    const u64 result = std::rotl(state_[1] * 5, 7) * 9, t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  // Uniform in [0, n), each value exactly equally likely; n > 0.
  constexpr u64 below(u64 n) {
    const u64 uneven = -n % n;  // 2^64 mod n: this many products are rejected
    for (;;) {
      const u128 product = u128{(*this)()} * n;
      if (u64(product) >= uneven) return u64(product >> 64);
    }
  }
  // True with probability `numerator` / `denominator`.
  constexpr bool chance(u64 numerator, u64 denominator) { return below(denominator) < numerator; }

  static constexpr u64 min() { return 0; }
  static constexpr u64 max() { return ~u64{0}; }

 private:
  State state_{};
};
}  // namespace hca::engine
