// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/rx_parser_unit.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace hca::blocks {
using proto::PacketVerdict;

namespace {
// A SEND Only, natively: LRH, BTH, `payload` bytes, ICRC, VCRC.
std::vector<u8> native_frame(u32 payload) {
  const u32 words = (8 + 12 + payload + 4) / 4;
  const std::array<u8, 12> front{0,    2,    0x12, 0x34, u8(words >> 8), u8(words),
                                 0x56, 0x78, 4,    0,    0xff,           0xff};
  std::vector<u8> frame(4 * words + 2, 0x5a);
  std::copy(front.begin(), front.end(), frame.begin());
  return frame;
}
}  // namespace

TEST_CASE("a long frame that ends too early has good headers and a bad verdict",
          "[rx_parser_unit]") {
  std::vector<u8> frame = native_frame(256);
  ParsedFrame p = parse_frame(frame, proto::LinkLayer::InfiniBand, {});
  CHECK(p.headers == PacketVerdict::Good);
  CHECK(p.verdict == PacketVerdict::BadIcrc);
  CHECK(p.payload_bytes() == 256);
  frame.resize(frame.size() - 100);
  p = parse_frame(frame, proto::LinkLayer::InfiniBand, {});
  CHECK(p.headers == PacketVerdict::Good);
  CHECK(p.verdict == PacketVerdict::Truncated);
  CHECK(p.payload_bytes() == 256);
  CHECK(p.whole.size() == 8 + 12 + 256 + 4 + 2);
}

TEST_CASE("a frame that ends in its first 128 bytes is bad from the beginning",
          "[rx_parser_unit]") {
  std::vector<u8> frame = native_frame(256);
  frame.resize(128);
  const ParsedFrame p = parse_frame(frame, proto::LinkLayer::InfiniBand, {});
  CHECK(p.headers == PacketVerdict::Truncated);
  CHECK(p.payload_bytes() == 0);
}

TEST_CASE("the latency of the parser counts from the beat with byte 128", "[rx_parser_unit]") {
  RxParserUnit wide({.latency = 5, .beat_bytes = 64}, {});
  RxParserUnit narrow({.latency = 5, .beat_bytes = 32}, {});
  CHECK(wide.pass(10, 64) == 10 + 1 + 5);
  CHECK(narrow.pass(10, 64) == 10 + 3 + 5);
}
}  // namespace hca::blocks
