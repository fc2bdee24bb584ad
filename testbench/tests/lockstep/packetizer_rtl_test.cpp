// SPDX-License-Identifier: Apache-2.0
// rtl/packetizer/packetizer.sv against bytes written down from the specification, and its contract
// with cycles counted by hand.
#include "rtl/cpp/packetizer_rtl.h"
#include "testbench/tests/lockstep/rtl_frame.h"

namespace hca::testbench {
namespace {
rtl::BeatOf<rtl::Descriptor> first_beat(const rtl::Descriptor& descriptor, const Bytes& payload,
                                        u32 beat_bytes) {
  auto beat = beat_of<rtl::Descriptor>(payload, 0, beat_bytes);
  const bool last = beat.control.last;
  const u8 bytes = beat.control.bytes;
  beat.control = descriptor;
  beat.control.first = true, beat.control.last = last, beat.control.bytes = bytes;
  beat.control.payload_bytes = u16(payload.size());
  return beat;
}

struct Built {
  Bytes frame;
  unsigned latency = 0, beats = 0;
  unsigned closed = 0;  // cycles without a grant behind the start
};
Built build(rtl::PacketizerRtl& rtl, const rtl::Descriptor& descriptor, const Bytes& payload) {
  Built out;
  const u32 beats = beats_of(u32(payload.size()), rtl.beat_bytes());
  for (u32 cycle = 0; cycle < beats + 20; ++cycle) {
    rtl.begin_cycle(true);
    if (cycle > 0) out.closed += !rtl.in_ready();
    if (rtl.out_valid()) {
      const rtl::Beat beat = rtl.out();
      if (beat.control.first) out.latency = cycle;
      ++out.beats;
      out.frame.insert(out.frame.end(), beat.data.begin(), beat.data.begin() + beat.control.bytes);
    }
    auto beat =
        cycle ? rtl::BeatOf<rtl::Descriptor>{} : first_beat(descriptor, payload, rtl.beat_bytes());
    if (cycle && cycle < beats) beat = beat_of<rtl::Descriptor>(payload, cycle, rtl.beat_bytes());
    rtl.drive(cycle < beats ? &beat : nullptr);
    rtl.end_cycle();
  }
  return out;
}

proto::Gid gid(std::string_view text) {
  proto::Gid out;
  const Bytes bytes = from_hex(text);
  std::copy(bytes.begin(), bytes.end(), out.bytes.begin());
  return out;
}

// A SEND Only of RC over RoCEv2: 14 + 20 + 8 + 12 bytes of headers.
rtl::Descriptor send_only() {
  rtl::Descriptor d{};
  d.address.framing = Framing::RoceV2Ip4;
  d.bth.opcode = 0x04;
  return d;
}
}  // namespace

TEST_CASE("a CNP over RoCEv2 has the bytes of one that was recorded", "[packetizer][rtl][G26.2]") {
  rtl::PacketizerRtl rtl(GENERATE(32u, 64u));
  for (const bool vlan : {false, true}) {
    const IcrcVector& v = icrc_vectors().at(3);
    REQUIRE(v.name == std::string_view("4: RoCEv2 CNP from hardware"));
    rtl::Descriptor d{};
    d.address.framing = v.framing, d.address.has_vlan = vlan;
    d.address.destination_mac = 0x021122334455, d.address.source_mac = 0x0266778899aa;
    d.address.priority = 3, d.address.vlan_id = 10;
    d.address.traffic_class = 0xc2, d.address.hop_limit = 0x40;
    d.address.source_gid = proto::gid_of_ipv4(0x0a001101);
    d.address.destination_gid = proto::gid_of_ipv4(0x0a001201);
    d.address.udp_source_port = 0;
    d.ip_id = 0x718c;
    d.bth.opcode = 0x81, d.bth.pkey = 0xffff, d.bth.becn = true, d.bth.dest_qp = 0x118;
    const Built built = build(rtl, d, {});
    CHECK(hex(built.frame) == hex(on_the_wire(v, vlan)));
    CHECK(built.latency == 4);
  }
  CHECK_FALSE(rtl.assertion_failed());
}

TEST_CASE("a SEND Only over RoCEv2 and IPv6 has the bytes written by hand",
          "[packetizer][rtl][G34.2]") {
  rtl::PacketizerRtl rtl(GENERATE(32u, 64u));
  const IcrcVector& v = icrc_vectors().at(4);
  rtl::Descriptor d{};
  d.address.framing = v.framing;
  d.address.destination_mac = 0x021122334455, d.address.source_mac = 0x0266778899aa;
  d.address.traffic_class = 0xab, d.address.flow_label = 0x12345, d.address.hop_limit = 0x40;
  d.address.source_gid = gid("FE800000000000000202C9FFFE000001");
  d.address.destination_gid = gid("FE800000000000000202C9FFFE000002");
  d.address.udp_source_port = 0xc123;
  d.bth.opcode = 0x04, d.bth.pkey = 0xffff, d.bth.dest_qp = 0x123, d.bth.ack_req = true;
  d.bth.psn = 0x456;
  const Bytes payload = from_hex("000102030405060708090A0B0C0D0E0F");
  const Bytes want = on_the_wire(v, false);
  REQUIRE(want.size() > 16);
  const Built built = build(rtl, d, Bytes(want.end() - 16, want.end()));
  CHECK(hex(built.frame) == hex(want));
}

TEST_CASE("a WRITE Only with Immediate over RD, natively, has its headers in their order",
          "[packetizer][rtl][C9-2]") {
  rtl::PacketizerRtl rtl(GENERATE(32u, 64u));
  rtl::Descriptor d{};
  d.address.framing = Framing::IbLocal;
  d.address.virtual_lane = 1, d.address.service_level = 2;
  d.address.destination_lid = 0x1234, d.address.source_lid = 0x5678;
  d.bth.opcode = 0x4b, d.bth.pkey = 0x8001, d.bth.dest_qp = 0x22, d.bth.psn = 7;
  d.rdeth = {0x010203}, d.deth = {0x11111111, 0x0a0b0c};
  d.reth = {0x1122334455667788, 0x99aabbcc, 5}, d.imm_dt = {0xdeadbeef};
  const Built built = build(rtl, d, from_hex("A1A2A3A4A5"));
  // LRH of (8 + 12 + 4 + 8 + 16 + 4 + 8 + 4) / 4 = 16 words with the ICRC; PadCnt 3.
  CHECK(hex(built.frame) ==
        hex(from_hex("10 22 1234 0010 5678  4B 30 8001 00 000022 00 000007  00 010203"
                     "11111111 00 0A0B0C  1122334455667788 99AABBCC 00000005  DEADBEEF"
                     "A1A2A3A4A5 000000")));
}

TEST_CASE(
    "a frame leaves 4 cycles after its payload entered, and the next start waits for its beats",
    "[packetizer][rtl]") {
  const u32 beat_bytes = GENERATE(32u, 64u);
  rtl::PacketizerRtl rtl(beat_bytes);
  // Headers of 54 bytes and a payload of whole words.
  for (const u32 payload : {0u, 8u, 12u, 40u, 64u, 72u, 76u, 1024u, 4096u}) {
    INFO(payload << " bytes of payload");
    const Built built = build(rtl, send_only(), Bytes(payload, 0x5a));
    const u32 beats = (54 + payload + beat_bytes - 1) / beat_bytes;
    CHECK(built.latency == 4);
    CHECK(built.beats == beats);
    CHECK(built.frame.size() == 54 + payload);
    CHECK(built.closed == beats - 1);
  }
  CHECK_FALSE(rtl.assertion_failed());
}

TEST_CASE("a descriptor that promises what does not come makes an assertion of the RTL fire",
          "[packetizer][rtl]") {
  rtl::PacketizerRtl rtl;
  auto beat = first_beat(send_only(), Bytes(10, 0x11), rtl.beat_bytes());
  SECTION("none: no assertion") {}
  SECTION("fewer bytes of payload") { beat.control.payload_bytes = 11; }
  SECTION("more bytes of payload") { beat.control.payload_bytes = 9; }
  SECTION("a payload that goes on") { beat.control.payload_bytes = 100; }
  SECTION("a reserved OpCode") { beat.control.bth.opcode = 0x18; }
  const auto& c = beat.control;
  const bool right = c.payload_bytes == 10 && c.bth.opcode == 0x04;
  rtl.begin_cycle(true);
  rtl.drive(&beat);
  rtl.end_cycle();
  CHECK(rtl.assertion_failed() == !right);
}
}  // namespace hca::testbench
