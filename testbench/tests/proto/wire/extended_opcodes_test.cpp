// SPDX-License-Identifier: Apache-2.0
// Packets of the extended operations, written out by hand: BTH, EOETH, RETH and payload.
#include <catch2/catch.hpp>

#include "model/proto/wire/packet.h"
#include "model/proto/wire/parse_at.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;
using test::operator+;

namespace {
constexpr std::string_view kPutBth = "1B 00 FFFF 00 000011 00 000100";
constexpr std::string_view kGetBth = "1A 00 FFFF 00 000011 00 000100";
// VA 0x1000, R_Key 0x77, DMALen 600 = 0x258.
constexpr std::string_view kRethOf600 = "0000000000001000 00000077 00000258";

// From the BTH to the ICRC, whose bytes do not matter here.
ParsedPacket parsed_extended(std::string_view bth, std::string_view eoeth, std::string_view reth,
                             u32 payload_bytes, PacketVerdict wanted = PacketVerdict::Good) {
  std::vector<u8> bytes = hex(bth) + hex(eoeth) + hex(reth);
  bytes.resize(bytes.size() + payload_bytes + kIcrcBytes);
  ParsedPacket packet{};
  CHECK(parse_at(bytes, Layer::Bth, 0, packet) == wanted);
  return packet;
}
}  // namespace

TEST_CASE("Offset, payload and DMALen give a PUT's packet its position", "[proto][packet][EXT-5]") {
  const auto position = [](std::string_view eoeth, u32 payload_bytes) {
    const ParsedPacket p = parsed_extended(kPutBth, eoeth, kRethOf600, payload_bytes);
    CHECK(p.payload_bytes == payload_bytes);
    CHECK((p.reth.va == 0x1000 && p.reth.rkey == 0x77 && p.reth.dma_len == 600));
    return p.opcode->position;
  };
  CHECK(position("0000 0002 00000000 00000000", 256) == Position::First);
  CHECK(position("0000 0002 00000000 00000100", 256) == Position::Middle);
  CHECK(position("0000 0002 00000000 00000200", 88) == Position::Last);  // 512 + 88 = 600
  CHECK(position("0000 0002 00000000 00000000", 600) == Position::Only);
  // Offset + 256 is 600 modulo 2^32: the sum has more than 32 bits.
  CHECK(position("0000 0002 00000000 00000158", 256) == Position::Last);
  CHECK(position("0000 0002 00000000 FFFFFFFC", 604) == Position::Middle);
}

TEST_CASE("the Extended OpCode of its own class gives a packet its headers",
          "[proto][packet][EXT-1][EXT-3][EXT-6]") {
  const ParsedPacket get = parsed_extended(kGetBth, "FFFF 0001 00000258 00000100", kRethOf600, 8);
  CHECK(get.opcode->name == "GET Memory");
  CHECK((get.eoeth.response_length == 600 && get.eoeth.offset == 256 && get.payload_bytes == 8));
  // That of the other class, 0, and one that differs in its high byte name nothing: the EOETH is
  // the last header, and 16 bytes of RETH are payload.
  for (const std::string_view unknown :
       {"0000 0002 00000258 00000000", "0000 0000 00000258 00000000",
        "0000 0101 00000258 00000000"}) {
    const ParsedPacket p = parsed_extended(kGetBth, unknown, kRethOf600, 8);
    CHECK((p.opcode->is_class() && p.payload_bytes == 16 + 8));
  }
  const ParsedPacket alone = parsed_extended(kGetBth, "0000 0003 00000000 00000000", "", 0);
  CHECK((alone.opcode->is_class() && alone.payload_bytes == 0));
}

TEST_CASE("an extended operation without its headers is truncated for a device that has it",
          "[proto][packet][BTH-2][EXT-12]") {
  const auto form = [](const ParsedPacket& p) { return form_if_executed(p); };
  const auto reserved = PacketVerdict::ReservedOpcode;
  CHECK(form(parsed_extended(kPutBth, "0000 0002 00000000", "", 0, reserved)) ==
        PacketVerdict::Truncated);
  CHECK(form(parsed_extended(kPutBth, "0000 0002 00000000 00000000", "0000000000001000", 0,
                             reserved)) == PacketVerdict::Truncated);
}
