// SPDX-License-Identifier: Apache-2.0
#include "model/proto/link_frames.h"

#include <algorithm>
#include <cstring>

#include "model/proto/crc.h"
#include "model/proto/link_headers.h"

namespace hca::proto {
namespace {
constexpr u8 kCreditInit = 1;
constexpr u32 kTypeAt = 12;

u16 type_at(std::span<const u8> frame, std::size_t at) {
  return frame.size() < at + 2 ? 0 : u16(frame[at] << 8 | frame[at + 1]);
}
void seal(u8* frame) {
  const u16 crc = crc16_vcrc(0, frame, bytes_of<CreditFields>());
  std::memcpy(frame + bytes_of<CreditFields>(), &crc, sizeof crc);
}
}  // namespace

u32 write_mac_control(const MacControl& control, u8* frame) {
  std::fill_n(frame, kMinEthernetFrame, u8{0});
  encode(control, frame);
  return kMinEthernetFrame;
}

u32 write_credit_packet(const CreditPacket& p, u8* frame) {
  encode(CreditFields{u8(p.init ? kCreditInit : 0), p.lane, p.sent, p.limit}, frame);
  seal(frame);
  return kCreditPacketBytes;
}

void set_blocks_sent(u8* frame, u16 sent) {
  CreditFields fields = decode<CreditFields>(frame);
  fields.sent = sent;
  encode(fields, frame);
  seal(frame);
}

bool is_link_frame(std::span<const u8> frame, LinkLayer link) {
  return link == LinkLayer::Ethernet ? type_at(frame, kTypeAt) == kMacControlType
                                     : frame.size() == kCreditPacketBytes;
}

std::optional<MacControl> read_mac_control(std::span<const u8> frame) {
  if (frame.size() < bytes_of<MacControl>() || !is_link_frame(frame, LinkLayer::Ethernet))
    return std::nullopt;
  const MacControl control = decode<MacControl>(frame.data());
  const bool known = control.opcode == MacControlOpcode::Pause ||
                     control.opcode == MacControlOpcode::PriorityPause;
  return known ? std::optional(control) : std::nullopt;
}

std::optional<CreditPacket> read_credit_packet(std::span<const u8> frame) {
  if (frame.size() != kCreditPacketBytes) return std::nullopt;
  const u16 crc = crc16_vcrc(0, frame.data(), bytes_of<CreditFields>());
  const CreditFields f = decode<CreditFields>(frame.data());
  const bool intact = std::memcmp(&crc, frame.data() + bytes_of<CreditFields>(), sizeof crc) == 0;
  if (f.op > kCreditInit || !intact) return std::nullopt;
  return CreditPacket{f.op == kCreditInit, f.sent, f.limit, f.lane};
}

unsigned priority_of(std::span<const u8> frame) {
  constexpr std::size_t kNetwork = bytes_of<Ethernet>();
  const u16 type = type_at(frame, kTypeAt);
  if (frame.size() < kNetwork + 2) return 0;
  if (type == kEtherTypeVlan) return frame[kNetwork] >> 5;
  // IPv4 has the byte behind its first, IPv6 and the GRH in the low half of that and behind it.
  if (type == kEtherTypeIpv4) return frame[kNetwork + 1] >> 5;
  return frame[kNetwork] >> 1 & 7;
}
}  // namespace hca::proto
