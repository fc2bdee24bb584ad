// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/link_frames.h"

#include <algorithm>
#include <cstring>

#include "model/proto/wire/crc.h"
#include "model/proto/wire/link_headers.h"

namespace hca::proto {
namespace {
constexpr u8 kCreditInit = 1;
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
  if (link == LinkLayer::InfiniBand) return frame.size() == kCreditPacketBytes;
  return frame.size() >= bytes_of<Ethernet>() &&
         decode<Ethernet>(frame.data()).type == kMacControlType;
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
  constexpr u32 kNetwork = bytes_of<Ethernet>(), kHighOfDscp = 5;
  if (frame.size() < kNetwork + bytes_of<Grh>()) return 0;
  const u8* network = frame.data() + kNetwork;
  switch (decode<Ethernet>(frame.data()).type) {
    case kEtherTypeVlan:
      return decode<Vlan>(network).priority;
    case kEtherTypeIpv4:
      return decode<Ipv4>(network).tos >> kHighOfDscp;
    case kEtherTypeIpv6:
      return decode<Ipv6>(network).traffic_class >> kHighOfDscp;
  }
  return decode<Grh>(network).tclass >> kHighOfDscp;
}

u8 lane_of(const u8* frame) { return decode<Lrh>(frame).vl; }
void set_lane(u8* frame, u8 lane) {
  Lrh lrh = decode<Lrh>(frame);
  lrh.vl = lane;
  encode(lrh, frame);
}
u8 service_level_of(const u8* frame) { return decode<Lrh>(frame).sl; }
}  // namespace hca::proto
