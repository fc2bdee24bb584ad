// SPDX-License-Identifier: Apache-2.0
// Parses frames. Each step checks that its header is there before it reads it.
#include <algorithm>
#include <cstring>

#include "model/proto/wire/ip_checksum.h"
#include "model/proto/wire/packet.h"
#include "model/proto/wire/parse_at.h"

namespace hca::proto {
namespace {

using enum PacketVerdict;

template <class H>
void take(H& header, const u8*& at) {
  decode_to(at, header);
  at += bytes_of<H>();
}

void take_ext(Ext ext, const u8*& at, ExtHeaders& out) {
  with_ext(ext, [&](auto member) { take(out.*member, at); });
}

// A packet of a functional class: its Extended OpCode gives its headers, and they its position.
[[gnu::noinline]] PacketVerdict parse_extended(const FrameView& frame, u32 offset, u32 bytes,
                                               ParsedPacket& out) {
  const OpcodeRow& of_class = *out.opcode;
  out.opcode = nullptr;
  if (transport_form(of_class, out.bth.pad_count, bytes) != Good) return ReservedOpcode;
  const u8* const headers = frame.data() + offset + bytes_of<Bth>();
  const u8* at = headers;
  of_class.ext.for_each([&](Ext ext) { take_ext(ext, at, out); });
  const OpcodeRow& row = row_or_class(of_class, out.eoeth.extended_opcode);
  if (transport_form(row, out.bth.pad_count, bytes) != Good) return ReservedOpcode;
  const u32 before = bytes_of<Bth>() + row.ext_bytes;
  if (frame.held().size() < offset + before) return ReservedOpcode;  // a damaged one that is cut
  out.payload_offset = u16(offset + before);
  out.payload_bytes = bytes - before - kIcrcBytes - out.bth.pad_count;
  at = headers;
  row.ext.for_each([&](Ext ext) { take_ext(ext, at, out); });
  out.opcode = &row_at_offset(row, out.eoeth, out.reth, out.payload_bytes);
  return Good;
}

// `bytes`: from the BTH to the end of the ICRC.
[[gnu::always_inline]] inline PacketVerdict parse_transport(const FrameView& frame, u32 offset,
                                                            u32 bytes, ParsedPacket& out) {
  if (bytes < bytes_of<Bth>() + kIcrcBytes) return Truncated;
  out.transport_offset = u16(offset);
  out.icrc_offset = offset + bytes - kIcrcBytes;
  decode_to(frame.data() + offset, out.bth);
  if (out.bth.tver != 0) [[unlikely]]
    return BadTver;
  out.opcode = opcode_row(out.bth.opcode);
  if (out.opcode == nullptr) [[unlikely]]
    return ReservedOpcode;
  if (out.opcode->is_class()) [[unlikely]]
    return parse_extended(frame, offset, bytes, out);

  const u32 headers = bytes_of<Bth>() + out.opcode->ext_bytes;
  const PacketVerdict form = transport_form(*out.opcode, out.bth.pad_count, bytes);
  if (form != Good) [[unlikely]] {
    if (!out.opcode->traits().extended) return form;
    out.opcode = nullptr;
    return ReservedOpcode;  // form_if_executed()
  }
  out.payload_offset = u16(offset + headers);
  out.payload_bytes = bytes - headers - kIcrcBytes - out.bth.pad_count;

  const u8* at = frame.data() + offset + bytes_of<Bth>();
  out.opcode->ext.for_each([&](Ext ext) { take_ext(ext, at, out); });
  return Good;
}

// `addresses` are the two addresses of the IP header, `udp` the UDP header with `length` bytes.
bool udp_checksum_good(std::span<const u8> addresses, const u8* udp, u32 length) {
  return folded(sum_of_words(addresses.data(), addresses.size()) + kIpProtocolUdp + length +
                sum_of_words(udp, length)) == 0xFFFF;
}

PacketVerdict parse_udp(const FrameView& frame, u32 offset, u32 bytes,
                        std::span<const u8> addresses, ParsedPacket& out) {
  if (bytes < bytes_of<Udp>()) return Truncated;
  const u8* const at = frame.data() + offset;
  const Udp udp = decode<Udp>(at);
  if (udp.destination_port != kRoceUdpPort) [[unlikely]]
    return BadUdpPort;
  if (udp.length != bytes) [[unlikely]]
    return BadLength;
  if (udp.checksum != 0 && !frame.is_cut() && !udp_checksum_good(addresses, at, bytes)) [[unlikely]]
    return BadUdpChecksum;
  return parse_transport(frame, offset + bytes_of<Udp>(), bytes - bytes_of<Udp>(), out);
}

PacketVerdict parse_ipv4(const FrameView& frame, u32 offset, ParsedPacket& out) {
  const u32 available = frame.size() - offset;
  if (available < bytes_of<Ipv4>()) return Truncated;
  const u8* const at = frame.data() + offset;
  const Ipv4 ip = decode<Ipv4>(at);
  if (ip.version != kIpVersion4) [[unlikely]]
    return BadIpVersion;
  if (ip.header_words != kIpv4HeaderWords) [[unlikely]]
    return BadIpHeaderLength;
  if (!ipv4_checksum_good(at)) [[unlikely]]
    return BadIpChecksum;
  if (ip.total_length < bytes_of<Ipv4>()) [[unlikely]]
    return BadLength;
  if (ip.total_length > available) [[unlikely]]
    return Truncated;
  if (ip.more_fragments || ip.fragment_offset != 0) [[unlikely]]
    return Fragment;
  if (ip.protocol != kIpProtocolUdp) [[unlikely]]
    return NotUdp;
  out.framing = Framing::RoceV2Ip4;
  return parse_udp(frame, offset + bytes_of<Ipv4>(), ip.total_length - bytes_of<Ipv4>(),
                   {at + 12, 8}, out);
}

PacketVerdict parse_ipv6(const FrameView& frame, u32 offset, ParsedPacket& out) {
  const u32 available = frame.size() - offset;
  if (available < bytes_of<Ipv6>()) return Truncated;
  const u8* const at = frame.data() + offset;
  const Ipv6 ip = decode<Ipv6>(at);
  if (ip.version != kIpVersion6) [[unlikely]]
    return BadIpVersion;
  if (ip.payload_length > available - bytes_of<Ipv6>()) [[unlikely]]
    return Truncated;
  if (ip.next_header != kIpProtocolUdp) [[unlikely]]
    return NotUdp;
  out.framing = Framing::RoceV2Ip6;
  return parse_udp(frame, offset + bytes_of<Ipv6>(), ip.payload_length, {at + 8, 32}, out);
}

// Parses a GRH and the BTH after it. `available`: bytes from the GRH to the ICRC, at least.
PacketVerdict parse_grh(const FrameView& frame, u32 offset, u32 available, bool exact,
                        ParsedPacket& out) {
  if (available < bytes_of<Grh>()) return Truncated;
  const Grh grh = decode<Grh>(frame.data() + offset);
  if (grh.ip_ver != kIpVersion6) [[unlikely]]
    return BadIpVersion;
  if (grh.nxt_hdr != kNextHeaderIba) [[unlikely]]
    return BadNextHeader;
  if (grh.pay_len > available - bytes_of<Grh>()) [[unlikely]]
    return exact ? BadLength : Truncated;
  if (exact && grh.pay_len != available - bytes_of<Grh>()) [[unlikely]]
    return BadLength;
  return parse_transport(frame, offset + bytes_of<Grh>(), grh.pay_len, out);
}

PacketVerdict parse_native(const FrameView& frame, ParsedPacket& out) {
  if (frame.size() < bytes_of<Lrh>()) return Truncated;
  const Lrh lrh = decode<Lrh>(frame.data());
  if (lrh.lver != 0) [[unlikely]]
    return BadLver;
  const u32 bytes = 4u * lrh.pkt_len;  // LRH to ICRC
  if (bytes + kVcrcBytes > frame.size()) return Truncated;
  if (bytes + kVcrcBytes != frame.size() || bytes < bytes_of<Lrh>()) return BadLength;
  const u32 behind = bytes - bytes_of<Lrh>();
  if (lrh.lnh == kLnhLocal) {
    out.framing = Framing::IbLocal;
    out.network_offset = 0;
    return parse_transport(frame, bytes_of<Lrh>(), behind, out);
  }
  if (lrh.lnh != kLnhGlobal) return RawPacket;
  out.framing = Framing::IbGlobal;
  out.network_offset = bytes_of<Lrh>();
  return parse_grh(frame, bytes_of<Lrh>(), behind, true, out);
}

PacketVerdict parse_ethernet(const FrameView& frame, ParsedPacket& out) {
  u32 offset = bytes_of<Ethernet>();
  if (frame.size() < offset) return Truncated;
  u64 type = load_be<2>(frame.data() + offset - 2);
  if (type == kEtherTypeVlan) {
    offset += bytes_of<Vlan>();
    if (frame.size() < offset) return Truncated;
    type = load_be<2>(frame.data() + offset - 2);
  }
  out.network_offset = u16(offset);
  if (type == kEtherTypeIpv4) return parse_ipv4(frame, offset, out);
  if (type == kEtherTypeIpv6) return parse_ipv6(frame, offset, out);
  if (type != kEtherTypeRoce) return UnknownEtherType;
  out.framing = Framing::RoceV1;
  return parse_grh(frame, offset, frame.size() - offset, false, out);
}

}  // namespace

PacketVerdict parse(const FrameView& frame, LinkLayer link, ParsedPacket& out) {
  return link == LinkLayer::Ethernet ? parse_ethernet(frame, out) : parse_native(frame, out);
}

PacketVerdict parse_at(const FrameView& frame, Layer layer, u32 offset, ParsedPacket& out) {
  const u32 available = frame.size() - offset;
  out.network_offset = u16(offset);
  out.framing = Framing::RoceV2Ip4;
  switch (layer) {
    case Layer::Lrh:
      return parse_native(frame, out);
    case Layer::Ipv4:
      return parse_ipv4(frame, offset, out);
    case Layer::Ipv6:
      return parse_ipv6(frame, offset, out);
    case Layer::Grh:
      out.framing = Framing::RoceV1;
      return parse_grh(frame, offset, available, false, out);
    case Layer::Udp: {
      if (available < bytes_of<Udp>()) return Truncated;
      const u32 length = decode<Udp>(frame.data() + offset).length;
      if (length > available) return Truncated;
      if (length < bytes_of<Udp>()) return BadLength;
      return parse_transport(frame, offset + bytes_of<Udp>(), length - bytes_of<Udp>(), out);
    }
    case Layer::Bth:
      return parse_transport(frame, offset, available, out);
    default:
      return UnknownEtherType;
  }
}

namespace {
// The usual size of a path is compared without a call.
bool is_same(const u8* head, const u8* frame, u32 bytes) {
  constexpr u32 usual = bytes_of<Ethernet>() + bytes_of<Ipv4>() + bytes_of<Udp>();
  return bytes == usual ? !std::memcmp(head, frame, usual) : !std::memcmp(head, frame, bytes);
}
}  // namespace

[[gnu::hot]] PacketVerdict parse(const FrameView& frame, LinkLayer link, KnownNetwork& known,
                                 ParsedPacket& out) {
  known.matched = frame.size() == known.frame_bytes && link == known.link &&
                  is_same(known.head.data(), frame.data(), known.transport_offset);
  if (!known.matched) [[unlikely]]
    return parse(frame, link, out);
  out.framing = known.framing;
  out.network_offset = known.network_offset;
  return parse_transport(frame, known.transport_offset, known.transport_bytes, out);
}

}  // namespace hca::proto
