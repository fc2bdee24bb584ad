// SPDX-License-Identifier: Apache-2.0
// The work of the receiving half of `port` on a frame before any context look-up: headers, payload
// and verdict. The C++ twin of rtl/rx_parser/rx_parser.sv.
//
// Contract: that of a PacketUnit, with as many beats at the output as at the input. As in `port`,
// `latency` counts from the beat of the frame's 128th byte, in which all headers have arrived; for
// a shorter frame, from the beat in which that byte would arrive.
#pragma once
#include <vector>

#include "model/blocks/twins/packet_unit.h"
#include "model/proto/transport/ee_context.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
// The parse result of a frame. Headers and payload are valid if `headers` is Good; framing,
// addresses and BTH also if it is ReservedOpcode, and of RD then RDETH and DETH.
struct ParsedFrame {
  proto::PacketVerdict headers{};  // of the first 128 bytes, independent of the rest
  // of the whole frame and its CRCs; a reserved opcode stays ReservedOpcode
  proto::PacketVerdict verdict{};
  proto::ParsedPacket packet{};
  proto::Addressing addressing{};
  std::vector<u8> whole;  // the frame, padded with zeros for announced but missing header bytes

  bool has_transport() const {
    return headers == proto::PacketVerdict::Good || headers == proto::PacketVerdict::ReservedOpcode;
  }
  // Of a reserved opcode of RD: RDETH and DETH name its EE context.
  bool has_rd_headers() const {
    return headers == proto::PacketVerdict::ReservedOpcode && proto::is_of_rd(packet);
  }
  u32 payload_bytes() const {
    return headers == proto::PacketVerdict::Good ? packet.payload_bytes : 0;
  }
};
ParsedFrame parse_frame(std::span<const u8> frame, proto::LinkLayer link, proto::FrameCrcs crcs);

struct RxParserItem {
  std::span<const u8> frame;
  proto::LinkLayer link{};
  proto::FrameCrcs crcs{};  // as found by icrc_unit
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
