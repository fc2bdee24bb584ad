// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/packet_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/wire/mads.h"
#include "model/proto/wire/print.h"
#include "testbench/packets/opened_frame.h"

namespace hca::testbench {
using namespace proto;

FrameReport::FrameReport(const SourceFrame& source) : frame(source) {
  const CapturedFrame& captured = source.captured;
  if (!captured.note.empty()) {
    dissection.other = captured.note;
    return;
  }
  dissection = open_frame(captured.bytes, captured.begins, captured.bytes_on_wire);
  fcs_bytes = std::min<u32>(fcs_bytes_of(captured), u32(captured.bytes.size()));
  fcs_is_good = fcs_bytes && testbench::fcs_is_good(captured.bytes);
  if (!is_judged()) return;
  broken = broken_rules(captured.bytes, dissection);
  mad = add_mad(captured.bytes, dissection);
}

std::size_t FrameReport::count(Grade grade) const {
  return std::size_t(std::ranges::count(broken, grade, &BrokenRule::grade));
}

std::span<const u8> icrc_bytes(const FrameReport& r) {
  return captured_bytes(r).subspan(r.dissection.packet.icrc_offset, kIcrcBytes);
}
std::span<const u8> vcrc_bytes(const FrameReport& r) {
  return captured_bytes(r).subspan(r.dissection.packet.icrc_offset + kIcrcBytes, kVcrcBytes);
}
std::array<u8, 4> right_icrc(const FrameReport& r) {
  const u32 crc = icrc_of(captured_bytes(r).data(), r.dissection.packet);
  return {u8(crc), u8(crc >> 8), u8(crc >> 16), u8(crc >> 24)};
}
std::array<u8, 2> right_vcrc(const FrameReport& r) {
  const u16 crc =
      crc16_vcrc(0, captured_bytes(r).data(), r.dissection.packet.icrc_offset + kIcrcBytes);
  return {u8(crc), u8(crc >> 8)};
}
std::span<const u8> payload_of(const FrameReport& r) {
  const ParsedPacket& p = r.dissection.packet;
  const std::span<const u8> all = captured_bytes(r);
  if (p.payload_offset >= all.size()) return {};
  return all.subspan(p.payload_offset,
                     std::min<std::size_t>(p.payload_bytes, all.size() - p.payload_offset));
}
std::string hex_bytes(std::span<const u8> bytes) {
  return fmt::format("{:02X}", fmt::join(bytes, " "));
}

namespace {

std::string ends_text(const FrameReport& r) {
  const Addressing a = addressing_of(captured_bytes(r).data(), r.dissection.packet);
  switch (r.dissection.packet.framing) {
    case Framing::IbLocal:
      return fmt::format("LID {} > {}", a.slid, a.dlid);
    case Framing::RoceV2Ip4:
      return ipv4_text(ipv4_of_gid(a.source_gid)) + " > " +
             ipv4_text(ipv4_of_gid(a.destination_gid));
    default:
      return gid_text(a.source_gid.bytes.data()) + " > " + gid_text(a.destination_gid.bytes.data());
  }
}

// The tunnels around the packet, from the outside: " in GRE, ERSPAN II".
std::string tunnels_text(const FrameReport& r) {
  std::string text;
  for (const HeaderPlace& place : r.dissection)
    for (const HeaderInfo& tunnel : kOuterHeaders) {
      const bool around = place.header->name == tunnel.name && place.offset > 0 &&
                          place.offset < r.dissection.packet_offset;
      const bool again = text.ends_with(tunnel.name);
      if (around && !again) text += (text.empty() ? " in " : ", ") + std::string(tunnel.name);
    }
  return text;
}

// The path of a packet after extension headers.
std::string extended_path_text(const FrameReport& r) {
  const HeaderPlace* ip = nullptr;
  std::string between;
  for (const HeaderPlace& place : r.dissection) {
    if (place.offset >= r.dissection.packet_offset) break;
    if (place.header->name == Layout<Ipv6>::name) {
      ip = &place;
      between.clear();
    } else
      between += (between.empty() ? " after " : ", ") + std::string(place.header->name);
  }
  if (ip == nullptr) return "begins at its UDP header";
  const Ipv6 header = decode<Ipv6>(captured_bytes(r).data() + ip->offset);
  return fmt::format("{}{}  {} > {}{}", framing_row(Framing::RoceV2Ip6).name, between,
                     gid_text(header.source.bytes.data()),
                     gid_text(header.destination.bytes.data()),
                     r.dissection.is_fragment ? "  first fragment" : "");
}

// Framing and ends, or where the packet begins if they are missing.
std::string path_text(const FrameReport& r) {
  const OpenedFrame& d = r.dissection;
  if (d.has_extensions) return extended_path_text(r);
  if (!d.has_network)
    return d.starts_at == Layer::Udp ? "begins at its UDP header" : "begins at its BTH";
  return fmt::format("{}{}  {}", framing_row(d.packet.framing).name, tunnels_text(r), ends_text(r));
}

// Opcode, queue pair, PSN and the SRQ of XRC as far as they are there; each with two blanks before
// it.
std::string transport_text(const FrameReport& r) {
  constexpr u32 kQpEnd = byte_of<Bth>("DestQP") + 3;
  const OpenedFrame& d = r.dissection;
  if (d.transport_offset == 0 && d.starts_at != Layer::Bth) return "";
  const std::span<const u8> all = captured_bytes(r);
  if (d.transport_offset >= all.size()) return "";
  const std::span<const u8> bth = all.subspan(d.transport_offset);
  std::array<u8, bytes_of<Bth>()> padded{};
  std::copy_n(bth.begin(), std::min(bth.size(), padded.size()), padded.begin());
  const Bth values = decode<Bth>(padded.data());
  const OpcodeRow* const row = opcode_row(values.opcode);
  std::string text = row ? fmt::format("  {} {}", name_of(row->service), row->name)
                         : fmt::format("  OpCode 0x{:02X}", values.opcode);
  if (bth.size() >= kQpEnd) text += fmt::format("  QP 0x{:06X}", values.dest_qp);
  if (bth.size() >= padded.size()) text += fmt::format("  PSN {}", values.psn);
  if (row && row->has(Ext::XrcEth) && bth.size() >= padded.size() + bytes_of<XrcEth>())
    text += fmt::format("  SRQ 0x{:06X}", decode<XrcEth>(bth.data() + padded.size()).xrc_srq);
  return text;
}

}  // namespace

std::string summary(const FrameReport& r) {
  const OpenedFrame& d = r.dissection;
  const std::string transport = transport_text(r);
  if (!r.is_judged()) return "not judged: " + d.other + transport;
  if (d.structure != PacketVerdict::Good) {
    const VerdictRow& row = verdict_row(d.structure);
    return fmt::format("{}: {}{}", row.name, row.sentence, transport);
  }
  return fmt::format("{}{}  {} B{}{}", path_text(r), transport, d.packet.payload_bytes,
                     r.mad.empty() ? "" : "  " + r.mad, r.is_cut() ? "  cut by the capture" : "");
}

}  // namespace hca::testbench
