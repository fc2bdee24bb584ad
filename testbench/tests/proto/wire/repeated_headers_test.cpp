// SPDX-License-Identifier: Apache-2.0
// The headers kept of one packet for the next: the same result as without keeping them.
#include "model/proto/wire/repeated_headers.h"

#include <catch2/catch.hpp>

#include "model/proto/wire/network_crcs.h"
#include "testbench/tests/proto/send_only.h"

using namespace hca;
using namespace hca::test;

namespace {
// With what is known of the frames before, and without: verdict and all that the headers tell.
void check_same(const std::vector<u8>& frame, LinkLayer link, KnownNetwork& known,
                NetworkCrcs& crcs) {
  ParsedPacket plain, packet;
  const PacketVerdict wanted = check_frame(frame, link, plain);
  REQUIRE(check_frame(frame, link, known, crcs, packet) == wanted);
  if (wanted != Good) return;
  CHECK(packet.framing == plain.framing);
  CHECK(packet.network_offset == plain.network_offset);
  CHECK(packet.transport_offset == plain.transport_offset);
  CHECK(packet.payload_offset == plain.payload_offset);
  CHECK(packet.payload_bytes == plain.payload_bytes);
  CHECK(packet.icrc_offset == plain.icrc_offset);
  CHECK(packet.opcode == plain.opcode);
  CHECK(packet.bth.opcode == plain.bth.opcode);
  CHECK(packet.bth.dest_qp == plain.bth.dest_qp);
  CHECK(packet.bth.psn == plain.bth.psn);
}
}  // namespace

TEST_CASE("a frame with the network headers of the one before is taken apart like any other",
          "[proto][packet][repeated]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    const std::vector<u8> frame = send_only(row.framing, 5);
    ParsedPacket packet;
    REQUIRE(parse(frame, row.link, packet) == Good);
    KnownNetwork known;
    NetworkCrcs crcs;
    check_same(frame, row.link, known, crcs);
    CHECK(known.frame_bytes == frame.size());
    check_same(frame, row.link, known, crcs);
    check_same(send_only(row.framing, 6), row.link, known, crcs);
    check_same(send_only(row.framing, 64), row.link, known, crcs);
    // Each bit of the headers decides as if nothing was known.
    for (u32 bit = 0; bit < 8 * (packet.payload_offset + 1u); ++bit) {
      std::vector<u8> other = frame;
      other[bit / 8] ^= u8(1 << bit % 8);
      check_same(frame, row.link, known, crcs), check_same(other, row.link, known, crcs);
    }
    check_same(frame, row.link, known, crcs);
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes)
      check_same(head(frame, bytes), row.link, known, crcs);
    check_same(frame, LinkLayer::Ethernet, known, crcs);
    check_same(frame, LinkLayer::InfiniBand, known, crcs);
  }
}

// A frame of the same opcode and size with another BTH after the same headers, with correct CRCs: a
// reserved opcode before a SEND Only and after it, and each with a wrong ICRC.
TEST_CASE("what is known of headers says nothing of the BTH behind them",
          "[proto][packet][repeated]") {
  for (const FramingRow& row : kFramingRows)
    for (const bool has_vlan : {false, true}) {
      if (has_vlan && is_native(row.framing)) continue;
      INFO(row.name << (has_vlan ? ", VLAN" : ""));
      AddressVector av = address(row.framing);
      av.has_vlan = has_vlan, av.vlan_id = 7;
      const Path path = make_path(av);
      const OpcodeRow& opcode = *opcode_row(0x04);  // SEND Only
      const FrameShape shape = shape_of(path, opcode, 8);
      const auto frame_with = [&](u8 code, bool good) {
        std::vector<u8> frame(frame_bytes(path, opcode, 8), u8(code));
        write_headers(path, opcode, Bth{}, {}, 8, frame.data());
        frame[shape.transport_offset] = code;
        finish_frame(frame.data(), shape);
        if (!good) frame[shape.icrc_offset] ^= 1, end_frame(frame.data(), shape);
        return frame;
      };
      const u8 reserved = 0x1f;
      REQUIRE(!opcode_row(reserved));
      for (const u8 first : {reserved, u8(0x04)}) {
        KnownNetwork known;
        NetworkCrcs crcs;
        check_same(frame_with(first, false), row.link, known, crcs);
        CHECK(known.frame_bytes == 0);
        for (const u8 code : {first, reserved, u8(0x04), reserved}) {
          check_same(frame_with(code, true), row.link, known, crcs);
          check_same(frame_with(code, false), row.link, known, crcs);
          CHECK(known.matched);
        }
      }
    }
}

// The kept headers are used: with another CRC in them a good frame is bad.
TEST_CASE("the CRC of headers that are known is taken from what is kept",
          "[proto][packet][repeated]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    const std::vector<u8> frame = send_only(row.framing, 8);
    KnownNetwork known;
    NetworkCrcs crcs;
    ParsedPacket packet;
    REQUIRE(check_frame(frame, row.link, known, crcs, packet) == Good);
    ++known.crc;
    CHECK(check_frame(frame, row.link, known, crcs, packet) == BadIcrc);
  }
}

// The checksum is over addresses, protocol 17, length 8 + 12 + 4 + 4, UDP header and all bytes
// after it; the ICRC has ones in its place. One more in the payload: a correct ICRC would not help.
TEST_CASE("a UDP checksum is compared with each payload", "[proto][packet][repeated]") {
  std::vector<u8> frame = send_only(Framing::RoceV2Ip4, 4);
  u32 sum = 17 + 28;
  for (std::size_t at = 26; at < frame.size(); at += 2) sum += u32(frame[at] << 8 | frame[at + 1]);
  sum = (sum & 0xffff) + (sum >> 16), sum = (sum & 0xffff) + (sum >> 16);
  frame[40] = u8(~sum >> 8), frame[41] = u8(~sum);
  KnownNetwork known;
  NetworkCrcs crcs;
  ParsedPacket out;
  for (int i = 0; i < 2; ++i)
    CHECK(check_frame(frame, LinkLayer::Ethernet, known, crcs, out) == Good);
  ++frame[54];
  CHECK(check_frame(frame, LinkLayer::Ethernet, known, crcs, out) == BadUdpChecksum);
}

TEST_CASE("headers that are repeated are those that are written", "[proto][packet][repeated]") {
  // SEND Middle, RDMA WRITE Only with Immediate, CmpSwap: 0, 20 and 28 bytes after the BTH.
  const u8 code = GENERATE(as<u8>(), 0x01, 0x0b, 0x13);
  const OpcodeRow& opcode = *opcode_row(code);
  const u32 payload = code == 0x13 ? 0 : 1024;
  for (const FramingRow& row : kFramingRows)
    for (const bool has_vlan : {false, true}) {
      INFO(row.name << ", " << opcode.name);
      AddressVector av = address(row.framing);
      av.has_vlan = has_vlan;
      const Path path = make_path(av);
      Bth bth{};
      bth.pkey = 0x8001, bth.dest_qp = 0xabcdef, bth.mig_req = true, bth.ack_req = code != 0x01;
      RepeatedHeaders repeated;
      CHECK_FALSE(repeated.hold(0));
      for (const Psn psn : {0u, 1u, 0x123456u, 0xffffffu}) {
        bth.psn = psn;
        ExtHeaders ext{};
        ext.reth = {~u64{psn} << 20, psn * 3, psn + 7}, ext.imm_dt = {~psn};
        ext.atomic_eth = {u64{psn} << 30, ~psn, psn + 1, u64{psn} << 40};
        std::vector<u8> written(path.bytes + 12u + 28u), copied(RepeatedHeaders::kBytes + 28);
        const u32 bytes = write_headers(path, opcode, bth, ext, payload, written.data());
        const FrameShape shape = shape_of(path, opcode, payload);
        if (!psn) {  // nothing after its headers is read
          const std::unique_ptr<u8[]> exact(new u8[bytes]);
          std::copy_n(written.begin(), bytes, exact.get());
          repeated.keep(exact.get(), shape, 7);
        }
        REQUIRE(repeated.hold(7));
        CHECK_FALSE(repeated.hold(8));
        repeated.write(copied.data(), psn);
        write_ext(opcode, ext, copied.data() + path.bytes + 12);
        CHECK(head(copied, bytes) == head(written, bytes));
        CHECK(repeated.shape().payload_offset == bytes);
        CHECK(repeated.shape().icrc_offset == bytes + payload);
      }
      repeated.forget();
      CHECK_FALSE(repeated.hold(7));
    }
}
