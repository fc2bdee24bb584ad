// SPDX-License-Identifier: Apache-2.0
// The CRC vectors of the specification (T2): what stands in quotes was published or computed by
// another program.
#include <catch2/catch.hpp>

#include "model/proto/wire/packet.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;
using test::operator+;

namespace {

const std::vector<u8> kTransport =
    hex("0A 20 24 87 00 87 B1 B3 00 0D EC 2A 01 71 0A 1C 01 5D 40 02 38 F2 7A 05 00 00 00 0E "
        "BB 88 4D 85 FD 5C FB A4 72 8B C0 69 0E D4 00 00");
const std::vector<u8> kLocalLrh = hex("70 12 37 5C 00 0E 17 D2");
const std::vector<u8> kGlobalHeaders =
    hex("70 13 37 5C 00 18 17 D2  60 00 00 00 00 32 00 10"
        "00 00 00 00 00 00 01 25 00 00 00 00 00 00 00 26  00 00 00 00 00 00 01 17 00 00 00 00 00 "
        "00 00 96");
const std::vector<u8> kEthernet4 = hex("020000000001 020000000002 0800");
const std::vector<u8> kEthernet6 = hex("020000000001 020000000002 86DD");

std::vector<u8> wire_icrc(const std::vector<u8>& frame, const FrameShape& shape) {
  const u32 crc = icrc_of(frame.data(), shape);
  return {u8(crc), u8(crc >> 8), u8(crc >> 16), u8(crc >> 24)};
}
std::vector<u8> wire_vcrc(const std::vector<u8>& bytes) {
  const u16 crc = crc16_vcrc(0, bytes.data(), bytes.size());
  return {u8(crc), u8(crc >> 8)};
}

// A frame without its ICRC: where the ICRC begins follows from its size.
FrameShape shape(const std::vector<u8>& frame, Framing framing, u16 network, u16 transport) {
  return {framing, network, transport, u16(transport + 12), 0, u32(frame.size())};
}

}  // namespace

TEST_CASE("the CRC-32 of the check string is that of zlib and Ethernet", "[proto][crc][T2]") {
  const std::string_view text = "123456789";
  const u8* bytes = reinterpret_cast<const u8*>(text.data());
  CHECK(crc32(0, bytes, 9) == 0xCBF43926);
  CHECK(crc32(crc32(0, bytes, 4), bytes + 4, 5) == 0xCBF43926);
}

TEST_CASE("the register after the eight ones of a masked LRH is DEBB20E3", "[proto][crc][T2]") {
  const std::vector<u8> ones(8, 0xFF);
  CHECK(crc32(0, ones.data(), 8) == u32(~0xDEBB20E3u));
  CHECK(kCrcOfMaskedLrh == u32(~0xDEBB20E3u));
}

TEST_CASE("the VCRC of the check string has the published value", "[proto][crc][T2]") {
  const std::vector<u8> text = hex("31 32 33 34 35 36 37 38 39");
  CHECK(crc16_vcrc(0, text.data(), 9) == 0x0A3D);
  CHECK(wire_vcrc(text) == hex("3D 0A"));
  CHECK(crc16_vcrc(crc16_vcrc(0, text.data(), 5), text.data() + 5, 4) == 0x0A3D);
}

TEST_CASE("vector 1: the native local sample", "[proto][crc][T2]") {
  const std::vector<u8> frame = kLocalLrh + kTransport;
  REQUIRE(frame.size() == 52);
  const std::vector<u8> icrc = wire_icrc(frame, shape(frame, Framing::IbLocal, 0, 8));
  CHECK(icrc == hex("96 25 B7 5A"));
  CHECK(wire_vcrc(frame + icrc) == hex("45 FA"));
  // the register over a whole good packet with its VCRC ends at 556F
  const std::vector<u8> whole = frame + icrc + hex("45 FA");
  CHECK(crc16_vcrc(0, whole.data(), whole.size()) == u16(~0x556F));
}

TEST_CASE("vector 2: the native global sample", "[proto][crc][T2]") {
  const std::vector<u8> frame = kGlobalHeaders + kTransport;
  REQUIRE(frame.size() == 92);
  const std::vector<u8> icrc = wire_icrc(frame, shape(frame, Framing::IbGlobal, 8, 48));
  CHECK(icrc == hex("14 93 EC 46"));
  CHECK(wire_vcrc(frame + icrc) == hex("7C 44"));
}

TEST_CASE("vector 3: a RoCEv2 UC SEND Only over IPv4", "[proto][crc][T2]") {
  // total length 64, id 1144 = 0x0478, DF, ttl 64; the header checksum is masked, so any value
  // serves
  const std::vector<u8> frame =
      kEthernet4 + hex("45 01 00 40 04 78 40 00 40 11 00 00 C0 A8 00 07 C0 A8 00 07"
                       "C0 00 12 B7 00 2C 00 00"
                       "24 60 FF FF 00 00 00 D3 00 CF 17 10"
                       "46 30 81 8B E2 89 35 D9 0E 9A 95 50 54 01 BE 88 5E 50 00 00");
  CHECK(wire_icrc(frame, shape(frame, Framing::RoceV2Ip4, 14, 42)) == hex("78 F3 53 F3"));
}

TEST_CASE("vector 4: a RoCEv2 CNP from real hardware", "[proto][crc][T2][G26.2]") {
  const std::vector<u8> frame =
      kEthernet4 + hex("45C2003C718C4000401191610A0011010A001201 000012B700280000"
                       "8100FFFF4000011800000000 00000000000000000000000000000000 82FD002A");
  ParsedPacket packet;
  REQUIRE(parse(frame, LinkLayer::Ethernet, packet) == PacketVerdict::Good);
  CHECK(icrc_good(frame, packet));
  CHECK(packet.opcode->operation == Operation::CongestionNotification);
  CHECK(packet.bth.becn);
  CHECK(packet.payload_bytes == 0);
}

TEST_CASE("vector 5: a RoCEv2 packet over IPv6", "[proto][crc][T2]") {
  const std::vector<u8> frame =
      kEthernet6 +
      hex("6AB1234500281140 FE800000000000000202C9FFFE000001 FE800000000000000202C9FFFE000002"
          "C12312B700280000 0400FFFF0000012380000456 000102030405060708090A0B0C0D0E0F 0381C820");
  ParsedPacket packet;
  REQUIRE(parse(frame, LinkLayer::Ethernet, packet) == PacketVerdict::Good);
  CHECK(icrc_good(frame, packet));
}

TEST_CASE("exactly the variant bits of the headers may change without breaking the ICRC",
          "[proto][crc][T2][BTH-14][BTH-15][BTH-16][BTH-18]") {
  struct Case {
    std::string_view name;
    std::vector<u8> frame;  // without Ethernet header: covered headers and payload
    Framing framing;
    u16 network, transport;
    std::vector<u8>
        variant;  // ones where the specification's table says so, for the headers to the BTH
  };
  const std::vector<u8> bth_mask = hex("00000000 FF000000 00000000");
  const std::vector<Case> cases{
      {"local", kLocalLrh + kTransport, Framing::IbLocal, 0, 8, hex("F000000000000000") + bth_mask},
      {"global", kGlobalHeaders + kTransport, Framing::IbGlobal, 8, 48,
       hex("FFFFFFFFFFFFFFFF 0FFFFFFF 000000FF") + std::vector<u8>(32, 0) + bth_mask},
      {"RoCEv1", hex("6AB1234500281B40") + std::vector<u8>(32, 5) + kTransport, Framing::RoceV1, 0,
       40, hex("0FFFFFFF 000000FF") + std::vector<u8>(32, 0) + bth_mask},
      {"IPv4", hex("45010040047840004011000 0C0A80007C0A80007 C00012B7002C0000") + kTransport,
       Framing::RoceV2Ip4, 0, 28,
       hex("00FF000000000000 FF00FFFF 0000000000000000 000000000000FFFF") + bth_mask},
      {"IPv6",
       hex("6AB1234500281140") + std::vector<u8>(32, 5) + hex("C12312B700280000") + kTransport,
       Framing::RoceV2Ip6, 0, 48,
       hex("0FFFFFFF 000000FF") + std::vector<u8>(32, 0) + hex("000000000000FFFF") + bth_mask},
  };
  for (const Case& c : cases) {
    const FrameShape where = shape(c.frame, c.framing, c.network, c.transport);
    const u32 good = icrc_of(c.frame.data(), where);
    for (std::size_t bit = 0; bit < 8 * c.frame.size(); ++bit) {
      INFO(c.name << " bit " << bit % 8 << " of byte " << bit / 8);
      std::vector<u8> changed = c.frame;
      changed[bit / 8] ^= u8(1u << bit % 8);
      const bool variant = bit / 8 < c.variant.size() && (c.variant[bit / 8] >> bit % 8 & 1);
      CHECK((icrc_of(changed.data(), where) == good) == variant);
    }
  }
}

TEST_CASE("the ICRC of any size is that of the masked bytes, bit by bit", "[proto][crc]") {
  std::vector<u8> frame =
      hex("450100400478400040110000C0A80007C0A80007C00012B7002C0000") + kTransport;
  for (std::size_t size : {40u, 44u, 56u, 255u, 256u, 508u, 511u, 512u, 513u, 516u, 1100u, 4200u,
                           4391u, 4392u, 4393u, 9100u}) {
    while (frame.size() < size) frame.push_back(u8(frame.size() * 37 + 11));
    frame.resize(size);
    std::vector<u8> masked = frame;
    for (std::size_t at : {1, 8, 10, 11, 26, 27, 32}) masked[at] = 0xFF;
    u32 reg = 0xDEBB20E3;
    for (u8 byte : masked) {
      reg ^= byte;
      for (int bit = 0; bit < 8; ++bit) reg = reg & 1 ? reg >> 1 ^ 0xEDB88320 : reg >> 1;
    }
    const FrameShape where = shape(frame, Framing::RoceV2Ip4, 0, 28);
    INFO("size " << size);
    CHECK(icrc_of(frame.data(), where) == u32(~reg));
  }
}
