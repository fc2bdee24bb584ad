// SPDX-License-Identifier: Apache-2.0
// L_Keys and R_Keys: an index of 24 bits and a key byte of 8; Q_Keys of 32 bits.
#pragma once
#include "model/proto/types.h"

namespace hca::proto {

constexpr u32 key_index(u32 key) { return key >> 8; }
constexpr u8 key_byte(u32 key) { return u8(key); }
constexpr u32 make_key(u32 index, u8 byte) { return index << 8 | byte; }

// QP 0 and QP 1: subnet management and general services (QPS-1).
inline constexpr u32 kQp0 = 0, kQp1 = 1;
inline constexpr u8 kQp0Lane = 15;
inline constexpr u32 kQp1Qkey = 0x80010000;
inline constexpr u32 kMulticastQp = 0xFFFFFF;

constexpr bool qkey_is_controlled(u32 qkey) { return qkey >> 31; }
// G15.2: a work request with a controlled Q_Key sends the Q_Key of its queue pair.
constexpr u32 qkey_to_send(u32 wr_qkey, u32 qp_qkey) {
  return qkey_is_controlled(wr_qkey) ? qp_qkey : wr_qkey;
}

}  // namespace hca::proto
