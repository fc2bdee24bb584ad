// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/rx_parser_unit.h"

#include <algorithm>

namespace hca::blocks {
namespace {
using namespace proto;

// Offset of the network header of an Ethernet frame, and its EtherType.
struct Network {
  u32 offset = bytes_of<Ethernet>();
  u64 type = 0;
};
Network network_of(std::span<const u8> frame) {
  Network n;
  if (frame.size() < n.offset) return n;
  n.type = load_be<2>(&frame[n.offset - 2]);
  if (n.type != kEtherTypeVlan) return n;
  n.offset += bytes_of<Vlan>();
  n.type = frame.size() < n.offset ? 0 : load_be<2>(&frame[n.offset - 2]);
  return n;
}

// How long the frame is by its headers, all of which are there; 0: they do not say.
u32 announced(std::span<const u8> frame, LinkLayer link) {
  if (link == LinkLayer::InfiniBand) {
    const u32 bytes = 4u * decode<Lrh>(frame.data()).pkt_len;
    return bytes < bytes_of<Lrh>() ? 0 : bytes + kVcrcBytes;
  }
  const Network n = network_of(frame);
  const u8* const at = &frame[n.offset];
  if (n.type == kEtherTypeIpv4) return n.offset + decode<Ipv4>(at).total_length;
  if (n.type == kEtherTypeIpv6)
    return n.offset + bytes_of<Ipv6>() + decode<Ipv6>(at).payload_length;
  return n.offset + bytes_of<Grh>() + decode<Grh>(at).pay_len;
}

// The UDP checksum is judged at the end of the frame.
void clear_udp_checksum(std::vector<u8>& frame) {
  const Network n = network_of(frame);
  const u32 ip = n.type == kEtherTypeIpv4   ? bytes_of<Ipv4>()
                 : n.type == kEtherTypeIpv6 ? bytes_of<Ipv6>()
                                            : 0;
  const u32 end = n.offset + ip + bytes_of<Udp>();
  if (ip && end <= frame.size()) frame[end - 2] = frame[end - 1] = 0;
}
}  // namespace

ParsedFrame parse_frame(std::span<const u8> frame, LinkLayer link, FrameCrcs crcs) {
  ParsedFrame out;
  out.verdict = check_frame(frame, link, crcs, out.packet);
  if (out.verdict == PacketVerdict::Good && !out.packet.opcode)
    out.verdict = PacketVerdict::ReservedOpcode;
  // After its first 128 bytes it has the required length.
  out.whole.assign(frame.begin(), frame.end());
  if (link == LinkLayer::Ethernet) clear_udp_checksum(out.whole);
  if (frame.size() > kMaxHeaderBytes) {
    const u32 bytes = announced(frame, link);
    if (bytes > frame.size() || (link == LinkLayer::InfiniBand && bytes)) out.whole.resize(bytes);
  }
  out.headers = parse(out.whole, link, out.packet);
  if (out.has_rd_headers()) read_rd_headers(out.packet, frame);
  if (out.has_transport()) out.addressing = addressing_of(out.whole.data(), out.packet);
  return out;
}
}  // namespace hca::blocks
