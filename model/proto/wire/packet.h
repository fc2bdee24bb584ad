// SPDX-License-Identifier: Apache-2.0
// Whole packets in all framings: parse, build, ICRC and VCRC.
#pragma once
#include <span>

#include "model/proto/wire/extended_opcodes.h"
#include "model/proto/wire/frame_view.h"
#include "model/proto/wire/framing.h"

namespace hca::proto {

// The verdict on a frame's structure. All but Good name the first check that fails; such a frame is
// dropped.
enum class PacketVerdict : u8 {
  Good,
  Truncated,
  UnknownEtherType,
  RawPacket,
  BadLver,
  BadIpVersion,
  BadIpHeaderLength,
  BadIpChecksum,
  Fragment,
  NotUdp,
  BadUdpPort,
  BadUdpChecksum,
  BadNextHeader,
  BadLength,
  BadPad,
  BadTver,
  ReservedOpcode,
  BadIcrc,
  BadVcrc,
};
struct VerdictRow {
  PacketVerdict verdict;
  std::string_view name;
  std::string_view statement;
  bool is_foreign;  // a packet of another protocol, neither RoCE nor IBA
  std::string_view sentence;
};
std::span<const VerdictRow> verdict_rows();
const VerdictRow& verdict_row(PacketVerdict verdict);

// A parsed frame. Members are not initialised: those that verdict and opcode do not promise are not
// set.
struct ParsedStart : FrameShape {
  const OpcodeRow* opcode;  // nullptr: reserved
  Bth bth;
};
struct ParsedPacket : ParsedStart, ExtHeaders {
  bool has(Ext e) const { return opcode->has(e); }
};

// Parses the structure of a frame, before any context is needed. Reads nothing outside `frame`,
// allocates nothing. A UDP checksum of a cut frame is not checked. Good: all of `out` is set;
// BadTver, BadPad and ReservedOpcode: framing, network_offset, transport_offset and bth are.
// Trailing bytes of an Ethernet frame after its IP or GRH length are padding. ICRC and VCRC: below.
PacketVerdict parse(const FrameView& frame, LinkLayer link, ParsedPacket& out);

// The form of a packet; `bytes`: from its BTH to the end of its ICRC.
constexpr PacketVerdict transport_form(const OpcodeRow& row, u8 pad_count, u32 bytes) {
  const u32 headers = bytes_of<Bth>() + row.ext_bytes + kIcrcBytes;
  if (bytes < headers) return PacketVerdict::Truncated;
  if (bytes % 4 != 0) [[unlikely]]
    return PacketVerdict::BadLength;
  if (pad_count > bytes - headers) [[unlikely]]
    return PacketVerdict::BadPad;
  return PacketVerdict::Good;
}
// BTH-4: a device without an optional operation refuses it whatever follows its BTH, so parse()
// returns ReservedOpcode. This function returns the verdict of a device that has the operation.
inline PacketVerdict form_if_executed(const ParsedPacket& packet) {
  const OpcodeRow* row = opcode_row(packet.bth.opcode);
  if (!row) return PacketVerdict::ReservedOpcode;
  const u32 bytes = packet.icrc_offset + kIcrcBytes - packet.transport_offset;
  const PacketVerdict form = transport_form(*row, packet.bth.pad_count, bytes);
  if (!row->is_class() || form != PacketVerdict::Good) return form;
  const OpcodeRow& whole = row_or_class(*row, packet.eoeth.extended_opcode);
  return transport_form(whole, packet.bth.pad_count, bytes);
}

// The bytes before the BTH of the last good frame, and their parsed values: frames of a stream have
// the same. It keeps nothing that depends on later bytes.
struct alignas(64) KnownNetwork {
  u32 frame_bytes = 0;  // 0: nothing is known
  LinkLayer link{};
  Framing framing{};
  bool matched = false;  // the last parsed frame had the same bytes
  u16 network_offset = 0, transport_offset = 0;
  u32 transport_bytes = 0;  // from the BTH to the end of the ICRC
  u32 crc = 0;              // the ICRC over the covered bytes before the BTH
  std::array<u8, 80> head{};
};
// The same, and sets known.matched if the bytes match; then they are not parsed again. Does not
// change the rest of `known`.
PacketVerdict parse(const FrameView& frame, LinkLayer link, KnownNetwork& known, ParsedPacket& out);

// ---- CRCs ----
class NetworkCrcs;
// The ICRC over frame[network_offset, icrc_offset) with the variant fields masked: its four bytes
// on the wire are this number, low byte first. The frame is not written.
u32 icrc_of(const u8* frame, const FrameShape& shape);
bool icrc_good(std::span<const u8> frame, const FrameShape& shape);
// parse(), then the CRCs. A packet of a reserved opcode is Good too, without an OpcodeRow and
// without payload: its queue pair answers it (BTH-4).
PacketVerdict check_frame(const FrameView& frame, LinkLayer link, ParsedPacket& out);
// The same with CRCs that the caller has already checked.
PacketVerdict check_frame(const FrameView& frame, LinkLayer link, FrameCrcs crcs,
                          ParsedPacket& out);
// The same, faster, using the known parts of earlier frames.
PacketVerdict check_frame(const FrameView& frame, LinkLayer link, KnownNetwork& known,
                          NetworkCrcs& known_crcs, ParsedPacket& out);
// Native framings: the two bytes after the ICRC.
bool vcrc_good(std::span<const u8> frame, const FrameShape& shape);

// ---- addresses, decoded on request ----
struct Addressing {
  u64 destination_mac, source_mac;  // RoCE
  bool has_vlan;
  u8 priority;
  u16 vlan_id;
  u16 dlid, slid;  // native
  u8 service_level, virtual_lane;
  Gid source_gid, destination_gid;  // IPv4 addresses as ::ffff:a.b.c.d (G34.2); zero without GRH
  u8 traffic_class;                 // with the ECN bits
  u32 flow_label;
  u8 hop_limit;
  u16 udp_source_port;
};
Addressing addressing_of(const u8* frame, const FrameShape& shape);

// Bits 7:2 DSCP, 1:0 ECN; 0 without a GRH or IP header.
inline u8 traffic_class_of(const u8* frame, const FrameShape& shape) {
  const u8* const network = frame + shape.network_offset;
  switch (shape.framing) {
    case Framing::IbLocal:
      return 0;
    case Framing::RoceV2Ip4:
      return decode<Ipv4>(network).tos;
    default:
      return decode<Grh>(network).tclass;  // the IPv6 header has it in the same place
  }
}
inline constexpr u8 kEcnMask = 3;
inline constexpr u8 kEcnCongestionExperienced = 3;

// ---- building ----
Gid gid_of_ipv4(u32 address);
u32 ipv4_of_gid(const Gid& gid);

// The destination of a queue pair's packets, as in its context.
struct AddressVector {
  Framing framing = Framing::RoceV2Ip4;
  u64 source_mac = 0, destination_mac = 0;
  bool has_vlan = false;
  u8 priority = 0;
  u16 vlan_id = 0;
  u16 source_lid = 0, destination_lid = 0;
  u8 service_level = 0, virtual_lane = 0;
  Gid source_gid{}, destination_gid{};
  u8 traffic_class = 0;
  u32 flow_label = 0;
  u8 hop_limit = 64;
  u16 udp_source_port = kFirstUdpSourcePort;  // constant for a queue pair
  friend constexpr bool operator==(const AddressVector&, const AddressVector&) = default;
};

// The address vector of a frame, or of the bytes before the BTH that a queue pair's frames share.
AddressVector address_vector(Framing framing, const Addressing& addressing);

// All bytes before the BTH, encoded once; the lengths are patched into each copy.
struct Path {
  Framing framing;
  u16 bytes;           // before the BTH
  u16 network_offset;  // as in FrameShape
  u32 ipv4_sum;        // of the IPv4 header without length, identification and checksum
  std::array<u8, 72> head;
};
// Throws std::out_of_range for a value wider than its field.
Path make_path(const AddressVector& av);

constexpr u32 pad_of(u32 payload_bytes) { return -payload_bytes & 3; }
constexpr u32 header_bytes(const Path& path, const OpcodeRow& row) {
  return path.bytes + bytes_of<Bth>() + row.ext_bytes;
}
// Bytes from the first header to the last CRC; a short Ethernet frame is not padded here.
constexpr u32 frame_bytes(const Path& path, const OpcodeRow& row, u32 payload_bytes) {
  return header_bytes(path, row) + payload_bytes + pad_of(payload_bytes) + kIcrcBytes +
         (is_native(path.framing) ? kVcrcBytes : 0);
}
constexpr FrameShape shape_of(const Path& path, const OpcodeRow& row, u32 payload_bytes) {
  const u32 headers = header_bytes(path, row);
  return {path.framing, path.network_offset, path.bytes,
          u16(headers), payload_bytes,       headers + payload_bytes + pad_of(payload_bytes)};
}

// Writes all headers, lengths and the IPv4 checksum included, to frame[0, header_bytes) and returns
// their size. OpCode and PadCnt of the BTH come from `row` and `payload_bytes`. `ip_id`: IPv4
// identification.
u32 write_headers(const Path& path, const OpcodeRow& row, const Bth& bth, const ExtHeaders& ext,
                  u32 payload_bytes, u8* frame, u16 ip_id = 0);
// Writes only the headers after the BTH, to `at`.
void write_ext(const OpcodeRow& row, const ExtHeaders& ext, u8* at);

// Call after headers and payload are written: zeroes the pad and inserts the ICRC. `known`: ICRCs
// over the covered bytes before the BTH.
void insert_icrc(u8* frame, const FrameShape& shape, NetworkCrcs& known);
// Inserts the VCRC at `end`, where the ICRC ends.
void insert_vcrc(u8* frame, u32 end);
// Inserts the VCRC after the ICRC of a native packet. Returns the frame's size.
inline u32 end_frame(u8* frame, const FrameShape& shape) {
  const u32 end = shape.icrc_offset + kIcrcBytes;
  if (!is_native(shape.framing)) return end;
  insert_vcrc(frame, end);
  return end + kVcrcBytes;
}
// Inserts both CRCs without known parts.
u32 finish_frame(u8* frame, const FrameShape& shape);

}  // namespace hca::proto
