// SPDX-License-Identifier: Apache-2.0
// Every contradiction inside a frame has a named verdict, and nothing is read after its end.
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <string>

#include "testbench/tests/proto/send_only.h"

using namespace hca;
using namespace hca::proto;
using namespace hca::test;

TEST_CASE("a frame cut anywhere is truncated, never read behind its end",
          "[proto][packet][T12-4]") {
  for (const FramingRow& row : kFramingRows)
    for (const u32 payload : {0u, 5u, 300u}) {
      const std::vector<u8> frame = send_only(row.framing, payload);
      CHECK(verdict_of(frame, row.link) == Good);
      for (std::size_t size = 0; size < frame.size(); ++size) {
        INFO(row.name << " cut to " << size);
        CHECK(verdict_of(head(frame, size), row.link) == Truncated);
      }
    }
}

TEST_CASE("bytes behind the announced length are padding on Ethernet, an error natively",
          "[proto][packet][G34.3][T12-1]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    const std::vector<u8> longer = send_only(row.framing, 0) + hex("00000000");
    CHECK(verdict_of(longer, row.link) == (row.link == LinkLayer::Ethernet ? Good : BadLength));
  }
}

namespace {

// Each row breaks one thing in an RC SEND Only with 5 bytes of payload.
struct Broken {
  std::string what;
  Framing framing;
  std::function<void(std::vector<u8>&)> change;
  PacketVerdict verdict;
};

void fix_checksum(std::vector<u8>& f) {
  f[24] = f[25] = 0;
  u32 sum = 0;
  for (int i = 14; i < 34; i += 2) sum += u32(f[i] << 8 | f[i + 1]);
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  f[24] = u8(~sum >> 8);
  f[25] = u8(~sum);
}
std::function<void(std::vector<u8>&)> set(std::size_t at, u8 value, bool checksum = false) {
  return [=](std::vector<u8>& f) {
    f.at(at) = value;
    if (checksum) fix_checksum(f);
  };
}

const std::vector<Broken>& broken_frames() {
  static const std::vector<Broken> rows{
      {"EtherType of ARP", Framing::RoceV2Ip4, set(13, 0x06), UnknownEtherType},
      {"IP version 6 under the EtherType of IPv4", Framing::RoceV2Ip4, set(14, 0x65), BadIpVersion},
      {"IHL 6", Framing::RoceV2Ip4, set(14, 0x46), BadIpHeaderLength},
      {"IHL 4", Framing::RoceV2Ip4, set(14, 0x44), BadIpHeaderLength},
      {"one bit of the header checksum", Framing::RoceV2Ip4, [](auto& f) { f[25] ^= 1; },
       BadIpChecksum},
      {"total length below the header", Framing::RoceV2Ip4, set(17, 19, true), BadLength},
      {"total length beyond the frame", Framing::RoceV2Ip4, set(17, 53, true), Truncated},
      {"total length and UDP length differ", Framing::RoceV2Ip4, set(39, 28), BadLength},
      {"more fragments", Framing::RoceV2Ip4, set(20, 0x20, true), Fragment},
      {"fragment offset", Framing::RoceV2Ip4, set(21, 0x01, true), Fragment},
      {"TCP", Framing::RoceV2Ip4, set(23, 6, true), NotUdp},
      {"UDP port 4792", Framing::RoceV2Ip4, set(37, 0xB8), BadUdpPort},
      {"a UDP checksum that is not right", Framing::RoceV2Ip4, set(41, 0x01), BadUdpChecksum},
      {"no room for a BTH", Framing::RoceV2Ip4,
       [](auto& f) {
         f[17] = 20 + 8 + 12;
         f[39] = 8 + 12;
         fix_checksum(f);
       },
       Truncated},
      {"not whole words", Framing::RoceV2Ip4,
       [](auto& f) {
         f[17] = 51;
         f[39] = 31;
         fix_checksum(f);
       },
       BadLength},
      {"PadCnt 3 without payload", Framing::RoceV2Ip4,
       [](auto& f) {
         f[17] = 44;
         f[39] = 24;
         fix_checksum(f);
       },
       BadPad},
      {"TVer 1", Framing::RoceV2Ip4, [](auto& f) { f[43] |= 1; }, BadTver},
      {"reserved opcode 0x15", Framing::RoceV2Ip4, set(42, 0x15), ReservedOpcode},
      {"reserved opcode 0x66", Framing::RoceV2Ip4, set(42, 0x66), ReservedOpcode},
      {"manufacturer's opcode 0xC4", Framing::RoceV2Ip4, set(42, 0xC4), ReservedOpcode},
      {"too short for its AtomicETH", Framing::RoceV2Ip4, set(42, 0x13), Truncated},
      {"a bit of the payload", Framing::RoceV2Ip4, [](auto& f) { f[55] ^= 4; }, BadIcrc},
      {"a bit of the ICRC", Framing::RoceV2Ip4, [](auto& f) { f.back() ^= 4; }, BadIcrc},
      {"IP version 4 under the EtherType of IPv6", Framing::RoceV2Ip6, set(14, 0x4A), BadIpVersion},
      {"IPv6 length beyond the frame", Framing::RoceV2Ip6, set(19, 0x21), Truncated},
      {"IPv6 next header", Framing::RoceV2Ip6, set(20, 0), NotUdp},
      {"IPv6 and UDP length differ", Framing::RoceV2Ip6, set(59, 0x1C), BadLength},
      {"RoCEv1 IPVer", Framing::RoceV1, set(14, 0x5A), BadIpVersion},
      {"RoCEv1 NxtHdr", Framing::RoceV1, set(20, 17), BadNextHeader},
      {"RoCEv1 PayLen beyond the frame", Framing::RoceV1, set(19, 0x19), Truncated},
      {"LVer 1", Framing::IbLocal, set(0, 0x11), BadLver},
      {"LNH raw", Framing::IbLocal, set(1, 0x30), RawPacket},
      {"LNH raw IPv6", Framing::IbLocal, set(1, 0x31), RawPacket},
      {"PktLen too short", Framing::IbLocal, set(5, 7), BadLength},
      {"PktLen beyond the frame", Framing::IbLocal, set(5, 9), Truncated},
      {"PktLen 1", Framing::IbLocal,
       [](auto& f) {
         f[5] = 1;
         f.resize(6);
       },
       Truncated},
      {"a bit of the VCRC", Framing::IbLocal, [](auto& f) { f.back() ^= 1; }, BadVcrc},
      {"a bit of the VL", Framing::IbLocal, [](auto& f) { f[0] ^= 0x10; }, BadVcrc},
      {"GRH NxtHdr", Framing::IbGlobal, set(14, 17), BadNextHeader},
      {"GRH IPVer", Framing::IbGlobal, set(8, 0x4A), BadIpVersion},
      {"GRH PayLen too short", Framing::IbGlobal, set(13, 0x14), BadLength},
      {"GRH PayLen too long", Framing::IbGlobal, set(13, 0x1C), BadLength},
  };
  return rows;
}

}  // namespace

TEST_CASE("each contradiction has its verdict",
          "[proto][packet][G34.3][T12-1][T12-2][T12-3][T12-4][C9-36][C9-44][C9-45][BTH-1][BTH-4]["
          "BTH-11][DROP-2]") {
  for (const Broken& row : broken_frames()) {
    INFO(row.what);
    std::vector<u8> frame = send_only(row.framing, 5);
    row.change(frame);
    const PacketVerdict verdict = verdict_of(frame, framing_row(row.framing).link);
    CHECK(verdict_row(verdict).name == verdict_row(row.verdict).name);
  }
}

TEST_CASE("every verdict is drawn by some frame", "[proto][packet]") {
  for (const VerdictRow& row : verdict_rows()) {
    if (row.verdict == Good) continue;
    INFO(row.name);
    const auto& rows = broken_frames();
    CHECK(std::any_of(rows.begin(), rows.end(),
                      [&](const Broken& b) { return b.verdict == row.verdict; }));
  }
}

TEST_CASE("a right UDP checksum is accepted", "[proto][packet][G34.3]") {
  for (const Framing framing : {Framing::RoceV2Ip4, Framing::RoceV2Ip6}) {
    const bool ip4 = framing == Framing::RoceV2Ip4;
    std::vector<u8> frame = send_only(framing, 5);
    const std::size_t udp = ip4 ? 34 : 54, addresses = ip4 ? 26 : 22;
    u32 sum = 17 + u32(frame.size() - udp);
    for (std::size_t i = addresses; i < udp; i += 2) sum += u32(frame[i] << 8 | frame[i + 1]);
    for (std::size_t i = udp; i < frame.size(); i += 2) sum += u32(frame[i] << 8 | frame[i + 1]);
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    frame[udp + 6] = u8(~sum >> 8);
    frame[udp + 7] = u8(~sum);
    CHECK(verdict_of(frame, LinkLayer::Ethernet) == Good);  // and the ICRC does not cover it
  }
}

TEST_CASE("any bytes draw a verdict and are not read behind their end", "[proto][packet]") {
  const u32 seed = 20251120;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20000; ++round) {
    const FramingRow& row = kFramingRows[random() % kFramingCount];
    std::vector<u8> frame = send_only(row.framing, random() % 40);
    frame.resize(random() % (frame.size() + 4));
    for (unsigned changes = random() % 4; changes > 0 && !frame.empty(); --changes)
      frame[random() % frame.size()] = u8(random());
    if (frame.size() > 26 && row.framing == Framing::RoceV2Ip4 && random() % 2 && frame.size() > 34)
      fix_checksum(frame);
    CHECK(verdict_row(verdict_of(frame, row.link)).name != "");
  }
}
