// SPDX-License-Identifier: Apache-2.0
// Calls stand-ins for units of a port's two segments.
#include <cstring>
#include <stdexcept>

#include "model/blocks/port/port.h"

namespace hca::blocks {
using namespace proto;

namespace {
bool has_vlan(const FrameShape& shape) {
  return !is_native(shape.framing) && shape.network_offset != bytes_of<Ethernet>();
}
u16 ip_id_of(const u8* frame, const FrameShape& shape) {
  return shape.framing == Framing::RoceV2Ip4 ? decode<Ipv4>(frame + shape.network_offset).id : 0;
}

// Makes the descriptor for the packetizer from the frame's contents; the frame is built again.
u32 packetize(StandIn<PacketizerItem>& packetizer, u8* frame, const FrameShape& shape) {
  ParsedPacket packet;
  const u32 bytes = shape.icrc_offset + crc_bytes(shape.framing);
  if (parse({frame, bytes}, framing_row(shape.framing).link, packet) != PacketVerdict::Good)
    throw std::logic_error("a packet that is sent cannot be parsed");
  const AddressVector address = address_vector(shape.framing, addressing_of(frame, packet));
  const std::vector<u8> payload(frame + packet.payload_offset,
                                frame + packet.payload_offset + packet.payload_bytes);
  PacketizerItem item{.address = &address,
                      .opcode = packet.opcode,
                      .bth = &packet.bth,
                      .ext = &packet,
                      .ip_id = ip_id_of(frame, packet),
                      .payload = payload.data(),
                      .payload_bytes = packet.payload_bytes,
                      .frame = frame};
  packetizer.process(item);
  return item.bytes;
}

// The parser has removed headers and payload from the frame; the next blocks read them there.
void put_back(const ParsedFrame& from, Packet& p) {
  p.parsed = from.packet;
  if (!from.packet.opcode) return;
  std::memcpy(p.frame() + from.packet.payload_offset, &from.whole[from.packet.payload_offset],
              from.packet.payload_bytes);
}
}  // namespace

[[gnu::cold]] u32 PortTransmit::finish_by(const PortStandIns& who, Packet& p) {
  const FrameShape& s = p.shape;
  std::memset(p.payload() + s.payload_bytes, 0, pad_of(s.payload_bytes));
  IcrcItem item{.frame = p.frame(),
                .bytes = s.icrc_offset,
                .mode = IcrcMode::Generate,
                .framing = s.framing,
                .vlan = has_vlan(s)};
  if (who.packetizer) item.bytes = packetize(*who.packetizer, p.frame(), s);
  who.icrc_out ? who.icrc_out->process(item) : item.process();
  return item.bytes;
}

[[gnu::cold]] PacketVerdict PortReceive::check_by(const PortStandIns& who, Packet& p,
                                                  LinkLayer link) {
  const std::span<const u8> frame{p.frame(), p.frame_bytes};
  const PacketVerdict form = parse(frame, link, p.parsed);
  IcrcItem crcs;
  if (form == PacketVerdict::Good || form == PacketVerdict::ReservedOpcode) {
    crcs = {.frame = p.frame(),
            .bytes = p.parsed.icrc_offset + crc_bytes(p.parsed.framing),
            .mode = IcrcMode::Check,
            .framing = p.parsed.framing,
            .vlan = has_vlan(p.parsed)};
    who.icrc_in ? who.icrc_in->process(crcs) : crcs.process();
  }
  const FrameCrcs good{crcs.icrc_ok, crcs.vcrc_ok};
  if (!who.rx_parser) return check_frame(frame, link, good, p.parsed);
  ParsedFrame parsed;
  RxParserItem item{frame, link, good, &parsed};
  who.rx_parser->process(item);
  const bool reserved = parsed.verdict == PacketVerdict::ReservedOpcode;
  if (parsed.verdict == PacketVerdict::Good || reserved) put_back(parsed, p);
  return reserved ? PacketVerdict::Good : parsed.verdict;
}
}  // namespace hca::blocks
