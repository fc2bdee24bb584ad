// SPDX-License-Identifier: Apache-2.0
// Random packets for the ICRC unit: frames of all lengths in all framings, to be completed, good or
// damaged.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/blocks/icrc_unit.h"
#include "model/engine/random.h"

namespace hca::testbench {
struct IcrcPacket {
  u64 number = 0;
  engine::Cycle gap = 0;  // cycles without a packet on offer behind the last beat of the one before
  std::vector<u8> sent;   // what enters: up to the ICRC (Generate) or with the CRCs
  std::vector<u8> frame;  // the same for the twin, with room for its CRCs
  blocks::IcrcMode mode = blocks::IcrcMode::Bypass;
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  bool vlan = false;
  std::optional<u32> payload;  // bytes; none in a frame of random bytes
  bool sealed = false;         // right CRCs that do not make it good: too early in the packet
  std::string what;            // for a person: how it was made
};

class IcrcStimulus {
 public:
  explicit IcrcStimulus(u64 seed) : random_(seed) {}
  IcrcPacket next();

 private:
  // How packets come changes now and then: back to back or with gaps, short or long ones.
  struct Regime {
    u64 packets = 0;
    u32 largest_payload = 0;
    u32 gap_percent = 0;
    u32 largest_gap = 0;
  };
  void change_regime();
  void make_roce(IcrcPacket& p);
  u32 payload_of(const proto::Path& path, const proto::OpcodeRow& row, u32 crcs_sent);
  void make_random(IcrcPacket& p);
  void make_sealed_short(IcrcPacket& p);
  void make_sealed_inside(IcrcPacket& p);
  void seal(IcrcPacket& p);
  void damage(IcrcPacket& p);
  void turn_bits(IcrcPacket& p, u64 from_byte, u64 bytes);

  engine::Random random_;
  Regime regime_;
  u64 made_ = 0;
};
}  // namespace hca::testbench
