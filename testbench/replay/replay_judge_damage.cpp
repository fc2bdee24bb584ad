// SPDX-License-Identifier: Apache-2.0
// Frames as packets; and packets that were damaged on the way.
#include <algorithm>

#include "testbench/replay/replay_judge_packets.h"

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
  s.address[14] = u8(lid >> 8);
  s.address[15] = u8(lid);
  s.is_lid = true;
  return s;
}

// Structure and lengths are judged by the verdicts of any frame, also of foreign frames, which are
// recognised by their addresses.
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

// A frame that the recorder cut is judged as far as it goes: zeros replace the rest.
PacketVerdict parse_cut(JudgedPacket& out, u32 bytes_on_wire) {
  const std::size_t recorded = out.bytes.size();
  out.cut = bytes_on_wire > recorded;
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

// A packet that breaks a rule by itself, if nothing says that it was damaged.
struct Broken {
  JudgedPacket packet;
  ConversationRule rule;
  std::string detail;
  std::string_view statement{};
};

// What a copy sent later has otherwise: identification and checksum of IPv4, the CRCs at the end.
bool is_variant(const std::vector<u8>& frame, LinkLayer link, std::size_t at) {
  constexpr std::size_t type = 12, ip = 14;
  const std::size_t crcs = kIcrcBytes + (link == LinkLayer::InfiniBand ? kVcrcBytes : 0);
  if (at + crcs >= frame.size()) return true;
  const bool v4 = link == LinkLayer::Ethernet && frame.size() > ip + 20 &&
                  (frame[type] == 0x08 || frame[ip] >> 4 == 4);
  return v4 && (at == ip + 4 || at == ip + 5 || at == ip + 10 || at == ip + 11);
}

// A byte or two at most are not as in a good packet of the recording, sent before it or after.
bool has_good_copy(const JudgedPacket& packet, const std::vector<JudgedPacket>& good) {
  constexpr std::size_t kMostBytes = 2;
  return std::ranges::any_of(good, [&](const JudgedPacket& other) {
    if (other.bytes.size() != packet.bytes.size() || other.link != packet.link || other.cut)
      return false;
    std::size_t different = 0;
    for (std::size_t i = 0; i < packet.bytes.size() && different <= kMostBytes; ++i)
      different += packet.bytes[i] != other.bytes[i] && !is_variant(other.bytes, other.link, i);
    return different <= kMostBytes;
  });
}

std::optional<Broken> broken_of(JudgedPacket& packet, PacketVerdict verdict) {
  if (verdict != PacketVerdict::Good) {
    const VerdictRow& row = verdict_row(verdict);
    return Broken{packet, ConversationRule::Form, std::string(row.sentence), row.statement};
  }
  if (packet.cut) return std::nullopt;
  if (const auto rule = crc_broken(packet)) return Broken{packet, *rule, packet.text()};
  return std::nullopt;
}
}  // namespace

std::vector<JudgedPacket> take_apart(const std::vector<GivenPacket>& given, Judgement& out,
                                     Verdicts& verdicts) {
  std::vector<JudgedPacket> all;
  std::vector<Broken> broken;
  out.frames = given.size();
  for (const GivenPacket& g : given) {
    if (!g.note.empty()) {
      verdicts.not_judged("frames without a packet of ours: " + g.note);
      continue;
    }
    JudgedPacket packet{.number = g.number, .time = g.time_ns, .link = g.link, .bytes = g.bytes};
    const PacketVerdict verdict = parse_cut(packet, g.bytes_on_wire);
    const bool good = verdict == PacketVerdict::Good;
    if (!good && packet.cut) {
      verdicts.not_judged("frames that the recorder cut inside their headers");
    } else if (!good && is_of_others(packet.bytes, g.link, verdict)) {
      verdicts.not_judged("frames of other protocols");
    } else {
      ++out.judged;
      if (packet.cut) verdicts.not_judged("payload and CRCs of frames that the recorder cut");
      if (good) address(packet);
      if (auto wrong = broken_of(packet, verdict))
        broken.push_back(std::move(*wrong));
      else
        all.push_back(std::move(packet));
    }
  }
  for (const Broken& b : broken)
    if (!verdicts.complete() && has_good_copy(b.packet, all))
      verdicts.lost("packets damaged on the way: a good copy is there");
    else
      verdicts.broken(b.rule, b.packet.number, b.detail, b.statement);
  return all;
}
}  // namespace hca::testbench
