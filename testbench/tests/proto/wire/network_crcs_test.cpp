// SPDX-License-Identifier: Apache-2.0
// The cached ICRC over network headers: the same ICRC as without the cache.
#include "model/proto/wire/network_crcs.h"

#include <catch2/catch.hpp>

#include "testbench/tests/proto/send_only.h"

using namespace hca;
using namespace hca::test;

namespace {
// The ICRC that is inserted by what is known is that of a frame of which nothing is.
void check_inserted(std::vector<u8> frame, const FrameShape& shape, NetworkCrcs& known) {
  std::vector<u8> plain = frame;
  finish_frame(plain.data(), shape);
  insert_icrc(frame.data(), shape, known);
  CHECK(head(frame, shape.icrc_offset + kIcrcBytes) == head(plain, shape.icrc_offset + kIcrcBytes));
}
}  // namespace

// More of them than are kept, each twice in turn and then in rows. The first 20 differ in
// addresses and hop limit alone.
TEST_CASE("an ICRC behind headers that are known is that of the whole frame",
          "[proto][crc][repeated]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    NetworkCrcs known;
    for (const u32 repeats : {1u, 1u, 3u})
      for (u16 to = 0; to < 40; ++to) {
        AddressVector av = address(row.framing);
        av.destination_gid.bytes[15] = av.destination_lid = to;
        av.udp_source_port = u16(0xC000 + to / 20), av.hop_limit = u8(to);
        const Path path = make_path(av);
        const OpcodeRow& opcode = *opcode_row(0x04);  // SEND Only
        const u32 payload = to < 20 ? 5 : 17 * to;
        std::vector<u8> frame(frame_bytes(path, opcode, payload));
        Bth bth{};
        bth.fecn = to & 1, bth.becn = to & 2, bth.dest_qp = to, bth.psn = 7 * to;
        write_headers(path, opcode, bth, {}, payload, frame.data());
        for (u32 i = 0; i < repeats; ++i)
          check_inserted(frame, shape_of(path, opcode, payload), known);
      }
  }
}

// Once after an LRH of eight bytes, and once after 28 bytes that begin and end with the same eight.
TEST_CASE("a known CRC counts for headers of its framing alone", "[proto][crc][repeated]") {
  NetworkCrcs known;
  std::vector<u8> frame(60);
  for (std::size_t i = 0; i < 8; ++i) frame[i] = frame[20 + i] = u8(3 * i + 1);
  const FrameShape of_ip{Framing::RoceV2Ip4, 0, 28, 40, 0, 40};
  const FrameShape local{Framing::IbLocal, 0, 8, 20, 0, 20};
  for (int i = 0; i < 2; ++i)
    check_inserted(frame, of_ip, known), check_inserted(frame, local, known);
}

// The cache is used: with another CRC in it the same headers give another ICRC.
TEST_CASE("the CRC of headers that repeat is taken from what is kept", "[proto][crc][repeated]") {
  for (const FramingRow& row : kFramingRows) {
    INFO(row.name);
    std::vector<u8> frame = send_only(row.framing, 8);
    ParsedPacket packet;
    REQUIRE(parse(frame, row.link, packet) == Good);
    NetworkCrcs known;
    insert_icrc(frame.data(), packet, known);
    const std::vector<u8> good = frame;
    for (u64 key = 0; key < 1000; ++key) ++known.at(key).crc;
    insert_icrc(frame.data(), packet, known);
    CHECK(frame != good);
  }
}
