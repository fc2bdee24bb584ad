// SPDX-License-Identifier: Apache-2.0
// rtl/rx_parser/rx_parser.sv against frames written down from the specification.
#include "rtl/cpp/rx_parser_rtl.h"
#include "testbench/tests/lockstep/rtl_frame.h"

namespace hca::testbench {
namespace {
using proto::PacketVerdict;

struct Parsed {
  rtl::Parsed first{};
  PacketVerdict verdict{};
  Bytes payload;
  unsigned latency = 0, beats = 0;
};
Parsed parse(rtl::RxParserRtl& rtl, const Bytes& frame, Framing framing) {
  Parsed out;
  const u32 beats = beats_of(u32(frame.size()), rtl.beat_bytes());
  for (u32 cycle = 0; cycle < beats + 20; ++cycle) {
    rtl.begin_cycle(true);
    if (rtl.out_valid()) {
      const auto beat = rtl.out();
      if (beat.control.first) out.first = beat.control, out.latency = cycle;
      if (beat.control.last) out.verdict = beat.control.verdict;
      ++out.beats;
      out.payload.insert(out.payload.end(), beat.data.begin(),
                         beat.data.begin() + beat.control.bytes);
    }
    rtl::Beat beat{};
    if (cycle < beats) {
      beat = pins_of(frame, cycle, IcrcMode::Check, framing, false, rtl.beat_bytes());
      beat.control.icrc_ok = beat.control.vcrc_ok = true;
    }
    rtl.drive(cycle < beats ? &beat : nullptr);
    rtl.end_cycle();
  }
  return out;
}
}  // namespace

TEST_CASE("the fields of a recorded CNP and its 16 bytes are found", "[rx_parser][rtl][G26.2]") {
  rtl::RxParserRtl rtl(GENERATE(32u, 64u));
  for (const bool vlan : {false, true}) {
    const IcrcVector& v = icrc_vectors().at(3);
    const Parsed p = parse(rtl, on_the_wire(v, vlan) + v.crcs, v.framing);
    CHECK(p.verdict == PacketVerdict::Good);
    CHECK(p.first.address.framing == Framing::RoceV2Ip4);
    CHECK(p.first.address.has_vlan == vlan);
    CHECK(p.first.address.destination_mac == 0x021122334455);
    CHECK(p.first.address.source_mac == 0x0266778899aa);
    CHECK(p.first.address.vlan_id == (vlan ? 10 : 0));
    CHECK(p.first.address.source_gid == proto::gid_of_ipv4(0x0a001101));
    CHECK(p.first.address.destination_gid == proto::gid_of_ipv4(0x0a001201));
    CHECK(p.first.address.traffic_class == 0xc2);
    CHECK(p.first.bth.opcode == 0x81);
    CHECK(p.first.bth.becn);
    CHECK(p.first.bth.dest_qp == 0x118);
    CHECK(p.first.payload_bytes == 0);
    CHECK(p.payload.empty());
  }
}

TEST_CASE("the payload of a SEND over IPv6 leaves 4 beats behind byte 128 of its frame",
          "[rx_parser][rtl]") {
  const u32 beat_bytes = GENERATE(32u, 64u);
  rtl::RxParserRtl rtl(beat_bytes);
  const IcrcVector& v = icrc_vectors().at(4);
  const Parsed p = parse(rtl, on_the_wire(v, false) + v.crcs, v.framing);
  CHECK(p.verdict == PacketVerdict::Good);
  CHECK(hex(p.payload) == "000102030405060708090a0b0c0d0e0f");
  CHECK(p.first.bth.psn == 0x456);
  CHECK(p.first.bth.ack_req);
  CHECK(p.first.address.flow_label == 0x12345);
  CHECK(p.first.address.udp_source_port == 0xc123);
  CHECK(p.latency == 128 / beat_bytes + 4);
  CHECK(p.beats == (14 + 40 + 8 + 12 + 16 + 4 + beat_bytes - 1) / beat_bytes);
}

TEST_CASE("a WRITE Only with Immediate over RD comes apart in its headers, pad and CRCs are gone",
          "[rx_parser][rtl][C9-2]") {
  rtl::RxParserRtl rtl(GENERATE(32u, 64u));
  const Bytes frame = from_hex(
      "10 22 1234 0010 5678  4B 30 8001 00 000022 00 000007  00 010203"
      "11111111 00 0A0B0C  1122334455667788 99AABBCC 00000005  DEADBEEF"
      "A1A2A3A4A5 000000 01020304 0506");
  // 8 + 12 + 4 + 8 + 16 + 4 of headers, 8 of payload and pad: 60 bytes and an ICRC of 4, 16 words.
  REQUIRE(frame.size() == 64 + 2);
  const Parsed p = parse(rtl, frame, Framing::IbLocal);
  CHECK(p.verdict == PacketVerdict::Good);
  CHECK(p.first.address.destination_lid == 0x1234);
  CHECK(p.first.address.source_lid == 0x5678);
  CHECK(p.first.address.virtual_lane == 1);
  CHECK(p.first.address.service_level == 2);
  CHECK(p.first.rdeth.ee_context == 0x010203);
  CHECK(p.first.deth.qkey == 0x11111111);
  CHECK(p.first.deth.src_qp == 0x0a0b0c);
  CHECK(p.first.reth.va == 0x1122334455667788);
  CHECK(p.first.reth.rkey == 0x99aabbcc);
  CHECK(p.first.reth.dma_len == 5);
  CHECK(p.first.imm_dt.data == 0xdeadbeef);
  CHECK(p.first.aeth.syndrome == 0);
  CHECK(p.first.payload_bytes == 5);
  CHECK(hex(p.payload) == "a1a2a3a4a5");
}

// Words: LRH 2, BTH 3, RDETH 1, DETH 2, ICRC 1; cut in its DETH.
TEST_CASE("a reserved OpCode of RD has an RDETH and a DETH, if the frame has room for them",
          "[rx_parser][rtl][T8-2][BTH-4]") {
  rtl::RxParserRtl rtl(GENERATE(32u, 64u));
  const Bytes whole = from_hex(
      "10 22 1234 0009 5678  58 00 8001 00 000022 00 000007  00 010203"
      "11111111 00 0A0B0C  01020304 0506");
  const Parsed p = parse(rtl, whole, Framing::IbLocal);
  CHECK(p.verdict == PacketVerdict::ReservedOpcode);
  CHECK(p.first.rdeth.ee_context == 0x010203);
  CHECK(p.first.deth.qkey == 0x11111111);
  CHECK(p.first.deth.src_qp == 0x0a0b0c);
  Bytes other = whole;
  other[8] = 0x18;  // of RC
  CHECK(parse(rtl, other, Framing::IbLocal).first.rdeth.ee_context == 0);
  CHECK(parse(rtl, other, Framing::IbLocal).first.deth.qkey == 0);
  const Bytes cut = from_hex(
      "10 22 1234 0008 5678  58 00 8001 00 000022 00 000007  00 010203"
      "11111111 01020304 0506");
  CHECK(parse(rtl, cut, Framing::IbLocal).verdict == PacketVerdict::ReservedOpcode);
  CHECK(parse(rtl, cut, Framing::IbLocal).first.rdeth.ee_context == 0);
}

TEST_CASE("each mistake in a RoCEv2 packet gets its name", "[rx_parser][rtl]") {
  rtl::RxParserRtl rtl(GENERATE(32u, 64u));
  const IcrcVector& v = icrc_vectors().at(4);
  const Bytes good = on_the_wire(v, false) + v.crcs;
  struct Row {
    u32 byte;
    u8 value;
    PacketVerdict verdict;
  };
  using enum PacketVerdict;
  // IPv6 at 14, UDP at 54, BTH at 62.
  for (const Row& row :
       {Row{12, 0x99, UnknownEtherType}, Row{14, 0x50, BadIpVersion}, Row{19, 0x29, Truncated},
        Row{19, 0x27, BadLength}, Row{20, 6, NotUdp}, Row{57, 0xb8, BadUdpPort},
        Row{59, 0x29, BadLength}, Row{61, 1, BadUdpChecksum}, Row{62, 0x18, ReservedOpcode},
        Row{63, 0x01, BadTver}}) {
    Bytes bad = good;
    bad[row.byte] = row.value;
    INFO("byte " << row.byte);
    CHECK(int(parse(rtl, bad, v.framing).verdict) == int(row.verdict));
  }
  CHECK(int(parse(rtl, Bytes(good.begin(), good.end() - 1), v.framing).verdict) == int(Truncated));
  CHECK(int(parse(rtl, good + Bytes(30), v.framing).verdict) == int(Good));  // Ethernet padding
}
}  // namespace hca::testbench
