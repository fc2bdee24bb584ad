// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/icrc_unit.h"

namespace hca::blocks {
namespace {
proto::FrameShape shape_of(u32 covered_bytes_end, proto::Framing framing, bool vlan) {
  const u32 from = covered_from(framing, vlan);
  const u32 transport = from + proto::framing_row(framing).covered_header_bytes;
  return {.framing = framing,
          .network_offset = u16(from),
          .transport_offset = u16(transport),
          .payload_offset = u16(transport + proto::bytes_of<proto::Bth>()),
          .payload_bytes = 0,  // not asked for by the ICRC
          .icrc_offset = covered_bytes_end};
}
}  // namespace

u32 IcrcUnit::insert(u8* frame, u32 bytes, proto::Framing framing, bool vlan) {
  const u32 icrc = proto::icrc_of(frame, shape_of(bytes, framing, vlan));
  for (u32 i = 0; i < proto::kIcrcBytes; ++i) frame[bytes++] = u8(icrc >> 8 * i);
  if (!proto::is_native(framing)) return bytes;
  const u16 vcrc = proto::crc16_vcrc(0, frame, bytes);
  for (u32 i = 0; i < proto::kVcrcBytes; ++i) frame[bytes++] = u8(vcrc >> 8 * i);
  return bytes;
}

bool IcrcUnit::good(const u8* frame, u32 bytes, proto::Framing framing, bool vlan) {
  if (bytes < icrc_min_bytes(framing, vlan)) return false;
  return proto::icrc_good({frame, bytes}, shape_of(bytes - crc_bytes(framing), framing, vlan));
}

bool IcrcUnit::vcrc_good(const u8* frame, u32 bytes, proto::Framing framing) {
  if (!proto::is_native(framing) || bytes < icrc_min_bytes(framing, false)) return false;
  return proto::vcrc_good({frame, bytes}, shape_of(bytes - crc_bytes(framing), framing, false));
}

void IcrcItem::process() {
  if (mode == IcrcMode::Generate) bytes = IcrcUnit::insert(frame, bytes, framing, vlan);
  const bool check = mode == IcrcMode::Check;
  icrc_ok = check && IcrcUnit::good(frame, bytes, framing, vlan);
  vcrc_ok = check && IcrcUnit::vcrc_good(frame, bytes, framing);
}
}  // namespace hca::blocks
