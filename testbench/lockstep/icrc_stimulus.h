// SPDX-License-Identifier: Apache-2.0
// Random packets for the ICRC unit: frames of all lengths in all framings, to be completed, good or
// damaged.
#pragma once
#include <optional>

#include "model/blocks/port/icrc_unit.h"
#include "testbench/lockstep/given_frames.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
struct IcrcPacket : StreamPacket {
  std::vector<u8> sent;   // bytes that enter: up to the ICRC (Generate) or with the CRCs
  std::vector<u8> frame;  // the same for the twin, with room for its CRCs
  blocks::IcrcMode mode = blocks::IcrcMode::Bypass;
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  bool vlan = false;
  std::optional<u32> payload;  // bytes; none in a frame of random bytes
  u32 opcode = 0;              // the row of a frame with a payload
  bool sealed = false;         // correct CRCs too early in the packet, so it is not good
  // Results of the frame that leaves.
  u32 bytes_out = 0;
  bool icrc_ok = false, vcrc_ok = false;
  bool good() const { return icrc_ok && (vcrc_ok || !proto::is_native(framing)); }
};

class IcrcStimulus {
 public:
  explicit IcrcStimulus(u64 seed, GivenFrames given = {})
      : random_(seed), given_(std::move(given)) {}
  IcrcPacket next();

 private:
  void take_given(IcrcPacket& p);
  void make_roce(IcrcPacket& p);
  u32 payload_of(const proto::Path& path, const proto::OpcodeRow& row, u32 crcs_sent);
  void make_random(IcrcPacket& p);
  void make_sealed_short(IcrcPacket& p);
  void make_sealed_inside(IcrcPacket& p);
  void seal(IcrcPacket& p);
  void damage(IcrcPacket& p);
  void turn_bits(IcrcPacket& p, u64 from_byte, u64 bytes);
  void turn_icrc_residue(IcrcPacket& p);
  void turn_vcrc_residue(IcrcPacket& p);
  static void turn_last(IcrcPacket& p, u32 from_end, u32 bytes, u32 mask);

  engine::Random random_;
  GivenFrames given_;
  Regime regime_;
  u64 made_ = 0;
};
}  // namespace hca::testbench
