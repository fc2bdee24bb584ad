// SPDX-License-Identifier: Apache-2.0
// Building whole packets: the headers before the BTH by hand, pad, addresses and refused values.
#include <catch2/catch.hpp>

#include "testbench/tests/proto/send_only.h"

using namespace hca;
using namespace hca::proto;
using namespace hca::test;

TEST_CASE("the headers in front of the BTH are those of the framing",
          "[proto][packet][C9-1][C9-14][G34.2][G34.4]") {
  // SEND Only with 5 bytes: BTH 12 + payload 5 + pad 3 + ICRC 4 = 24 bytes from BTH to ICRC
  CHECK(head(send_only(Framing::IbLocal, 5), 8) ==
        hex("10 32 0022 0008 0011"));                  // 8 words = LRH 8 + 24
  CHECK(send_only(Framing::IbLocal, 5).size() == 34);  // and the VCRC
  CHECK(
      head(send_only(Framing::IbGlobal, 5), 48) ==
      hex("10 33 0022 0012 0011"  // 18 words = LRH 8 + GRH 40 + 24
          "6AB12345 0018 1B 07 FE800000000000000000000000000001 FE800000000000000000000000000002"));
  CHECK(
      head(send_only(Framing::RoceV1, 5), 54) ==
      hex("0A0000000002 0A0000000001 8915"
          "6AB12345 0018 1B 07 FE800000000000000000000000000001 FE800000000000000000000000000002"));
  // IPv4 length 20 + 8 + 24 = 52; checksum: 45AB+0034+0000+4000+0711+C0A8+0007+C0A8+0008 = 20E4F ->
  // 0E51, ~ F1AE
  CHECK(head(send_only(Framing::RoceV2Ip4, 5), 42) ==
        hex("0A0000000002 0A0000000001 0800"
            "45AB 0034 0000 4000 0711 F1AE C0A80007 C0A80008"
            "C123 12B7 0020 0000"));
  CHECK(head(send_only(Framing::RoceV2Ip6, 5), 62) ==
        hex("0A0000000002 0A0000000001 86DD"
            "6AB12345 0020 11 07 FE800000000000000000000000000001 FE800000000000000000000000000002"
            "C123 12B7 0020 0000"));
}

TEST_CASE("a VLAN tag stands between the addresses and the EtherType", "[proto][packet]") {
  AddressVector av = address(Framing::RoceV2Ip4);
  av.has_vlan = true;
  av.priority = 5;
  av.vlan_id = 0x123;
  const std::vector<u8> frame = send_only(av, 5);
  CHECK(head(frame, 18) == hex("0A0000000002 0A0000000001 8100 A123 0800"));
  CHECK(frame.size() == send_only(Framing::RoceV2Ip4, 5).size() + 4);
  ParsedPacket packet;
  REQUIRE(parse(frame, LinkLayer::Ethernet, packet) == Good);
  CHECK(icrc_good(frame, packet));
  const Addressing addresses = addressing_of(frame.data(), packet);
  CHECK((addresses.has_vlan && addresses.priority == 5 && addresses.vlan_id == 0x123));
  for (std::size_t size = 0; size < frame.size(); ++size)
    CHECK(verdict_of(head(frame, size), LinkLayer::Ethernet) == Truncated);
}

TEST_CASE("the IPv4 identification is the sender's and enters the checksum",
          "[proto][packet][G34.3]") {
  const std::vector<u8> frame = send_only(address(Framing::RoceV2Ip4), 5, 0xFFFF);
  // 20E4F + FFFF = 30E4E -> 0E51: adding FFFF leaves a ones' complement sum as it is
  CHECK(std::vector<u8>(frame.begin() + 18, frame.begin() + 26) == hex("FFFF 4000 0711 F1AE"));
  CHECK(verdict_of(frame, LinkLayer::Ethernet) == Good);
  // 20E4F + F1AF = 2FFFE; FFFE + 2 = 10000 carries once more -> 0001, ~ FFFE
  const std::vector<u8> carries = send_only(address(Framing::RoceV2Ip4), 5, 0xF1AF);
  CHECK(std::vector<u8>(carries.begin() + 18, carries.begin() + 26) == hex("F1AF 4000 0711 FFFE"));
  CHECK(verdict_of(carries, LinkLayer::Ethernet) == Good);
}

TEST_CASE("addresses come back as they were given", "[proto][packet][G34.2]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    const std::vector<u8> frame = send_only(row.framing, 5);
    ParsedPacket packet;
    REQUIRE(parse(frame, row.link, packet) == Good);
    const Addressing a = addressing_of(frame.data(), packet);
    const AddressVector av = address(row.framing);
    if (row.link == LinkLayer::Ethernet) {
      CHECK((a.source_mac == av.source_mac && a.destination_mac == av.destination_mac &&
             !a.has_vlan));
    } else {
      CHECK((a.dlid == 0x22 && a.slid == 0x11 && a.service_level == 3 && a.virtual_lane == 1));
    }
    if (row.framing != Framing::IbLocal) {
      CHECK((a.source_gid == av.source_gid && a.destination_gid == av.destination_gid));
      CHECK((a.traffic_class == 0xAB && a.hop_limit == 7));
      CHECK(a.flow_label == (row.framing == Framing::RoceV2Ip4 ? 0u : 0x12345u));
      CHECK(traffic_class_of(frame.data(), packet) == 0xAB);
    }
    if (row.framing == Framing::RoceV2Ip4 || row.framing == Framing::RoceV2Ip6)
      CHECK(a.udp_source_port == 0xC123);
  }
}

TEST_CASE("payload is padded to whole words with zeroes, PadCnt says how many",
          "[proto][packet][BTH-8][BTH-9][BTH-10]") {
  for (u32 bytes = 0; bytes <= 9; ++bytes) {
    const std::vector<u8> frame = send_only(Framing::RoceV2Ip4, bytes);
    const u32 pad = (4 - bytes % 4) % 4;
    CHECK(frame.size() == 54 + bytes + pad + 4);
    CHECK((frame[43] >> 4 & 3) == pad);
    for (u32 i = 0; i < pad; ++i) CHECK(frame[54 + bytes + i] == 0);
    ParsedPacket packet;
    REQUIRE(parse(frame, LinkLayer::Ethernet, packet) == Good);
    CHECK(packet.payload_bytes == bytes);
    CHECK(packet.payload_offset == 54);
    CHECK(packet.icrc_offset == 54 + bytes + pad);
  }
}

TEST_CASE("lengths that their fields cannot hold are refused", "[proto][packet]") {
  std::vector<u8> room(70000);
  const OpcodeRow& row = *opcode_row(0x04);
  const auto build = [&](Framing framing, u32 payload) {
    write_headers(make_path(address(framing)), row, Bth{}, {}, payload, room.data());
  };
  CHECK_NOTHROW(build(Framing::IbLocal, 4096));
  CHECK_NOTHROW(build(Framing::IbLocal, 8164));  // 2047 words = 8 + 12 + 8164 + 4
  CHECK_THROWS_AS(build(Framing::IbLocal, 8165), std::out_of_range);
  CHECK_THROWS_AS(build(Framing::RoceV2Ip4, 65536), std::out_of_range);
  AddressVector av = address(Framing::IbGlobal);
  av.service_level = 16;
  CHECK_THROWS_AS(make_path(av), std::out_of_range);
  Bth bth{};
  bth.dest_qp = 0x1000000;
  CHECK_THROWS_AS(write_headers(make_path(address(Framing::RoceV1)), row, bth, {}, 0, room.data()),
                  std::out_of_range);
}
