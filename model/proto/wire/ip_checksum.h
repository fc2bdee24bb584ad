// SPDX-License-Identifier: Apache-2.0
// The checksum of IP headers, RFC 1071: the ones' complement of the ones' complement sum of 16-bit
// words.
#pragma once
#include <cstring>

#include "model/proto/wire/link_headers.h"

namespace hca::proto {
// Folds the carries of a sum of words into its low 16 bits.
constexpr u16 folded(u32 sum) {
  sum = (sum & 0xFFFF) + (sum >> 16);
  return u16((sum & 0xFFFF) + (sum >> 16));
}
constexpr u16 folded(u64 sum) {
  sum = (sum & 0xFFFFFFFF) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return folded(u32(sum));
}

// The sum of big-endian words; an odd last byte counts as if a zero followed.
constexpr u64 sum_of_words(const u8* p, std::size_t size) {
  u64 sum = 0;
  for (; size >= 2; size -= 2, p += 2) sum += load_be<2>(p);
  return size ? sum + (u64{*p} << 8) : sum;
}

inline bool ipv4_checksum_good(const u8* ip) {
  u64 sum = 0;
  for (unsigned at = 0; at < bytes_of<Ipv4>(); at += 4) {
    u32 words;  // the sum of byte-swapped words is the byte-swapped sum
    std::memcpy(&words, ip + at, 4);
    sum += words;
  }
  return folded(sum) == 0xFFFF;
}

// The checksum after one word of the header has changed, RFC 1624.
constexpr u16 checksum_after(u16 checksum, u16 old_word, u16 new_word) {
  return u16(~folded(u32{u16(~checksum)} + u16(~old_word) + new_word));
}
}  // namespace hca::proto
