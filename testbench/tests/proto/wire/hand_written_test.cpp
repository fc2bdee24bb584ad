// SPDX-License-Identifier: Apache-2.0
// The packets that no dissector at hand can judge, written out by hand from the specification's
// tables: T1 gives each header's bytes, T3 the headers of each opcode.
// clang-format off
//
//   header        bytes                 fields
//   ------------  --------------------  -------------------------------------------------------------
//   BTH           op                    opcode
//                 40                    SE 0, M 1, PadCnt 0, TVer 0; with 3 bytes of pad 70
//                 8001                  P_Key
//                 00                    F 0, B 0, Resv6 0
//                 012345                DestQP
//                 80                    A 1, Resv7 0
//                 ABCDEF                PSN
//   RDETH         00 654321             reserved, EE context
//   DETH          11223344 00 0A0B0C    Q_Key, reserved, SrcQP
//   XRCETH        00 00BEEF             reserved, XRCSRQ
//   RETH          0102030405060708      VA
//                 A1A2A3A4 00000005     R_Key, DMALen
//   AtomicETH     0102030405060710      VA
//                 A1A2A3A4              R_Key
//                 1111111122222222      SwapDt
//                 3333333344444444      CmpDt
//   AETH          1F 000777             Syndrome, MSN
//   AtomicAckETH  8899AABBCCDDEEFF      OrigRemDt
//   ImmDt         C0FFEE01              immediate data
//   IETH          B1B2B3B4              R_Key
//   EOETH         0000 0102             reserved, extended opcode
//                 00010000 00000200     response length, offset
//   FETH          00000012              reserved (26 bits), selectivity 1 (2 bits), placement type 2 (4 bits)
//   payload       D1D2D3D4D5 000000     5 bytes and 3 of pad
//                 5A ...                256 bytes where the opcode asks for a whole PMTU
//
// clang-format on
#include <catch2/catch.hpp>

#include "model/proto/wire/packet.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;
using test::operator+;

namespace {

struct HandWritten {
  u8 code;
  u32 payload_bytes;
  std::string_view bytes;  // BTH to pad; without the 256 bytes of a whole PMTU
};

// clang-format off
const std::vector<HandWritten> kPackets{
    // RD SEND First: BTH RDETH DETH and 256 bytes of payload
    {0x40, 256,
     "40 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C"},
    // XRC SEND First: BTH XRCETH and 256 bytes of payload
    {0xA0, 256,
     "A0 40 8001 00 012345 80 ABCDEF  00 00BEEF"},
    // RD SEND Middle: BTH RDETH DETH and 256 bytes of payload
    {0x41, 256,
     "41 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C"},
    // XRC SEND Middle: BTH XRCETH and 256 bytes of payload
    {0xA1, 256,
     "A1 40 8001 00 012345 80 ABCDEF  00 00BEEF"},
    // RD SEND Last: BTH RDETH DETH payload pad
    {0x42, 5,
     "42 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  D1D2D3D4D5 000000"},
    // XRC SEND Last: BTH XRCETH payload pad
    {0xA2, 5,
     "A2 70 8001 00 012345 80 ABCDEF  00 00BEEF  D1D2D3D4D5 000000"},
    // RD SEND Last with Immediate: BTH RDETH DETH ImmDt payload pad
    {0x43, 5,
     "43 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  C0FFEE01  D1D2D3D4D5 000000"},
    // XRC SEND Last with Immediate: BTH XRCETH ImmDt payload pad
    {0xA3, 5,
     "A3 70 8001 00 012345 80 ABCDEF  00 00BEEF  C0FFEE01  D1D2D3D4D5 000000"},
    // RD SEND Only: BTH RDETH DETH payload pad
    {0x44, 5,
     "44 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  D1D2D3D4D5 000000"},
    // XRC SEND Only: BTH XRCETH payload pad
    {0xA4, 5,
     "A4 70 8001 00 012345 80 ABCDEF  00 00BEEF  D1D2D3D4D5 000000"},
    // RD SEND Only with Immediate: BTH RDETH DETH ImmDt payload pad
    {0x45, 5,
     "45 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  C0FFEE01  D1D2D3D4D5 000000"},
    // XRC SEND Only with Immediate: BTH XRCETH ImmDt payload pad
    {0xA5, 5,
     "A5 70 8001 00 012345 80 ABCDEF  00 00BEEF  C0FFEE01  D1D2D3D4D5 000000"},
    // RD RDMA WRITE First: BTH RDETH DETH RETH and 256 bytes of payload
    {0x46, 256,
     "46 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060708 A1A2A3A4 00000005"},
    // XRC RDMA WRITE First: BTH XRCETH RETH and 256 bytes of payload
    {0xA6, 256,
     "A6 40 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060708 A1A2A3A4 00000005"},
    // RD RDMA WRITE Middle: BTH RDETH DETH and 256 bytes of payload
    {0x47, 256,
     "47 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C"},
    // XRC RDMA WRITE Middle: BTH XRCETH and 256 bytes of payload
    {0xA7, 256,
     "A7 40 8001 00 012345 80 ABCDEF  00 00BEEF"},
    // RD RDMA WRITE Last: BTH RDETH DETH payload pad
    {0x48, 5,
     "48 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  D1D2D3D4D5 000000"},
    // XRC RDMA WRITE Last: BTH XRCETH payload pad
    {0xA8, 5,
     "A8 70 8001 00 012345 80 ABCDEF  00 00BEEF  D1D2D3D4D5 000000"},
    // RD RDMA WRITE Last with Immediate: BTH RDETH DETH ImmDt payload pad
    {0x49, 5,
     "49 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  C0FFEE01  D1D2D3D4D5 000000"},
    // XRC RDMA WRITE Last with Immediate: BTH XRCETH ImmDt payload pad
    {0xA9, 5,
     "A9 70 8001 00 012345 80 ABCDEF  00 00BEEF  C0FFEE01  D1D2D3D4D5 000000"},
    // RD RDMA WRITE Only: BTH RDETH DETH RETH payload pad
    {0x4A, 5,
     "4A 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060708 A1A2A3A4 00000005  D1D2D3D4D5 000000"},
    // XRC RDMA WRITE Only: BTH XRCETH RETH payload pad
    {0xAA, 5,
     "AA 70 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060708 A1A2A3A4 00000005  D1D2D3D4D5 000000"},
    // RD RDMA WRITE Only with Immediate: BTH RDETH DETH RETH ImmDt payload pad
    {0x4B, 5,
     "4B 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060708 A1A2A3A4 00000005  C0FFEE01  D1D2D3D4D5 000000"},
    // XRC RDMA WRITE Only with Immediate: BTH XRCETH RETH ImmDt payload pad
    {0xAB, 5,
     "AB 70 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060708 A1A2A3A4 00000005  C0FFEE01  D1D2D3D4D5 000000"},
    // RD RDMA READ Request: BTH RDETH DETH RETH
    {0x4C, 0,
     "4C 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060708 A1A2A3A4 00000005"},
    // XRC RDMA READ Request: BTH XRCETH RETH
    {0xAC, 0,
     "AC 40 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060708 A1A2A3A4 00000005"},
    // RD RDMA READ Response First: BTH RDETH AETH and 256 bytes of payload
    {0x4D, 256,
     "4D 40 8001 00 012345 80 ABCDEF  00 654321  1F 000777"},
    // XRC RDMA READ Response First: BTH AETH and 256 bytes of payload
    {0xAD, 256,
     "AD 40 8001 00 012345 80 ABCDEF  1F 000777"},
    // RD RDMA READ Response Middle: BTH RDETH and 256 bytes of payload
    {0x4E, 256,
     "4E 40 8001 00 012345 80 ABCDEF  00 654321"},
    // XRC RDMA READ Response Middle: BTH and 256 bytes of payload
    {0xAE, 256,
     "AE 40 8001 00 012345 80 ABCDEF"},
    // RD RDMA READ Response Last: BTH RDETH AETH payload pad
    {0x4F, 5,
     "4F 70 8001 00 012345 80 ABCDEF  00 654321  1F 000777  D1D2D3D4D5 000000"},
    // XRC RDMA READ Response Last: BTH AETH payload pad
    {0xAF, 5,
     "AF 70 8001 00 012345 80 ABCDEF  1F 000777  D1D2D3D4D5 000000"},
    // RD RDMA READ Response Only: BTH RDETH AETH payload pad
    {0x50, 5,
     "50 70 8001 00 012345 80 ABCDEF  00 654321  1F 000777  D1D2D3D4D5 000000"},
    // XRC RDMA READ Response Only: BTH AETH payload pad
    {0xB0, 5,
     "B0 70 8001 00 012345 80 ABCDEF  1F 000777  D1D2D3D4D5 000000"},
    // RD Acknowledge: BTH RDETH AETH
    {0x51, 0,
     "51 40 8001 00 012345 80 ABCDEF  00 654321  1F 000777"},
    // XRC Acknowledge: BTH AETH
    {0xB1, 0,
     "B1 40 8001 00 012345 80 ABCDEF  1F 000777"},
    // RD ATOMIC Acknowledge: BTH RDETH AETH AtomicAckETH
    {0x52, 0,
     "52 40 8001 00 012345 80 ABCDEF  00 654321  1F 000777  8899AABBCCDDEEFF"},
    // XRC ATOMIC Acknowledge: BTH AETH AtomicAckETH
    {0xB2, 0,
     "B2 40 8001 00 012345 80 ABCDEF  1F 000777  8899AABBCCDDEEFF"},
    // RD CmpSwap: BTH RDETH DETH AtomicETH
    {0x53, 0,
     "53 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060710 A1A2A3A4 1111111122222222 3333333344444444"},
    // XRC CmpSwap: BTH XRCETH AtomicETH
    {0xB3, 0,
     "B3 40 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060710 A1A2A3A4 1111111122222222 3333333344444444"},
    // RD FetchAdd: BTH RDETH DETH AtomicETH
    {0x54, 0,
     "54 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0102030405060710 A1A2A3A4 1111111122222222 3333333344444444"},
    // XRC FetchAdd: BTH XRCETH AtomicETH
    {0xB4, 0,
     "B4 40 8001 00 012345 80 ABCDEF  00 00BEEF  0102030405060710 A1A2A3A4 1111111122222222 3333333344444444"},
    // RD RESYNC: BTH RDETH DETH
    {0x55, 0,
     "55 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C"},
    // XRC SEND Last with Invalidate: BTH XRCETH IETH payload pad
    {0xB6, 5,
     "B6 70 8001 00 012345 80 ABCDEF  00 00BEEF  B1B2B3B4  D1D2D3D4D5 000000"},
    // XRC SEND Only with Invalidate: BTH XRCETH IETH payload pad
    {0xB7, 5,
     "B7 70 8001 00 012345 80 ABCDEF  00 00BEEF  B1B2B3B4  D1D2D3D4D5 000000"},
    // RC GET class operation: BTH EOETH
    {0x1A, 0,
     "1A 40 8001 00 012345 80 ABCDEF  0000 0102 00010000 00000200"},
    // RD GET class operation: BTH RDETH DETH EOETH
    {0x5A, 0,
     "5A 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0000 0102 00010000 00000200"},
    // XRC GET class operation: BTH XRCETH EOETH
    {0xBA, 0,
     "BA 40 8001 00 012345 80 ABCDEF  00 00BEEF  0000 0102 00010000 00000200"},
    // RC PUT class operation: BTH EOETH payload pad
    {0x1B, 5,
     "1B 70 8001 00 012345 80 ABCDEF  0000 0102 00010000 00000200  D1D2D3D4D5 000000"},
    // RD PUT class operation: BTH RDETH DETH EOETH payload pad
    {0x5B, 5,
     "5B 70 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  0000 0102 00010000 00000200  D1D2D3D4D5 000000"},
    // XRC PUT class operation: BTH XRCETH EOETH payload pad
    {0xBB, 5,
     "BB 70 8001 00 012345 80 ABCDEF  00 00BEEF  0000 0102 00010000 00000200  D1D2D3D4D5 000000"},
    // RC FLUSH: BTH FETH RETH
    {0x1C, 0,
     "1C 40 8001 00 012345 80 ABCDEF  00000012  0102030405060708 A1A2A3A4 00000005"},
    // RD FLUSH: BTH RDETH DETH FETH RETH
    {0x5C, 0,
     "5C 40 8001 00 012345 80 ABCDEF  00 654321  11223344 00 0A0B0C  00000012  0102030405060708 A1A2A3A4 00000005"},
    // XRC FLUSH: BTH XRCETH FETH RETH
    {0xBC, 0,
     "BC 40 8001 00 012345 80 ABCDEF  00 00BEEF  00000012  0102030405060708 A1A2A3A4 00000005"},
    // RC ATOMIC WRITE: BTH RETH payload
    {0x1D, 8,
     "1D 40 8001 00 012345 80 ABCDEF  0102030405060708 A1A2A3A4 00000005  D1D2D3D4D5D6D7D8"},
    // CNP CN: BTH CNP
    {0x80, 0,
     "80 40 8001 00 012345 80 ABCDEF  00000000000000000000000000000000"},
    // CNP CNP: BTH CNP
    {0x81, 0,
     "81 40 8001 00 012345 80 ABCDEF  00000000000000000000000000000000"},
};
// clang-format on

constexpr Bth kBth{0, false, true, 0, 0, 0x8001, false, false, 0x012345, true, 0xABCDEF};
ExtHeaders all_ext() {
  ExtHeaders ext{};
  ext.rdeth = {0x654321};
  ext.deth = {0x11223344, 0x0A0B0C};
  ext.xrc_eth = {0xBEEF};
  ext.eoeth = {0x0102, 0x10000, 0x200};
  ext.feth = {1, 2};
  ext.reth = {0x0102030405060708, 0xA1A2A3A4, 5};
  ext.atomic_eth = {0x0102030405060710, 0xA1A2A3A4, 0x1111111122222222, 0x3333333344444444};
  ext.aeth = {0x1F, 0x777};
  ext.atomic_ack_eth = {0x8899AABBCCDDEEFF};
  ext.imm_dt = {0xC0FFEE01};
  ext.ieth = {0xB1B2B3B4};
  return ext;
}

std::vector<u8> payload_of(u32 bytes) {
  if (bytes == 256) return std::vector<u8>(256, 0x5A);
  std::vector<u8> payload;
  for (u32 i = 0; i < bytes; ++i) payload.push_back(u8(0xD1 + i));
  return payload;
}

AddressVector ipv4_address(Framing framing) {
  AddressVector av;
  av.framing = framing;
  av.source_gid = gid_of_ipv4(0x0A000001);
  av.destination_gid = gid_of_ipv4(0x0A000002);
  return av;
}

std::vector<u8> built(const Path& path, const OpcodeRow& row, const Bth& bth, const ExtHeaders& ext,
                      const std::vector<u8>& payload) {
  std::vector<u8> frame(frame_bytes(path, row, u32(payload.size())), 0xEE);
  const u32 at = write_headers(path, row, bth, ext, u32(payload.size()), frame.data());
  std::copy(payload.begin(), payload.end(), frame.begin() + at);
  REQUIRE(finish_frame(frame.data(), shape_of(path, row, u32(payload.size()))) == frame.size());
  return frame;
}

void check_parsed(const ParsedPacket& p, u8 code, const ExtHeaders& ext) {
  CHECK(p.bth.opcode == code);
  CHECK((p.bth.mig_req && p.bth.ack_req && !p.bth.solicited && !p.bth.fecn && !p.bth.becn));
  CHECK((p.bth.pkey == 0x8001 && p.bth.dest_qp == 0x012345 && p.bth.psn == 0xABCDEF));
  if (p.has(Ext::Rdeth)) CHECK(p.rdeth.ee_context == ext.rdeth.ee_context);
  if (p.has(Ext::Deth)) CHECK((p.deth.qkey == ext.deth.qkey && p.deth.src_qp == ext.deth.src_qp));
  if (p.has(Ext::XrcEth)) CHECK(p.xrc_eth.xrc_srq == ext.xrc_eth.xrc_srq);
  if (p.has(Ext::Eoeth))
    CHECK((p.eoeth.extended_opcode == 0x0102 && p.eoeth.response_length == 0x10000 &&
           p.eoeth.offset == 0x200));
  if (p.has(Ext::Feth)) CHECK((p.feth.selectivity == 1 && p.feth.placement_type == 2));
  if (p.has(Ext::Reth))
    CHECK((p.reth.va == ext.reth.va && p.reth.rkey == ext.reth.rkey && p.reth.dma_len == 5));
  if (p.has(Ext::AtomicEth))
    CHECK((p.atomic_eth.va == ext.atomic_eth.va && p.atomic_eth.rkey == ext.atomic_eth.rkey &&
           p.atomic_eth.swap_add == ext.atomic_eth.swap_add &&
           p.atomic_eth.compare == ext.atomic_eth.compare));
  if (p.has(Ext::Aeth)) CHECK((p.aeth.syndrome == 0x1F && p.aeth.msn == 0x777));
  if (p.has(Ext::AtomicAckEth)) CHECK(p.atomic_ack_eth.original == ext.atomic_ack_eth.original);
  if (p.has(Ext::ImmDt)) CHECK(p.imm_dt.data == 0xC0FFEE01);
  if (p.has(Ext::Ieth)) CHECK(p.ieth.rkey == 0xB1B2B3B4);
}

}  // namespace

TEST_CASE("packets that no dissector judges are byte for byte what the tables say",
          "[proto][packet][C9-2][HDR-1][HDR-3][HDR-23][EXT-1][G26.2]") {
  REQUIRE(kPackets.size() == 57);
  for (const HandWritten& hand : kPackets) {
    const OpcodeRow* row = opcode_row(hand.code);
    REQUIRE(row != nullptr);
    INFO(name_of(row->service) << " " << row->name);
    std::vector<u8> expected = hex(hand.bytes);
    if (hand.payload_bytes == 256) expected = expected + payload_of(256);
    for (const FramingRow& framing : kFramingRows) {
      INFO(framing.name);
      const Path path = make_path(ipv4_address(framing.framing));
      const ExtHeaders ext = all_ext();
      const std::vector<u8> frame = built(path, *row, kBth, ext, payload_of(hand.payload_bytes));
      const std::vector<u8> transport(frame.begin() + path.bytes,
                                      frame.begin() + path.bytes + std::ptrdiff_t(expected.size()));
      CHECK(transport == expected);
      CHECK(frame.size() ==
            path.bytes + expected.size() + 4 + (framing.link == LinkLayer::InfiniBand ? 2 : 0));

      ParsedPacket packet;
      REQUIRE(parse(frame, framing.link, packet) == PacketVerdict::Good);
      CHECK(packet.framing == framing.framing);
      CHECK(packet.payload_bytes == hand.payload_bytes);
      check_parsed(packet, hand.code, ext);
      CHECK(icrc_good(frame, packet));
      if (framing.link == LinkLayer::InfiniBand) CHECK(vcrc_good(frame, packet));
    }
  }
}

TEST_CASE("FECN and BECN are bits 7 and 6 of BTH byte 4, the ICRC ignores them",
          "[proto][packet][BTH-14][BTH-15]") {
  const Path path = make_path(ipv4_address(Framing::RoceV2Ip4));
  const OpcodeRow& row = *opcode_row(0x11);
  Bth bth = kBth;
  const std::vector<u8> plain = built(path, row, bth, all_ext(), {});
  bth.fecn = true;
  std::vector<u8> fecn = built(path, row, bth, all_ext(), {});
  // BTH 11 40 8001 80 012345 80 ABCDEF, AETH 1F 000777
  CHECK(std::vector<u8>(fecn.begin() + 42, fecn.begin() + 58) ==
        hex("11 40 8001 80 012345 80 ABCDEF 1F 000777"));
  bth.fecn = false;
  bth.becn = true;
  std::vector<u8> becn = built(path, row, bth, all_ext(), {});
  CHECK(std::vector<u8>(becn.begin() + 42, becn.begin() + 58) ==
        hex("11 40 8001 40 012345 80 ABCDEF 1F 000777"));
  fecn[46] = becn[46] = 0;
  CHECK(fecn == plain);
  CHECK(becn == plain);
}
