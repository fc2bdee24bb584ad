// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/link_frames.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace hca;
using namespace hca::proto;

namespace {
using Bytes = std::vector<u8>;
Bytes first(const u8* frame, std::size_t n) { return {frame, frame + n}; }
}  // namespace

TEST_CASE("PAUSE and PFC frames, byte by byte", "[link_frames]") {
  std::array<u8, 128> frame{};
  MacControl pause{.source = 0x0200'0000'0001, .parameter = 0xffff};
  CHECK(write_mac_control(pause, frame.data()) == 60);
  CHECK(first(frame.data(), 18) ==
        Bytes{0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1, 0xff, 0xff});
  MacControl pfc{.source = 1, .opcode = MacControlOpcode::PriorityPause, .parameter = 0x0009};
  pfc.times[0] = 0x1234, pfc.times[3] = 0xabcd;
  write_mac_control(pfc, frame.data());
  CHECK(first(frame.data() + 12, 22) ==
        Bytes{0x88, 0x08, 1, 1, 0, 9, 0x12, 0x34, 0, 0, 0, 0, 0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto read = read_mac_control({frame.data(), 60});
  REQUIRE(read);
  CHECK((read->parameter == 9 && read->times[3] == 0xabcd && read->times[1] == 0));
  frame[15] = 2;  // no opcode that is known
  CHECK_FALSE(read_mac_control({frame.data(), 60}));
  frame[13] = 0;
  CHECK_FALSE(is_link_frame({frame.data(), 60}, LinkLayer::Ethernet));
}

TEST_CASE("a flow control packet: Op, FCTBS, VL, FCCL and LPCRC", "[link_frames]") {
  std::array<u8, 8> frame{};
  CHECK(write_credit_packet({true, 0x123, 0xabc, 4}, frame.data()) == 6);
  CHECK(first(frame.data(), 4) == Bytes{0x11, 0x23, 0x4a, 0xbc});
  auto read = read_credit_packet({frame.data(), 6});
  REQUIRE(read);
  CHECK((read->init && read->sent == 0x123 && read->lane == 4 && read->limit == 0xabc));
  set_blocks_sent(frame.data(), 0x456);
  CHECK(first(frame.data(), 4) == Bytes{0x14, 0x56, 0x4a, 0xbc});
  CHECK(read_credit_packet({frame.data(), 6})->sent == 0x456);
  frame[3] ^= 1;
  CHECK_FALSE(read_credit_packet({frame.data(), 6}));
}

// A packet of 1 to 64 bytes is a block. With FCCL 100 and 90 blocks sent, 10 may follow; counts
// wrap at 4096: FCCL 5 after 4090 sent allows 11.
TEST_CASE("credits count blocks of 64 bytes modulo 4096", "[link_frames]") {
  CHECK((credit_blocks(1) == 1 && credit_blocks(64) == 1 && credit_blocks(65) == 2));
  CHECK((may_send_blocks(90, 10, 100) && !may_send_blocks(90, 11, 100)));
  CHECK((may_send_blocks(4090, 11, 5) && !may_send_blocks(4090, 12, 5)));
  CHECK((may_send_blocks(0, 1, 2048) && !may_send_blocks(100, 1, 100)));
  // Received and room; no more than 2048 are granted.
  CHECK(credit_limit(4090, 11) == 5);
  CHECK(credit_limit(7, 3000) == 2055);
}

TEST_CASE("the priority of a frame is in its VLAN tag, or in its DSCP", "[link_frames]") {
  Bytes frame(64, 0);
  const auto type = [&](u8 high, u8 low) { frame[12] = high, frame[13] = low; };
  type(0x81, 0x00), frame[14] = 0xa0;
  CHECK(priority_of(frame) == 5);
  type(0x08, 0x00), frame[14] = 0x45, frame[15] = 0x60;
  CHECK(priority_of(frame) == 3);
  type(0x86, 0xdd), frame[14] = 0x6c, frame[15] = 0;  // version 6, traffic class 0xc0
  CHECK(priority_of(frame) == 6);
  type(0x89, 0x15);  // the GRH has the form of IPv6
  CHECK(priority_of(frame) == 6);
}
