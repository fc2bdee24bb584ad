// SPDX-License-Identifier: Apache-2.0
// Link-level flow control between two ports: PAUSE (IEEE 802.3 annex 31B), priority-based flow
// control (IEEE 802.1Q clause 36, 802.3 annex 31D), and the flow-control packet of InfiniBand with
// its credit arithmetic (volume 1, 7.9).
#pragma once
#include <array>
#include <optional>
#include <span>

#include "model/proto/wire/framing.h"
#include "model/proto/wire/layout.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
inline constexpr unsigned kPriorities = 8;
inline constexpr u64 kMacControlAddress = 0x0180'c200'0001;
inline constexpr u16 kMacControlType = 0x8808;
inline constexpr u32 kQuantumBits = 512;  // bits of the link's rate: the unit of a pause
enum class MacControlOpcode : u16 { Pause = 1, PriorityPause = 0x101 };

// PAUSE: `parameter` is the pause time in quanta. PFC: its low bits select the priorities for which
// `times` hold. Time 0 ends a pause.
struct MacControl {
  u64 destination = kMacControlAddress, source = 0;
  u16 type = kMacControlType;
  MacControlOpcode opcode = MacControlOpcode::Pause;
  u16 parameter = 0;
  std::array<u16, kPriorities> times{};
};
template <>
struct Layout<MacControl> {
  static constexpr std::string_view name = "MAC control frame";
  static constexpr auto fields = make_rows(
      field(&MacControl::destination, "DMAC", 48, Show::Mac),
      field(&MacControl::source, "SMAC", 48, Show::Mac), field(&MacControl::type, "EtherType", 16),
      field(&MacControl::opcode, "Opcode", 16), field(&MacControl::parameter, "Parameter", 16),
      field(&MacControl::times, "Times", 16 * kPriorities));
};
static_assert(bytes_of<MacControl>() == 34);

// Credits of a virtual lane: the total of blocks sent since the link is up, and the count up to
// which the peer may send, both modulo 4096.
struct CreditPacket {
  bool init = false;
  u16 sent = 0, limit = 0;  // FCTBS, FCCL
  u8 lane = 0;
};
struct CreditFields {
  u8 op, lane;
  u16 sent, limit;
};
template <>
struct Layout<CreditFields> {
  static constexpr std::string_view name = "flow control packet";
  static constexpr auto fields = make_rows(field(&CreditFields::op, "Op", 4),
                                           field(&CreditFields::sent, "FCTBS", 12, Show::Dec),
                                           field(&CreditFields::lane, "VL", 4, Show::Dec),
                                           field(&CreditFields::limit, "FCCL", 12, Show::Dec));
};
static_assert(bytes_of<CreditFields>() == 4);
inline constexpr u32 kCreditPacketBytes = 6;  // with the LPCRC
inline constexpr u32 kCreditBlock = 64;       // bytes
inline constexpr u32 kCreditMask = 0xfff;
inline constexpr u32 kMostCredits = 2048;      // blocks that are granted at once
inline constexpr u32 kCreditSymbols = 65'536;  // each lane sends a packet within this time
inline constexpr u8 kManagementLane = 15;      // has no flow control

constexpr u32 credit_blocks(u32 frame_bytes) {
  return (frame_bytes + kCreditBlock - 1) / kCreditBlock;
}
// 7.9.4.3: `sent` is FCTBS, `blocks` the size of a packet, `limit` the last FCCL received.
constexpr bool may_send_blocks(u32 sent, u32 blocks, u32 limit) {
  return ((limit - sent - blocks) & kCreditMask) <= kMostCredits;
}
// FCCL, from the total of blocks received and the blocks that have room.
constexpr u16 credit_limit(u32 received, u32 room) {
  return u16((received + (room < kMostCredits ? room : kMostCredits)) & kCreditMask);
}

// Each returns the bytes of the frame, without FCS.
u32 write_mac_control(const MacControl& control, u8* frame);
u32 write_credit_packet(const CreditPacket& packet, u8* frame);
// Sets FCTBS and the LPCRC in a frame that is already written.
void set_blocks_sent(u8* frame, u16 sent);
bool is_link_frame(std::span<const u8> frame, LinkLayer link);
// Nothing: the frame is no such frame, or its opcode or LPCRC is wrong.
std::optional<MacControl> read_mac_control(std::span<const u8> frame);
std::optional<CreditPacket> read_credit_packet(std::span<const u8> frame);

// The priority of the VLAN tag; without a tag the high three bits of the DSCP.
unsigned priority_of(std::span<const u8> frame);
// The virtual lane of a native packet. Changing it makes the VCRC wrong.
u8 lane_of(const u8* frame);
void set_lane(u8* frame, u8 lane);
u8 service_level_of(const u8* frame);
}  // namespace hca::proto
