// SPDX-License-Identifier: Apache-2.0
// The rules of the extended operations (extended_opcodes.h): the memory that a packet names, and
// the agreement of its EOETH with its RETH and with the message in progress.
#pragma once
#include "model/proto/transport/qp.h"

namespace hca::proto::extended {
// The rest of its memory, from Offset on; only good_range() makes it meaningful.
inline u64 va_at_offset(const ParsedPacket& packet) { return packet.reth.va + packet.eoeth.offset; }
inline u32 bytes_after_offset(const ParsedPacket& packet) {
  return packet.reth.dma_len - packet.eoeth.offset;
}
// EXT-4, EXT-5: a GET returns all of its memory, less what it returned already.
inline bool good_range(const ParsedPacket& packet) {
  if (packet.opcode->is_class()) return false;  // it names no memory
  return packet.eoeth.response_length == packet.reth.dma_len &&
         packet.eoeth.offset <= packet.reth.dma_len;
}
// A new GET: none of it is executed.
inline bool bad_new_get(const ParsedPacket& packet, const TransportOptions& options) {
  const bool resumes = packet.eoeth.offset && options.new_get_offset == NewGetOffset::Refuse;
  return !good_range(packet) || resumes;
}
inline bool bad_put_response(const ParsedPacket& packet, const TransportOptions& options) {
  return packet.eoeth.response_length && options.put_response_length == PutResponseLength::Refuse;
}
// A later packet of a PUT whose Offset, DMALen or memory are not those of the message in progress.
inline bool leaves_message(const ParsedPacket& packet, const ReceiveState& s,
                           const TransportOptions& options) {
  if (packet.opcode->operation != Operation::Put || begins_message(packet.opcode->position))
    return false;
  if (bytes_after_offset(packet) != s.write_left) return true;
  const bool same = va_at_offset(packet) == s.write_va && packet.reth.rkey == s.write_rkey;
  return !same && options.put_change == PutChange::Refuse;
}
}  // namespace hca::proto::extended
