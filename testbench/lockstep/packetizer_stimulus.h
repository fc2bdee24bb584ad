// SPDX-License-Identifier: Apache-2.0
// Random packets for the packetizer: every opcode in all framings with payloads of all lengths.
#pragma once
#include "rtl/packetizer/descriptor.h"
#include "testbench/lockstep/given_frames.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
struct PacketizerPacket : StreamPacket {
  rtl::Descriptor descriptor{};
  const proto::OpcodeRow* opcode = nullptr;
  std::vector<u8> payload;
  // Results of the frame that leaves.
  std::vector<u8> frame;
  u32 bytes_out = 0;
};

class PacketizerStimulus {
 public:
  explicit PacketizerStimulus(u64 seed, GivenFrames given = {})
      : random_(seed), given_(std::move(given)) {}
  PacketizerPacket next();

 private:
  u32 payload_of(proto::PayloadRule rule);
  void choose_sum(PacketizerPacket& p);
  bool take_given(PacketizerPacket& p);
  engine::Random random_;
  GivenFrames given_;
  Regime regime_;
  u64 made_ = 0, next_given_ = 0;
};
}  // namespace hca::testbench
