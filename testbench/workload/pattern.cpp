// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/pattern.h"

#include <algorithm>
#include <cstring>

#include "model/engine/random.h"

namespace hca::testbench {
namespace {
constexpr u64 kWord = 8, kBlock = 512;
constexpr u64 kFactor = 0x9e3779b97f4a7c15;

u64 first_word(u64 seed, u64 message) {
  u64 state = seed ^ message * 0xd1342543de82ef95;
  return engine::split_mix(state);
}
// Words [word, word + kBlock / kWord) of the payload.
void make_block(u64 base, u64 word, u64* out) {
  for (u64 i = 0; i < kBlock / kWord; ++i) {
    const u64 mixed = (base + word + i) * kFactor;
    out[i] = mixed ^ mixed >> 32;
  }
}
}  // namespace

void write_pattern(tlm_::HostMemory& memory, u64 address, u64 bytes, u64 seed, u64 message) {
  const u64 base = first_word(seed, message);
  u64 block[kBlock / kWord];
  for (u64 at = 0; at < bytes; at += kBlock) {
    make_block(base, at / kWord, block);
    memory.write(address + at, block, std::min(kBlock, bytes - at));
  }
}

std::optional<Mismatch> check_pattern(const tlm_::HostMemory& memory, u64 address, u64 bytes,
                                      u64 seed, u64 message) {
  const u64 base = first_word(seed, message);
  u64 expected[kBlock / kWord];
  u8 found[kBlock];
  for (u64 at = 0; at < bytes; at += kBlock) {
    const u64 part = std::min(kBlock, bytes - at);
    make_block(base, at / kWord, expected);
    memory.read(address + at, found, part);
    if (!std::memcmp(expected, found, part)) continue;
    const u8* want = reinterpret_cast<const u8*>(expected);
    u64 i = 0;
    while (want[i] == found[i]) ++i;
    return Mismatch{at + i, want[i], found[i]};
  }
  return std::nullopt;
}
}  // namespace hca::testbench
