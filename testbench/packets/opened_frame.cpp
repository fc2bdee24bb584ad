// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/opened_frame.h"

#include <zlib.h>

#include <algorithm>

namespace hca::testbench {
namespace {

using namespace proto;

// The EtherType of a packet that begins with this layer.
u16 ether_type_of(Layer layer) {
  switch (layer) {
    case Layer::Ipv6:
      return kEtherTypeIpv6;
    case Layer::Grh:
      return kEtherTypeRoce;
    default:
      return kEtherTypeIpv4;
  }
}

// The last tag between the packet's Ethernet header and the packet.
const HeaderPlace* tag_of(const OpenedFrame& opened) {
  const HeaderPlace* tag = nullptr;
  for (const HeaderPlace& place : opened)
    if (place.header->name == Layout<Vlan>::name && place.offset < opened.packet_offset &&
        (!opened.has_ethernet || place.offset > opened.ethernet_offset))
      tag = &place;
  return tag;
}

// The addresses, a tag, and the type of what follows.
std::vector<u8> ethernet_header(std::span<const u8> frame, const OpenedFrame& opened) {
  std::vector<u8> header(bytes_of<Ethernet>());
  if (opened.has_ethernet)
    std::copy_n(frame.begin() + opened.ethernet_offset, header.size(), header.begin());
  if (const HeaderPlace* const tag = tag_of(opened)) {
    store_be<2>(header.data() + header.size() - 2, kEtherTypeVlan);
    header.insert(header.end(), frame.begin() + tag->offset,
                  frame.begin() + tag->offset + bytes_of<Vlan>());
  }
  store_be<2>(header.data() + header.size() - 2, ether_type_of(opened.starts_at));
  return header;
}

}  // namespace

bool fcs_is_good(std::span<const u8> frame) {
  if (frame.size() < bytes_of<Ethernet>() + kFcsBytes) return false;
  const std::size_t covered = frame.size() - kFcsBytes;
  const u32 crc = u32(crc32(crc32(0, nullptr, 0), frame.data(), uInt(covered)));
  return load_be<4>(frame.data() + covered) == __builtin_bswap32(crc);
}

u32 fcs_bytes_of(const CapturedFrame& captured) {
  if (captured.begins != Layer::Ethernet || captured.bytes.size() < captured.bytes_on_wire)
    return 0;
  if (captured.fcs_bytes) return *captured.fcs_bytes;
  return fcs_is_good(captured.bytes) ? kFcsBytes : 0;
}

DeviceFrame device_frame(const CapturedFrame& captured) {
  DeviceFrame out;
  out.other = captured.note;
  if (!out.other.empty()) return out;
  const OpenedFrame opened = open_frame(captured.bytes, captured.begins, captured.bytes_on_wire);
  out.other = opened.other;
  out.is_cut = opened.is_cut;
  out.has_icrc = opened.has_network;
  out.has_ethernet = opened.has_ethernet;
  if (!opened.is_judged()) return out;
  if (!opened.has_network) {
    out.other =
        opened.has_extensions ? "IPv6 with extension headers" : "begins at its UDP header or BTH";
    return out;
  }
  const u32 fcs = std::min<u32>(fcs_bytes_of(captured), u32(captured.bytes.size()));
  const std::span<const u8> frame(captured.bytes.data(), captured.bytes.size() - fcs);
  if (opened.starts_at == Layer::Lrh) {
    out.link = LinkLayer::InfiniBand;
    out.bytes = captured.bytes;
  } else {
    out.bytes = ethernet_header(frame, opened);
    out.bytes.insert(out.bytes.end(), frame.begin() + opened.packet_offset, frame.end());
  }
  const u32 missing = captured.bytes_on_wire > captured.bytes.size()
                          ? captured.bytes_on_wire - u32(captured.bytes.size())
                          : 0;
  out.bytes_on_wire = u32(out.bytes.size()) + missing;
  return out;
}

}  // namespace hca::testbench
