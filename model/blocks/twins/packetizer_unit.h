// SPDX-License-Identifier: Apache-2.0
// Writes headers before payloads: the function of the packetizer once a packet's payload has
// arrived. The C++ twin of rtl/packetizer/packetizer.sv.
//
// Contract: that of a PacketUnit. The first beat of a frame leaves `latency` cycles after the first
// beat of its payload has entered; the next packet starts when all beats of the frame have left.
#pragma once
#include "model/blocks/twins/packet_unit.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
// A packet on its way through the unit. `frame` has room for headers, payload and pad.
struct PacketizerItem {
  const proto::AddressVector* address = nullptr;
  const proto::OpcodeRow* opcode = nullptr;
  const proto::Bth* bth = nullptr;
  const proto::ExtHeaders* ext = nullptr;
  u16 ip_id = 0;
  const u8* payload = nullptr;
  u32 payload_bytes = 0;
  u8* frame = nullptr;
  u32 bytes = 0;  // of the frame, up to the ICRC

  static constexpr const char* kUnit = "packetizer";
  void process();
  u32 bytes_out() const { return bytes; }
  std::array<u64, 3> told() const { return {bytes, bth->dest_qp, bth->psn}; }
};

struct PacketizerUnitConfig {
  engine::Cycle latency = 4;   // cycles, first beat in to first beat out, at least 1
  engine::Cycle interval = 1;  // cycles, start to start, at least 1
  u32 beat_bytes = 64;         // bytes a cycle
};
using PacketizerUnit = PacketUnit<PacketizerItem, PacketizerUnitConfig>;
}  // namespace hca::blocks
