// SPDX-License-Identifier: Apache-2.0
// The memory of the responder that a request names, and the rights that it needs.
#pragma once
#include "model/proto/transport/extended_rules.h"

namespace hca::proto {
// The R_Key that a request is checked by, 0 if it has none. The memory of a message is that of its
// first packet.
inline u32 remote_key(const ParsedPacket& packet) {
  if (!packet.opcode || !begins_message(packet.opcode->position)) return 0;
  if (packet.has(Ext::Reth)) return packet.reth.rkey;
  return packet.has(Ext::AtomicEth) ? packet.atomic_eth.rkey : 0;
}

// The memory that the request names by that key.
struct RemoteBytes {
  u64 va = 0, bytes = 0;
};
inline RemoteBytes remote_bytes(const ParsedPacket& packet) {
  if (packet.opcode->is_class()) return {};  // an unknown Extended OpCode
  if (packet.has(Ext::Eoeth))
    return {extended::va_at_offset(packet), extended::bytes_after_offset(packet)};
  if (packet.has(Ext::Reth)) return {packet.reth.va, packet.reth.dma_len};
  return {packet.atomic_eth.va, kAtomicBytes};
}

// The rights that the request needs of its queue pair and of its key (G31.1, G22.2); a FLUSH needs
// those of its placement types.
inline Rights needed_rights(const ParsedPacket& packet) {
  const Rights needed = packet.opcode->traits().needed_access;
  if (!packet.has(Ext::Feth)) return needed;
  const Rights global = packet.feth.placement_type & kPlaceGlobal ? kFlushGlobal : 0;
  const Rights persistent = packet.feth.placement_type & kPlacePersistent ? kFlushPersistent : 0;
  return needed & (global | persistent);
}
// A FLUSH of the whole memory of its key: its address and length are ignored.
inline bool names_whole_region(const ParsedPacket& packet) {
  return packet.has(Ext::Feth) && packet.feth.selectivity == kFlushRegion;
}
}  // namespace hca::proto
