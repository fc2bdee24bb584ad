// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_judge_packets.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/key.h"
#include "model/proto/pkey.h"
#include "model/proto/psn.h"
#include "testbench/frame_text.h"

namespace hca::testbench {
using namespace proto;

namespace {
NetworkAddress network_address_of(const Gid& gid) {
  NetworkAddress s;
  std::copy(gid.bytes.begin(), gid.bytes.end(), s.address.begin());
  return s;
}
NetworkAddress network_address_of(u16 lid) {
  NetworkAddress s;
  s.address[14] = u8(lid >> 8), s.address[15] = u8(lid), s.is_lid = true;
  return s;
}

// Structure and lengths are judged by the verdicts of any frame, also of those that are none of
// ours: those are told by their addresses.
bool is_of_others(std::span<const u8> frame, LinkLayer link, PacketVerdict verdict) {
  if (verdict_row(verdict).is_foreign) return true;
  if (link != LinkLayer::Ethernet) return false;
  std::size_t at = 12;
  const auto word = [&](std::size_t i) {
    return i + 2 <= frame.size() ? load_be<2>(&frame[i]) : 0;
  };
  if (word(at) == kEtherTypeVlan) at += 4;
  const bool v4 = word(at) == kEtherTypeIpv4, v6 = word(at) == kEtherTypeIpv6;
  const std::size_t ip = at + 2;
  if ((!v4 && !v6) || ip + 40 > frame.size()) return !v4 && !v6 && word(at) != kEtherTypeRoce;
  const u8 protocol = v4 ? frame[ip + 9] : frame[ip + 6];
  const std::size_t udp = ip + (v4 ? 4 * (frame[ip] & 0xF) : 40);
  return protocol != kIpProtocolUdp || word(udp + 2) != kRoceUdpPort;
}

// A frame that the recorder cut is judged as far as it goes: zeros stand for the rest.
PacketVerdict parse_cut(JudgedPacket& out, u32 bytes_on_wire) {
  const std::size_t recorded = out.bytes.size();
  out.cut = bytes_on_wire > recorded,
  out.bytes.resize(std::max<std::size_t>(recorded, bytes_on_wire));
  const PacketVerdict verdict = parse(out.bytes, out.link, out.p);
  if (!out.cut) return verdict;
  if (verdict == PacketVerdict::Good && out.p.payload_offset <= recorded) return verdict;
  return PacketVerdict::Truncated;
}
void address(JudgedPacket& packet) {
  const Addressing a = addressing_of(packet.bytes.data(), packet.p);
  const bool by_lid = packet.p.framing == Framing::IbLocal;
  packet.from = by_lid ? network_address_of(a.slid) : network_address_of(a.source_gid);
  packet.to = by_lid ? network_address_of(a.dlid) : network_address_of(a.destination_gid);
}

std::optional<ConversationRule> crc_broken(const JudgedPacket& packet) {
  if (!icrc_good(packet.bytes, packet.p)) return ConversationRule::Icrc;
  const bool bad = is_native(packet.p.framing) && !vcrc_good(packet.bytes, packet.p);
  return bad ? std::optional(ConversationRule::Vcrc) : std::nullopt;
}

// If a good copy is there, before it or after, the packet was damaged on the way, and dropped.
void judge_damage(const JudgedPacket& packet, const std::vector<JudgedPacket>& good,
                  Verdicts& verdicts) {
  const auto same = [&](const JudgedPacket& other) {
    return other.from == packet.from && other.p.bth.dest_qp == packet.p.bth.dest_qp &&
           other.psn() == packet.psn() && other.p.bth.opcode == packet.p.bth.opcode;
  };
  if (std::ranges::any_of(good, same))
    verdicts.lost("packets damaged on the way: a good copy is there");
  else
    verdicts.broken(*crc_broken(packet), packet.number, packet.text());
}
}  // namespace

std::string text_of(const NetworkAddress& s) {
  constexpr std::array<u8, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (s.is_lid) return fmt::format("LID {:#x}", s.address[14] << 8 | s.address[15]);
  if (std::equal(mapped.begin(), mapped.end(), s.address.begin()))
    return fmt::format("{}.{}.{}.{}", s.address[12], s.address[13], s.address[14], s.address[15]);
  return "GID " + hex_text(s.address);
}

std::string JudgedPacket::text() const { return fmt::format("PSN {}: {}", psn(), row().name); }

void Verdicts::broken(ConversationRule rule, std::size_t frame, std::string detail,
                      std::string_view statement) {
  const ConversationRuleRow& row = row_of(rule);
  const std::string id(statement.empty() ? row.statement : statement);
  if (!options_.profile.empty() && !row.deviation.empty()) {
    ++out_.deviations[fmt::format("{} ({}): {}", row.deviation, id, row.sentence)];
    return;
  }
  std::string what(row.sentence);
  if (!detail.empty()) what += " (" + detail + ")";
  out_.breaches.push_back({frame, id, std::move(what)});
}

std::vector<JudgedPacket> take_apart(const std::vector<GivenPacket>& given, Judgement& out,
                                     Verdicts& verdicts) {
  std::vector<JudgedPacket> all, broken;
  out.frames = given.size();
  for (const GivenPacket& g : given) {
    if (!g.note.empty()) {
      verdicts.not_judged("records without a packet: " + g.note);
      continue;
    }
    JudgedPacket packet{.number = g.number, .time = g.time_ns, .link = g.link, .bytes = g.bytes};
    const PacketVerdict verdict = parse_cut(packet, g.bytes_on_wire);
    if (packet.cut && verdict != PacketVerdict::Good) {
      verdicts.not_judged("frames that the recorder cut inside their headers");
    } else if (verdict != PacketVerdict::Good && is_of_others(packet.bytes, g.link, verdict)) {
      verdicts.not_judged("frames of other protocols");
    } else if (verdict != PacketVerdict::Good) {
      ++out.judged;
      const VerdictRow& row = verdict_row(verdict);
      verdicts.broken(ConversationRule::Form, g.number, std::string(row.sentence), row.statement);
    } else {
      ++out.judged;
      if (packet.cut) verdicts.not_judged("payload and CRCs of frames that the recorder cut");
      address(packet);
      const bool damaged = !packet.cut && crc_broken(packet);
      (damaged ? broken : all).push_back(std::move(packet));
    }
  }
  for (const JudgedPacket& packet : broken) judge_damage(packet, all, verdicts);
  return all;
}

void judge_packet(const JudgedPacket& packet, Verdicts& verdicts) {
  const Bth& bth = packet.p.bth;
  if (packet.row().service == Service::Cnp) {
    const u8* rest = packet.bytes.data() + packet.p.transport_offset + bytes_of<Bth>();
    const bool empty = packet.cut || std::all_of(rest, rest + 16, [](u8 b) { return !b; });
    const bool asks = packet.p.bth.opcode == 0x81;
    if (asks && (!bth.becn || bth.psn || !empty))
      verdicts.broken(ConversationRule::CnpForm, packet.number, packet.text());
    return;
  }
  if (bth.dest_qp != kQp0 && !(bth.pkey & 0x7FFF))
    verdicts.broken(ConversationRule::InvalidPkey, packet.number, packet.text());
  const bool to_qp1 = packet.row().service == Service::Ud && bth.dest_qp == kQp1;
  if (to_qp1 && packet.p.deth.qkey != kQp1Qkey)
    verdicts.broken(ConversationRule::QkeyOfQp1, packet.number,
                    fmt::format("{:#x}", packet.p.deth.qkey));
  const bool tagged =
      !is_native(packet.p.framing) && addressing_of(packet.bytes.data(), packet.p).has_vlan;
  if (tagged) verdicts.freedom("VLAN or priority tag");
  if ((traffic_class_of(packet.bytes.data(), packet.p) & kEcnMask) == kEcnCongestionExperienced)
    verdicts.freedom("ECN: congestion experienced on the way");
}

// The packets of a queue pair have one P_Key; where they differ, the seldom one is wrong.
void judge_pkeys(const Flow& flow, Verdicts& verdicts) {
  std::map<u16, std::size_t> counts;
  for (const JudgedPacket* p : flow.packets) ++counts[p->p.bth.pkey];
  if (counts.size() < 2 || flow.qpn == kQp1) return;
  const u16 usual =
      std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
  for (const JudgedPacket* p : flow.packets)
    if (p->p.bth.pkey != usual)
      verdicts.broken(ConversationRule::OtherPkey, p->number,
                      fmt::format("{:#x}, else {:#x}", p->p.bth.pkey, usual));
}
}  // namespace hca::testbench
