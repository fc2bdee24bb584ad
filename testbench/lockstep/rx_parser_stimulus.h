// SPDX-License-Identifier: Apache-2.0
// Random frames for the parser: good ones of every opcode in all framings, and ones with an error
// in any field that it checks.
#pragma once
#include "model/blocks/twins/rx_parser_unit.h"
#include "testbench/lockstep/given_frames.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
struct RxParserPacket : StreamPacket {
  std::vector<u8> frame;
  StreamRow stream{};  // as it was built
  u8 opcode = 0;
  bool icrc_ok = false, vcrc_ok = false;  // side band of its last beat
  blocks::ParsedFrame parsed;             // when it leaves
  proto::LinkLayer link() const { return proto::framing_row(stream.framing).link; }
};

struct RxParserField;

class RxParserStimulus {
 public:
  RxParserStimulus(u64 seed, GivenFrames given, Rotation& turns)
      : random_(seed), given_(std::move(given)), turns_(turns) {}
  RxParserPacket next();

 private:
  void lengthen(RxParserPacket& p, const proto::Path& path, proto::FrameShape& shape);
  void damage_headers(RxParserPacket& p, const proto::Path& path);
  void fill_ignored(RxParserPacket& p, const proto::Path& path);
  void change(RxParserPacket& p, u32 offset, const RxParserField& row);
  void turn_bit(RxParserPacket& p, const proto::Path& path);
  u32 end_with_header(RxParserPacket& p, const proto::Path& path);
  u32 shorten(RxParserPacket& p, const proto::Path& path);
  RxParserPacket take_given(RxParserPacket p);
  void judge_crcs(RxParserPacket& p);
  void damage_end(RxParserPacket& p);

  engine::Random random_;
  GivenFrames given_;
  Regime regime_;
  u64 made_ = 0;
  Rotation& turns_;
};
}  // namespace hca::testbench
