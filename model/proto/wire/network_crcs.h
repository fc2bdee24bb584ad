// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/proto/types.h"

namespace hca::proto {
// The ICRC over what it covers in front of the BTH, of frames seen before: packets of one size from
// one queue pair to another have the same bytes there, but for an IPv4 identification that counts
// and what is set on the way. What is kept counts for equal bytes alone.
class NetworkCrcs {
 public:
  struct alignas(64) Entry {
    static constexpr unsigned kMost = 48;  // IPv6 and UDP
    std::array<u8, kMost> headers{};       // as they stand in the frame
    u32 crc = 0;
    u8 framing = 0xff;  // none
  };
  // Where headers with this key are kept.
  Entry& at(u64 key) { return entries_[key * 0x9e3779b97f4a7c15u >> 60]; }

 private:
  std::array<Entry, 16> entries_;
};
}  // namespace hca::proto
