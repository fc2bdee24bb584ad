// SPDX-License-Identifier: Apache-2.0
// What the receiving half of `port` finds out about a frame before any context: its headers, its
// payload and its verdict. The C++ twin of rtl/rx_parser/rx_parser.sv.
//
// Contract: that of a PacketUnit, with as many beats behind the unit as in front of it. As in
// `port`, `latency` counts from the beat with the frame's 128th byte, from which all headers are
// here: whether the frame is that long or not, its first beat leaves then.
#pragma once
#include <vector>

#include "model/blocks/twins/packet_unit.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
// What is known of a frame. Headers and payload mean something where `headers` is Good, framing,
// addresses and BTH also where it is ReservedOpcode.
struct ParsedFrame {
  proto::PacketVerdict headers{};  // of the first 128 bytes, whatever follows them
  proto::PacketVerdict verdict{};  // of the whole frame and its CRCs; of a reserved opcode: that
  proto::ParsedPacket packet{};
  proto::Addressing addressing{};
  std::vector<u8> whole;  // the frame, with zeros for bytes that its headers announce in vain

  bool has_transport() const {
    return headers == proto::PacketVerdict::Good || headers == proto::PacketVerdict::ReservedOpcode;
  }
  u32 payload_bytes() const {
    return headers == proto::PacketVerdict::Good ? packet.payload_bytes : 0;
  }
};
ParsedFrame parse_frame(std::span<const u8> frame, proto::LinkLayer link, proto::FrameCrcs crcs);

struct RxParserItem {
  std::span<const u8> frame;
  proto::LinkLayer link{};
  proto::FrameCrcs crcs{};  // as icrc_unit found them
  ParsedFrame* parsed = nullptr;

  static constexpr const char* kUnit = "rx_parser";
  void process() { *parsed = parse_frame(frame, link, crcs); }
  u32 bytes_out() const { return u32(frame.size()); }
  std::array<u64, 3> told() const { return {frame.size(), u64(parsed->verdict), 0}; }
};

struct RxParserConfig {
  engine::Cycle latency = 5;   // cycles, 128th byte in to first beat out, at least 1
  engine::Cycle interval = 1;  // cycles, start to start, at least 1
  u32 beat_bytes = 64;         // bytes a cycle
};
class RxParserUnit : public PacketUnit<RxParserItem, RxParserConfig> {
 public:
  RxParserUnit(Config config, const Links& links, engine::Probe probe = {})
      : PacketUnit(from_first_beat(config), links, probe) {}

 private:
  static Config from_first_beat(Config config) {
    if (config.beat_bytes) config.latency += proto::kMaxHeaderBytes / config.beat_bytes - 1;
    return config;
  }
};
}  // namespace hca::blocks
