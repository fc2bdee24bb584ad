// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_judge_packets.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/memory/key.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/psn.h"
#include "testbench/packets/frame_text.h"

namespace hca::testbench {
using namespace proto;

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
