// SPDX-License-Identifier: Apache-2.0
// rtl/icrc/icrc.sv against the specification: vectors, a CRC bit by bit, masks written down by
// hand, and its contract.
#include <fstream>
#include <sstream>

#include "rtl/generator/sv_package.h"
#include "testbench/tests/lockstep/rtl_frame.h"

namespace hca::testbench {
namespace {
// Bit by bit, as T2 words it.
u32 crc_bit_by_bit(u32 reg, const Bytes& bytes) {
  for (const u8 byte : bytes)
    for (unsigned bit = 0; bit < 8; ++bit) {
      const bool out = (reg ^ byte >> bit) & 1;
      reg = reg >> 1 ^ (out ? 0xedb88320u : 0);
    }
  return reg;
}

// Ones in the variant bits of a RoCEv2/IPv4 packet, from the IPv4 header on.
Bytes masked_ipv4(Bytes packet) {
  for (const unsigned byte : {1, 8, 10, 11, 26, 27, 32}) packet.at(byte) = 0xff;
  return packet;
}
Bytes icrc_of_ipv4(const Bytes& packet) {
  const u32 icrc = ~crc_bit_by_bit(~u32{0}, Bytes(8, 0xff) + masked_ipv4(packet));
  return {u8(icrc), u8(icrc >> 8), u8(icrc >> 16), u8(icrc >> 24)};
}

const IcrcVector& vector_of(Framing framing) {
  for (const IcrcVector& v : icrc_vectors())
    if (v.framing == framing) return v;
  throw std::logic_error("no such vector");
}
}  // namespace

TEST_CASE("the RTL inserts and checks the CRCs that are published", "[icrc][rtl][DROP-2]") {
  rtl::IcrcRtl rtl(GENERATE(32u, 64u));
  for (const IcrcVector& v : icrc_vectors())
    for (const bool vlan : {false, true}) {
      const bool native = proto::is_native(v.framing);
      if (vlan && native) continue;
      INFO(v.name << (vlan ? ", VLAN" : ""));
      const Bytes frame = on_the_wire(v, vlan), whole = frame + v.crcs;
      CHECK(hex(through_rtl(rtl, frame, IcrcMode::Generate, v.framing, vlan).bytes) == hex(whole));
      const RtlFrame checked = through_rtl(rtl, whole, IcrcMode::Check, v.framing, vlan);
      CHECK(hex(checked.bytes) == hex(whole));
      CHECK(checked.icrc_ok);
      CHECK(checked.vcrc_ok == native);
      for (unsigned bit = 0; bit < 8 * v.crcs.size(); ++bit) {
        Bytes bad = whole;
        bad[frame.size() + bit / 8] ^= u8(1u << bit % 8);
        const RtlFrame turned = through_rtl(rtl, bad, IcrcMode::Check, v.framing, vlan);
        CHECK(turned.icrc_ok == (bit >= 32));  // a VCRC covers the ICRC, not the other way round
        CHECK_FALSE(turned.vcrc_ok);
      }
      const RtlFrame passed = through_rtl(rtl, whole, IcrcMode::Bypass, v.framing, vlan);
      CHECK(hex(passed.bytes) == hex(whole));
      CHECK_FALSE(passed.icrc_ok);
      CHECK_FALSE(passed.vcrc_ok);
    }
  CHECK_FALSE(rtl.assertion_failed());
}

TEST_CASE("the model inserts and checks the CRCs that are published", "[icrc][rtl][DROP-2]") {
  using blocks::IcrcUnit;
  for (const IcrcVector& v : icrc_vectors()) {
    INFO(v.name);
    const Bytes frame = on_the_wire(v, false);
    Bytes whole = frame + Bytes(v.crcs.size());
    const u32 bytes = u32(whole.size());
    CHECK(IcrcUnit::insert(whole.data(), u32(frame.size()), v.framing, false) == bytes);
    CHECK(hex(whole) == hex(frame + v.crcs));
    CHECK(IcrcUnit::good(whole.data(), bytes, v.framing, false));
    CHECK(IcrcUnit::vcrc_good(whole.data(), bytes, v.framing) == proto::is_native(v.framing));
    whole[frame.size()] ^= 1;
    CHECK_FALSE(IcrcUnit::good(whole.data(), bytes, v.framing, false));
    CHECK_FALSE(IcrcUnit::vcrc_good(whole.data(), bytes, v.framing));
  }
}

TEST_CASE("the VCRC covers every bit from the LRH to the ICRC", "[icrc][rtl]") {
  rtl::IcrcRtl rtl(GENERATE(32u, 64u));
  for (const Framing framing : {Framing::IbLocal, Framing::IbGlobal}) {
    const IcrcVector& v = vector_of(framing);
    const Bytes whole = v.frame + v.crcs;
    for (unsigned bit = 0; bit < 8 * whole.size(); ++bit) {
      Bytes turned = whole;
      turned[bit / 8] ^= u8(1u << bit % 8);
      CHECK_FALSE(through_rtl(rtl, turned, IcrcMode::Check, framing).vcrc_ok);
    }
  }
}

TEST_CASE("a turned header bit breaks the ICRC unless the bit is variant",
          "[icrc][rtl][DROP-2][BTH-14][BTH-15][BTH-16][BTH-18]") {
  rtl::IcrcRtl rtl;
  for (const bool vlan : {false, true}) {
    const IcrcVector& v = vector_of(Framing::RoceV2Ip4);
    const Bytes whole = on_the_wire(v, vlan) + v.crcs;
    const unsigned ip = vlan ? 18 : 14;
    for (unsigned bit = 0; bit < 8 * whole.size(); ++bit) {
      const unsigned byte = bit / 8;
      const bool variant = byte < ip || byte == ip + 1 || byte == ip + 8 || byte == ip + 10 ||
                           byte == ip + 11 || byte == ip + 26 || byte == ip + 27 || byte == ip + 32;
      Bytes turned = whole;
      turned[byte] ^= u8(1u << bit % 8);
      INFO("byte " << byte << ", bit " << bit % 8 << (vlan ? ", VLAN" : ""));
      CHECK(through_rtl(rtl, turned, IcrcMode::Check, v.framing, vlan).icrc_ok == variant);
    }
  }
}

TEST_CASE("a frame of any length gets the ICRC that a CRC bit by bit gives",
          "[icrc][rtl][DROP-2]") {
  rtl::IcrcRtl rtl(GENERATE(32u, 64u));
  engine::Random random(1);
  const Bytes ethernet = from_hex("02 11 22 33 44 55 02 66 77 88 99 AA 08 00");
  std::vector<unsigned> lengths{4096 + 40, 9000, 9001, 16'384, 65'535};
  for (unsigned length = 40; length < 40 + 3 * 64 + 8; ++length) lengths.push_back(length);
  for (const unsigned length : lengths) {
    Bytes packet(length);
    for (u8& b : packet) b = u8(random());
    const Bytes whole = ethernet + packet + icrc_of_ipv4(packet);
    INFO(length << " bytes from the IPv4 header on");
    CHECK(hex(through_rtl(rtl, ethernet + packet, IcrcMode::Generate, Framing::RoceV2Ip4).bytes) ==
          hex(whole));
    CHECK(through_rtl(rtl, whole, IcrcMode::Check, Framing::RoceV2Ip4).icrc_ok);
  }
}

TEST_CASE("a native frame of any length gets both CRCs that CRCs bit by bit give",
          "[icrc][rtl][DROP-2]") {
  rtl::IcrcRtl rtl(GENERATE(32u, 64u));
  engine::Random random(1);
  for (unsigned length = 20; length < 20 + 2 * 64 + 8; ++length) {
    Bytes frame(length);
    for (u8& b : frame) b = u8(random());
    // VL, Resv6 with FECN and BECN: the variant bits of LRH and BTH.
    Bytes masked = frame;
    masked[0] |= 0xf0, masked[12] = 0xff;
    const u32 icrc = ~crc_bit_by_bit(~u32{0}, masked);
    const Bytes covered = frame + Bytes{u8(icrc), u8(icrc >> 8), u8(icrc >> 16), u8(icrc >> 24)};
    u16 vcrc = 0xffff;
    for (const u8 byte : covered)
      for (unsigned bit = 0; bit < 8; ++bit)
        vcrc = u16(vcrc >> 1 ^ ((vcrc ^ byte >> bit) & 1 ? 0xd008 : 0));
    const Bytes whole = covered + Bytes{u8(~vcrc), u8(~vcrc >> 8)};
    INFO(length << " bytes from the LRH on");
    CHECK(hex(through_rtl(rtl, frame, IcrcMode::Generate, Framing::IbLocal).bytes) == hex(whole));
    const RtlFrame checked = through_rtl(rtl, whole, IcrcMode::Check, Framing::IbLocal);
    CHECK(checked.icrc_ok);
    CHECK(checked.vcrc_ok);
  }
}

TEST_CASE("a frame too short for a BTH and an ICRC is bad even where the CRC fits", "[icrc][rtl]") {
  rtl::IcrcRtl rtl;
  // Behind the Ethernet header nothing is covered, so the register still holds the good residue.
  const Bytes ethernet = from_hex("02 11 22 33 44 55 02 66 77 88 99 AA 08 00");
  CHECK_FALSE(through_rtl(rtl, ethernet, IcrcMode::Check, Framing::RoceV2Ip4).icrc_ok);
  CHECK_FALSE(blocks::IcrcUnit::good(ethernet.data(), 14, Framing::RoceV2Ip4, false));
  // The shortest good one: IPv4, UDP, BTH, ICRC; one byte less never is.
  const Bytes packet(40, 0x5a);
  CHECK(through_rtl(rtl, ethernet + packet + icrc_of_ipv4(packet), IcrcMode::Check,
                    Framing::RoceV2Ip4)
            .icrc_ok);
  Bytes runt(39, 0x5a);
  runt = ethernet + runt + icrc_of_ipv4(runt);
  REQUIRE(runt.size() == 57);
  CHECK_FALSE(through_rtl(rtl, runt, IcrcMode::Check, Framing::RoceV2Ip4).icrc_ok);
}

TEST_CASE(
    "the verdict comes with the last beat only, even where a part of the packet is a good one",
    "[icrc][rtl][DROP-2]") {
  rtl::IcrcRtl rtl;
  const Bytes ethernet = from_hex("02 11 22 33 44 55 02 66 77 88 99 AA 08 00");
  const Bytes packet(64 - 14 - 4, 0x5a), beat = ethernet + packet + icrc_of_ipv4(packet);
  REQUIRE(beat.size() == 64);
  CHECK(through_rtl(rtl, beat, IcrcMode::Check, Framing::RoceV2Ip4).icrc_ok);
  const RtlFrame more = through_rtl(rtl, beat + Bytes(64), IcrcMode::Check, Framing::RoceV2Ip4);
  CHECK_FALSE(more.ok_early);
  CHECK_FALSE(more.icrc_ok);
}

TEST_CASE("rtl/common/hca_pkg.sv is what the tables make", "[rtl][generated]") {
  std::ifstream file(HCA_SOURCE_DIR "/rtl/common/hca_pkg.sv");
  std::stringstream text;
  text << file.rdbuf();
  REQUIRE(file.good());
  CHECK(text.str() == hca_pkg_sv());
}
}  // namespace hca::testbench
