// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/proto/types.h"

namespace hca::proto {
// Caches the ICRC over the covered headers before the BTH. Packets of one size between two queue
// pairs have the same bytes there, except for a counting IPv4 identification and the bits set in
// transit. A hit needs equal bytes.
class NetworkCrcs {
 public:
  struct alignas(64) Entry {
    static constexpr unsigned kMost = 48;  // IPv6 and UDP
    std::array<u8, kMost> headers{};       // as they are in the frame
    u32 crc = 0;
    u8 framing = 0xff;  // none
  };
  // The entry for headers with this key.
  Entry& at(u64 key) { return entries_[key * 0x9e3779b97f4a7c15u >> 60]; }

 private:
  std::array<Entry, 16> entries_;
};
}  // namespace hca::proto
