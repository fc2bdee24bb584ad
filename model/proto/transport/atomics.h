// SPDX-License-Identifier: Apache-2.0
// The operations on 8 bytes: ATOMICs and ATOMIC WRITE.
#pragma once
#include "model/proto/wire/packet.h"

namespace hca::proto {
// ATOMIC WRITE: memory gets its payload in the byte order of the packet.
inline AtomicEth atomic_operands(const ParsedPacket& packet, const u8* frame) {
  if (packet.opcode->payload != PayloadRule::Eight) return packet.atomic_eth;
  AtomicEth operands{};
  operands.swap_add = load_le8(frame + packet.payload_offset);
  return operands;
}

// ATOM-7, ATOM-8: the new value after the operation.
inline u64 atomic_result(const OpcodeRow& row, const AtomicEth& a, u64 original) {
  switch (row.traits().change) {
    case Change::Place:
      return a.swap_add;
    case Change::Add:
      return original + a.swap_add;
    case Change::CompareSwap: {
      const bool equal = original == a.compare;
      return equal ? a.swap_add : original;
    }
    case Change::None:
      break;
  }
  return original;
}
}  // namespace hca::proto
