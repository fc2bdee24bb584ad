// SPDX-License-Identifier: Apache-2.0
// The field tables: every field alone, by the byte and bit numbers of the specification (T1, T2).
#include <catch2/catch.hpp>
#include <string>

#include "model/proto/wire/headers.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;

namespace {

template <class H>
std::vector<u8> encoded(const H& header) {
  std::vector<u8> bytes(bytes_of<H>(), 0xEE);
  encode(header, bytes.data());
  return bytes;
}

// Sets each field in turn to all ones and to a pattern: the other bits stay 0, and decode brings it
// back.
template <class H, std::size_t I>
void check_field() {
  constexpr auto f = row_at<I>(Layout<H>::fields);
  if constexpr (!kIsReserved<decltype(f)>) {
    using Value = typename std::remove_cvref_t<decltype(f)>::Value;
    INFO(Layout<H>::name << "." << f.name);
    for (const u64 pattern : {~u64{0}, u64{0xA5A5A5A5A5A5A5A5}, u64{1}}) {
      H header{};
      if constexpr (std::is_same_v<Value, Gid>) {
        (header.*f.at).bytes.fill(u8(pattern));
      } else {
        header.*f.at = Value(pattern & low_mask(f.bits));
      }
      const std::vector<u8> bytes = encoded(header);
      for (unsigned bit = 0; bit < 8 * bytes.size(); ++bit) {
        const bool inside = bit >= kBitAt<H, I> && bit < kBitAt<H, I> + f.bits;
        if (!inside) CHECK((bytes[bit / 8] >> (7 - bit % 8) & 1) == 0);
      }
      if constexpr (f.bits <= 64)
        CHECK(get_bits(bytes.data(), kBitAt<H, I>, f.bits) == (pattern & low_mask(f.bits)));
      CHECK(decode<H>(bytes.data()).*f.at == header.*f.at);
      CHECK(encoded(decode<H>(bytes.data())) == bytes);
    }
  }
}
template <class H>
void check_fields() {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (check_field<H, I>(), ...); }
  (std::make_index_sequence<kFieldCount<H>>{});
}

}  // namespace

TEST_CASE("each field has its bits and no others, both ways", "[proto][headers][T1][T2]") {
  check_fields<Lrh>();
  check_fields<Grh>();
  check_fields<Bth>();
  check_fields<Rdeth>();
  check_fields<Deth>();
  check_fields<XrcEth>();
  check_fields<Eoeth>();
  check_fields<Feth>();
  check_fields<Reth>();
  check_fields<AtomicEth>();
  check_fields<Aeth>();
  check_fields<AtomicAckEth>();
  check_fields<ImmDt>();
  check_fields<Ieth>();
  check_fields<CnpPayload>();
  check_fields<Ethernet>();
  check_fields<Vlan>();
  check_fields<Ipv4>();
  check_fields<Ipv6>();
  check_fields<Udp>();
}

TEST_CASE("the transport headers stand where T1 puts them",
          "[proto][headers][T1][C9-5][C9-6][C9-7][C9-8][o9-2]") {
  // SE bit 7, M bit 6, PadCnt 5:4, TVer 3:0 of byte 1; F bit 7, B bit 6 of byte 4; A bit 7 of byte
  // 8
  CHECK(encoded(Bth{0x24, true, false, 2, 5, 0x1234, true, false, 0xABCDEF, true, 0x123456}) ==
        hex("24 A5 1234 80 ABCDEF 80 123456"));
  CHECK(encoded(Bth{0xFF, false, true, 1, 0, 0xFFFF, false, true, 0, false, 0xFFFFFF}) ==
        hex("FF 50 FFFF 40 000000 00 FFFFFF"));
  CHECK(encoded(Rdeth{0x123456}) == hex("00 123456"));
  CHECK(encoded(Deth{0x80010000, 0x000001}) == hex("80010000 00 000001"));
  CHECK(encoded(XrcEth{0xFEDCBA}) == hex("00 FEDCBA"));
  CHECK(encoded(Eoeth{0x1234, 0x56789ABC, 0xDEF01234}) == hex("0000 1234 56789ABC DEF01234"));
  CHECK(encoded(Feth{3, 0}) == hex("00000030"));
  CHECK(encoded(Feth{0, 15}) == hex("0000000F"));
  CHECK(encoded(Reth{0x0011223344556677, 0x8899AABB, 0xCCDDEEFF}) ==
        hex("0011223344556677 8899AABB CCDDEEFF"));
  CHECK(encoded(AtomicEth{1, 2, 3, 4}) ==
        hex("0000000000000001 00000002 0000000000000003 0000000000000004"));
  CHECK(encoded(Aeth{0x60, 0x010203}) == hex("60 010203"));
  CHECK(encoded(AtomicAckEth{0x0102030405060708}) == hex("0102030405060708"));
  CHECK(encoded(ImmDt{0xDEADBEEF}) == hex("DEADBEEF"));
  CHECK(encoded(Ieth{0x00000100}) == hex("00000100"));
  CHECK(encoded(CnpPayload{}) == std::vector<u8>(16, 0));
}

TEST_CASE("the link and network headers stand where T2 puts them", "[proto][headers][T2]") {
  CHECK(encoded(Lrh{7, 0, 1, 2, 0x375C, 14, 0x17D2}) ==
        hex("70 12 375C 000E 17D2"));  // the sample of the specification
  CHECK(encoded(Lrh{0, 0, 0, 0, 0, 0x7FF, 0}) == hex("00 00 0000 07FF 0000"));
  Gid source{}, destination{};
  source.bytes[0] = 0xFE;
  source.bytes[15] = 0x01;
  destination.bytes[0] = 0xFF;
  CHECK(
      encoded(Grh{6, 0xAB, 0x12345, 0x0028, 0x1B, 0x40, source, destination}) ==
      hex("6AB12345 0028 1B 40 FE000000000000000000000000000001 FF000000000000000000000000000000"));
  CHECK(encoded(Ethernet{0x010203040506, 0x0A0B0C0D0E0F, 0x8100}) ==
        hex("010203040506 0A0B0C0D0E0F 8100"));
  CHECK(encoded(Vlan{5, true, 0x123, 0x8915}) == hex("B123 8915"));
  CHECK(encoded(Ipv4{4, 5, 2, 60, 0x478, false, true, false, 0, 64, 17, 0xABCD, 0xC0A80007,
                     0x0A000001}) == hex("45 02 003C 0478 4000 40 11 ABCD C0A80007 0A000001"));
  CHECK(encoded(Ipv4{4, 5, 0, 0, 0, false, false, true, 0x1FFF, 0, 0, 0, 0, 0}) ==
        hex("45 00 0000 0000 3FFF 00 00 0000 00000000 00000000"));
  CHECK(encoded(Udp{0xC000, 4791, 44, 0}) == hex("C000 12B7 002C 0000"));
}

TEST_CASE("the sizes are those of the specification", "[proto][headers][T1][T2]") {
  CHECK(bytes_of<Bth>() == 12);
  CHECK(bytes_of<Rdeth>() == 4);
  CHECK(bytes_of<Deth>() == 8);
  CHECK(bytes_of<Reth>() == 16);
  CHECK(bytes_of<AtomicEth>() == 28);
  CHECK(bytes_of<Aeth>() == 4);
  CHECK(bytes_of<AtomicAckEth>() == 8);
  CHECK(bytes_of<ImmDt>() == 4);
  CHECK(bytes_of<Ieth>() == 4);
  CHECK(bytes_of<XrcEth>() == 4);
  CHECK(bytes_of<Eoeth>() == 12);
  CHECK(bytes_of<Lrh>() == 8);
  CHECK(bytes_of<Grh>() == 40);
}

TEST_CASE("a value wider than its field is refused, and the message names it", "[proto][headers]") {
  const auto message = [](const auto& header) {
    try {
      encoded(header);
      return std::string("accepted");
    } catch (const std::out_of_range& error) {
      return std::string(error.what());
    }
  };
  Bth bth{};
  bth.psn = 0xFFFFFF;
  CHECK(message(bth) == "accepted");
  bth.psn = 0x1000000;
  CHECK(message(bth) == "BTH.PSN: 16777216 does not fit 24 bits");
  bth = {};
  bth.pad_count = 4;
  CHECK(message(bth) == "BTH.PadCnt: 4 does not fit 2 bits");
  bth = {};
  bth.tver = 16;
  CHECK(message(bth) == "BTH.TVer: 16 does not fit 4 bits");
  CHECK(message(Aeth{0, 0x1000000}) == "AETH.MSN: 16777216 does not fit 24 bits");
  CHECK(message(Lrh{16, 0, 0, 0, 0, 0, 0}) == "LRH.VL: 16 does not fit 4 bits");
  CHECK(message(Ethernet{u64{1} << 48, 0, 0}) ==
        "Ethernet.Destination: 281474976710656 does not fit 48 bits");
  CHECK(message(Grh{6, 0, 1u << 20, 0, 0, 0, {}, {}}) ==
        "GRH.FlowLabel: 1048576 does not fit 20 bits");
}

TEST_CASE("bytes become headers at compile time too", "[proto][headers]") {
  constexpr Bth bth = [] {
    Bth b{};
    b.opcode = 0x0C;
    b.dest_qp = 0x123456;
    b.psn = 0xABCDEF;
    b.ack_req = true;
    u8 wire[12] = {};
    encode(b, wire);
    return decode<Bth>(wire);
  }();
  static_assert(bth.psn == 0xABCDEF && bth.dest_qp == 0x123456 && bth.ack_req &&
                bth.opcode == 0x0C);
  SUCCEED();
}
