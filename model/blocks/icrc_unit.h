// SPDX-License-Identifier: Apache-2.0
// The ICRC of packets that pass, and the VCRC of native ones: inserted on the way out, checked on
// the way in. The C++ twin of rtl/icrc.sv.
//
// Contract (docs/timing.md, block icrc_unit)
//   a packet that starts in cycle n leaves with its first beat in n + latency, whatever its length
//   and mode; one beat a cycle, packets back to back, never closer than `interval` cycles from
//   start to start; 4 bytes, 6 in native framings, are appended in Generate: where they need a beat
//   of their own, the next start comes one cycle later; no room of its own: a packet enters when
//   there is room for it behind the block, which it takes by its start, so that nothing is ever
//   stalled inside.
// Three ways to use it: the operations on a frame; the timing as a Stage in the segment of another
// block (`pass`); a block between two links (`tick`), which is what the RTL is compared with and
// what a replacement takes the place of.
#pragma once
#include "model/engine/domain.h"
#include "model/engine/link.h"
#include "model/engine/probe.h"
#include "model/engine/rate.h"
#include "model/engine/stage.h"
#include "model/proto/packet.h"

namespace hca::blocks {
enum class IcrcMode : u8 { Bypass, Generate, Check };

// A frame on its way through the unit, as an item of its links. `frame` has room for the CRCs
// behind `bytes`.
struct IcrcItem {
  u8* frame = nullptr;
  u32 bytes = 0;  // Generate: up to the ICRC; afterwards, and in Check: with the CRCs; no FCS or
                  // padding
  IcrcMode mode = IcrcMode::Bypass;
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  bool vlan = false;
  bool icrc_ok = false;  // after Check
  bool vcrc_ok = false;  // after Check, in native framings
};

// The first byte of a frame that the ICRC covers.
constexpr u32 covered_from(proto::Framing framing, bool vlan) {
  if (framing == proto::Framing::IbLocal) return 0;
  if (framing == proto::Framing::IbGlobal) return proto::bytes_of<proto::Lrh>();
  return proto::bytes_of<proto::Ethernet>() + (vlan ? proto::bytes_of<proto::Vlan>() : 0);
}
// What stands behind the last payload or pad byte.
constexpr u32 crc_bytes(proto::Framing framing) {
  return proto::kIcrcBytes + (proto::is_native(framing) ? proto::kVcrcBytes : 0);
}
// The shortest frame with a BTH and its CRCs.
constexpr u32 icrc_min_bytes(proto::Framing framing, bool vlan) {
  return covered_from(framing, vlan) + proto::framing_row(framing).covered_header_bytes +
         proto::bytes_of<proto::Bth>() + crc_bytes(framing);
}

struct IcrcUnitConfig {
  engine::Cycle latency = 5;   // cycles, first beat in to first beat out, at least 1
  engine::Cycle interval = 1;  // cycles, start to start, at least 1
  u32 beat_bytes = 64;         // bytes a cycle
};

class IcrcUnit : public engine::Block {
 public:
  // Events of its probe. Leaves: at the cycle of the first beat behind the unit; bytes, 1 if the
  // ICRC is good and 2 more if the VCRC is, mode.
  enum class Kind : u16 { Leaves };
  static constexpr std::array<std::string_view, 1> kKinds{"leaves"};

  using PacketLink = engine::Link<IcrcItem, 8>;
  struct Ports {
    PacketLink* packets_in = nullptr;
    PacketLink* packets_out = nullptr;  // its latency is part of the unit's
  };

  // Ports may be null where only operations or `pass` are used.
  IcrcUnit(const IcrcUnitConfig& config, const Ports& ports, engine::Probe probe = {});

  // ---- operations on a frame ----
  // Appends the CRCs; returns the new length. The frame holds at least icrc_min_bytes without them.
  static u32 insert(u8* frame, u32 bytes, proto::Framing framing, bool vlan);
  // Whether the ICRC, the VCRC of a native frame, is right. A frame that is too short for a BTH and
  // its CRCs is bad.
  static bool good(const u8* frame, u32 bytes, proto::Framing framing, bool vlan);
  static bool vcrc_good(const u8* frame, u32 bytes, proto::Framing framing);
  static void process(IcrcItem& item);

  // ---- time ----
  engine::Cycle beats(u32 bytes) { return beats_.cycles_for(bytes); }
  // A packet of so many bytes behind the unit asks to start in `at`: its first beat leaves in the
  // cycle returned.
  engine::Cycle pass(engine::Cycle at, u32 bytes_out) { return stage_.enter(at, beats(bytes_out)); }
  // A packet may start in this cycle, if there is room behind.
  engine::Cycle free_from() const { return stage_.free_from(); }

  // ---- block between links ----
  void tick();
  u64 packets() const { return packets_; }
  u64 bad_packets() const { return bad_packets_; }

 private:
  IcrcUnitConfig config_;
  Ports ports_;
  engine::Meter beats_;
  engine::Stage stage_;
  engine::Probe probe_;
  u64 packets_ = 0, bad_packets_ = 0;
};
}  // namespace hca::blocks
