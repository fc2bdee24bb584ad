// SPDX-License-Identifier: Apache-2.0
// Builds packets: a path is encoded once; each packet copies it and patches lengths.
#include "model/proto/wire/ip_checksum.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
namespace {

// Byte offsets of the header fields that are patched in each packet, from the tables.
inline constexpr unsigned kLrhLength = byte_of<Lrh>("PktLen");
inline constexpr unsigned kGrhLength = byte_of<Grh>("PayLen");
inline constexpr unsigned kIpv4Length = byte_of<Ipv4>("TotalLength");
inline constexpr unsigned kIpv4Id = byte_of<Ipv4>("Identification");
inline constexpr unsigned kIpv4Checksum = byte_of<Ipv4>("HeaderChecksum");
inline constexpr unsigned kIpv6Length = byte_of<Ipv6>("PayloadLength");
inline constexpr unsigned kUdpLength = byte_of<Udp>("Length");

template <class H>
void append(Path& path, const H& header) {
  encode(header, path.head.data() + path.bytes);
  path.bytes = u16(path.bytes + bytes_of<H>());
}

void append_ethernet(Path& path, const AddressVector& av, u16 type) {
  append(path, Ethernet{av.destination_mac, av.source_mac, av.has_vlan ? kEtherTypeVlan : type});
  if (av.has_vlan) append(path, Vlan{av.priority, false, av.vlan_id, type});
  path.network_offset = path.bytes;
}

void append_lrh(Path& path, const AddressVector& av, u8 lnh) {
  append(path,
         Lrh{av.virtual_lane, 0, av.service_level, lnh, av.destination_lid, 0, av.source_lid});
}

void append_grh(Path& path, const AddressVector& av) {
  path.network_offset = path.bytes;
  append(path, Grh{kIpVersion6, av.traffic_class, av.flow_label, 0, kNextHeaderIba, av.hop_limit,
                   av.source_gid, av.destination_gid});
}

void append_ipv4(Path& path, const AddressVector& av) {
  const u8* const ip = path.head.data() + path.bytes;
  append(path, Ipv4{kIpVersion4, kIpv4HeaderWords, av.traffic_class, 0, 0, false, true, false, 0,
                    av.hop_limit, kIpProtocolUdp, 0, ipv4_of_gid(av.source_gid),
                    ipv4_of_gid(av.destination_gid)});
  for (unsigned at = 0; at < bytes_of<Ipv4>(); at += 2) path.ipv4_sum += u32(load_be<2>(ip + at));
}

void append_ipv6(Path& path, const AddressVector& av) {
  append(path, Ipv6{kIpVersion6, av.traffic_class, av.flow_label, 0, kIpProtocolUdp, av.hop_limit,
                    av.source_gid, av.destination_gid});
}

void append_udp(Path& path, const AddressVector& av) {
  append(path, Udp{av.udp_source_port, kRoceUdpPort, 0, 0});
}

// `behind`: bytes from the BTH to the ICRC.
void patch_lengths(const Path& path, u32 behind, u8* frame, u16 ip_id) {
  constexpr u32 most = 0xFFFF - bytes_of<Ipv6>() - bytes_of<Udp>();
  if (behind > most) [[unlikely]]
    refuse_value("packet", "length", 16, behind);
  u8* const network = frame + path.network_offset;
  switch (path.framing) {
    case Framing::IbGlobal:
      store_be<2>(network + kGrhLength, behind);
      [[fallthrough]];
    case Framing::IbLocal: {
      const u32 words = (path.bytes + behind) / 4;
      if (words > low_mask(11)) [[unlikely]]
        refuse_value("LRH", "PktLen", 11, words);
      return store_be<2>(frame + kLrhLength, words);
    }
    case Framing::RoceV1:
      return store_be<2>(network + kGrhLength, behind);
    case Framing::RoceV2Ip4: {
      const u32 udp_length = behind + bytes_of<Udp>(), total = udp_length + bytes_of<Ipv4>();
      store_be<2>(network + kIpv4Length, total);
      store_be<2>(network + kIpv4Id, ip_id);
      store_be<2>(network + kIpv4Checksum, u16(~folded(path.ipv4_sum + total + ip_id)));
      return store_be<2>(network + bytes_of<Ipv4>() + kUdpLength, udp_length);
    }
    case Framing::RoceV2Ip6:
      store_be<2>(network + kIpv6Length, behind + bytes_of<Udp>());
      return store_be<2>(network + bytes_of<Ipv6>() + kUdpLength, behind + bytes_of<Udp>());
  }
}

template <class H>
void put(const H& header, u8*& at) {
  encode(header, at);
  at += bytes_of<H>();
}

void put_ext(Ext e, const ExtHeaders& ext, u8*& at) {
  with_ext(e, [&](auto member) { put(ext.*member, at); });
}

// The usual sizes of a path have copies of constant size.
void copy_head(const Path& path, u8* frame) {
  switch (path.bytes) {
    case 42:
      std::memcpy(frame, path.head.data(), 42);
      return;  // Ethernet, IPv4, UDP
    case 46:
      std::memcpy(frame, path.head.data(), 46);
      return;  // Ethernet, VLAN, IPv4, UDP
    default:
      std::memcpy(frame, path.head.data(), path.bytes);
  }
}

}  // namespace

Gid gid_of_ipv4(u32 address) {
  Gid gid{};
  gid.bytes[10] = gid.bytes[11] = 0xFF;
  store_be<4>(gid.bytes.data() + 12, address);
  return gid;
}

u32 ipv4_of_gid(const Gid& gid) { return u32(load_be<4>(gid.bytes.data() + 12)); }

Path make_path(const AddressVector& av) {
  Path path{av.framing, 0, 0, 0, {}};
  switch (av.framing) {
    case Framing::IbLocal:
      append_lrh(path, av, kLnhLocal);
      break;
    case Framing::IbGlobal:
      append_lrh(path, av, kLnhGlobal);
      append_grh(path, av);
      break;
    case Framing::RoceV1:
      append_ethernet(path, av, kEtherTypeRoce);
      append_grh(path, av);
      break;
    case Framing::RoceV2Ip4:
      append_ethernet(path, av, kEtherTypeIpv4);
      append_ipv4(path, av);
      append_udp(path, av);
      break;
    case Framing::RoceV2Ip6:
      append_ethernet(path, av, kEtherTypeIpv6);
      append_ipv6(path, av);
      append_udp(path, av);
      break;
  }
  return path;
}

[[gnu::hot]] u32 write_headers(const Path& path, const OpcodeRow& row, const Bth& bth,
                               const ExtHeaders& ext, u32 payload_bytes, u8* frame, u16 ip_id) {
  const u32 pad = pad_of(payload_bytes);
  copy_head(path, frame);
  patch_lengths(path, bytes_of<Bth>() + row.ext_bytes + payload_bytes + pad + kIcrcBytes, frame,
                ip_id);
  Bth sent = bth;
  sent.opcode = row.code;
  sent.pad_count = u8(pad);
  u8* at = frame + path.bytes;
  put(sent, at);
  write_ext(row, ext, at);
  return header_bytes(path, row);
}

[[gnu::hot]] void write_ext(const OpcodeRow& row, const ExtHeaders& ext, u8* at) {
  row.ext.for_each([&](Ext e) { put_ext(e, ext, at); });
}

}  // namespace hca::proto
