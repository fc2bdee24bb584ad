// SPDX-License-Identifier: Apache-2.0
// Inserts the ICRC, and the VCRC of native frames, on the way out; checks them on the way in. The
// C++ twin of rtl/icrc/icrc.sv.
//
// Contract (docs/design/timing.md, block icrc_unit): that of a PacketUnit. In Generate, 4 bytes are
// appended, 6 in native framings; if they need an extra beat, the next start is one cycle later.
//
// It has three forms: operations on a frame; timing as a Stage in the segment of another block
// (`pass`); a block between two links (`tick`), which is compared with the RTL and can be replaced
// by a stand-in.
#pragma once
#include "model/blocks/port/icrc_unit_config.h"
#include "model/blocks/twins/packet_unit.h"
#include "model/engine/knob.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
enum class IcrcMode : u8 { Bypass, Generate, Check };

// A frame on its way through the unit, as an item of its links. `frame` has room for the CRCs after
// `bytes`.
struct IcrcItem {
  u8* frame = nullptr;
  u32 bytes = 0;  // Generate: up to the ICRC; afterwards, and in Check: with the CRCs; no FCS or
                  // padding
  IcrcMode mode = IcrcMode::Bypass;
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  bool vlan = false;
  bool icrc_ok = false;  // after Check
  bool vcrc_ok = false;  // after Check, in native framings

  static constexpr const char* kUnit = "icrc_unit";
  void process();
  u32 bytes_out() const { return bytes; }
  // Numbers for the probe: bytes; bit 0 ICRC good, bit 1 VCRC good; mode.
  std::array<u64, 3> told() const { return {bytes, u64(icrc_ok) | u64(vcrc_ok) << 1, u64(mode)}; }
};

// The first byte of a frame that the ICRC covers.
constexpr u32 covered_from(proto::Framing framing, bool vlan) {
  if (framing == proto::Framing::IbLocal) return 0;
  if (framing == proto::Framing::IbGlobal) return proto::bytes_of<proto::Lrh>();
  return proto::bytes_of<proto::Ethernet>() + (vlan ? proto::bytes_of<proto::Vlan>() : 0);
}
using proto::crc_bytes;
// The shortest frame with a BTH and its CRCs.
constexpr u32 icrc_min_bytes(proto::Framing framing, bool vlan) {
  return covered_from(framing, vlan) + proto::framing_row(framing).covered_header_bytes +
         proto::bytes_of<proto::Bth>() + crc_bytes(framing);
}

class IcrcUnit : public PacketUnit<IcrcItem, IcrcUnitConfig> {
 public:
  using PacketUnit::PacketUnit;

  // Appends the CRCs and returns the new length. The frame has at least icrc_min_bytes without
  // them.
  static u32 insert(u8* frame, u32 bytes, proto::Framing framing, bool vlan);
  // good(): the ICRC is right. vcrc_good(): the VCRC of a native frame is right. A frame that is
  // too short for a BTH and its CRCs is bad.
  static bool good(const u8* frame, u32 bytes, proto::Framing framing, bool vlan);
  static bool vcrc_good(const u8* frame, u32 bytes, proto::Framing framing);
};
}  // namespace hca::blocks
