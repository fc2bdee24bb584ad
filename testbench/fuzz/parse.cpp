// SPDX-License-Identifier: Apache-2.0
// Any byte sequence given to the parser as a frame: a verdict, never a read past the end
// (AddressSanitizer watches the exact-size copy), and a Good packet whose parts lie inside the
// frame and survive decode and encode.
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "model/proto/wire/form_rules.h"

using namespace hca;
using namespace hca::proto;

namespace {
void require(bool holds) {
  if (!holds) std::abort();
}

void check(const std::vector<u8>& frame, LinkLayer link) {
  ParsedPacket packet;
  const PacketVerdict verdict = parse(frame, link, packet);
  require(!verdict_row(verdict).name.empty());
  // A dissection executes every operation: it names what is wrong with an optional one (BTH-4).
  const bool reserved = verdict == PacketVerdict::ReservedOpcode;
  const Dissection dissection = dissect(frame, link);
  require(dissection.structure == (reserved ? form_if_executed(packet) : verdict));
  for (const HeaderPlace& place : dissection)
    require(place.offset + place.header->bytes <= frame.size());
  const std::size_t broken = broken_rules(frame, dissection).size();
  if (verdict != PacketVerdict::Good && !verdict_row(verdict).is_foreign) require(broken > 0);
  if (verdict != PacketVerdict::Good) return;
  require(packet.opcode != nullptr && packet.bth.opcode == packet.opcode->code);
  require(packet.network_offset <= packet.transport_offset);
  require(packet.transport_offset + bytes_of<Bth>() + 4u <= frame.size());
  require(packet.icrc_offset + 4u <= frame.size());
  require(packet.payload_offset + packet.payload_bytes + packet.bth.pad_count ==
          packet.icrc_offset);

  addressing_of(frame.data(), packet);

  std::vector<u8> bth(bytes_of<Bth>());
  encode(packet.bth, bth.data());
  require(decode<Bth>(bth.data()).psn == packet.bth.psn);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<u8> frame(data + 1, data + size);
  check(frame, data[0] & 1 ? LinkLayer::Ethernet : LinkLayer::InfiniBand);
  return 0;
}
