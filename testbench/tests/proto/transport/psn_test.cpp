// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "model/proto/memory/key.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/psn.h"
#include "model/proto/transport/qp.h"
#include "model/proto/transport/syndrome.h"
#include "model/proto/transport/timeout.h"

using namespace hca;
using namespace hca::proto;

TEST_CASE("indices of queues run on over 2^32", "[proto][qp]") {
  CHECK(widen_index(0xffff'fff0, 0x0010) == 0x10);
  CHECK(later_index(5, 5) == 5);
  CHECK(later_index(4, 5) == 5);
  CHECK(later_index(5, 4) == 5);
  CHECK(later_index(0xffff'ffff, 0) == 0);
  CHECK(later_index(0, 0xffff'ffff) == 0);
}

TEST_CASE("PSNs wrap at 2^24 in both directions", "[proto][psn][BTH-19]") {
  CHECK(psn_add(0xFFFFFF, 1) == 0);
  CHECK(psn_add(0xFFFFFE, 5) == 3);
  CHECK(psn_sub(0, 1) == 0xFFFFFF);
  CHECK(psn_distance(0xFFFFFF, 0) == 1);
  CHECK(psn_distance(0, 0xFFFFFF) == -1);
  CHECK(psn_distance(5, 5) == 0);
  CHECK(psn_distance(0, 0x7FFFFF) == 0x7FFFFF);
  CHECK(psn_distance(0, 0x800000) == -0x800000);
}

TEST_CASE("the regions around the expected PSN have the borders of the table",
          "[proto][psn][T6-1][T6-2][T6-3]") {
  for (const Psn expected : {0x000000u, 0x000001u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu}) {
    INFO("expected " << expected);
    CHECK(psn_region(expected, expected) == PsnRegion::Expected);
    CHECK(psn_region(psn_add(expected, 1), expected) == PsnRegion::Ahead);
    CHECK(psn_region(psn_add(expected, 0x7FFFFF), expected) == PsnRegion::Ahead);
    CHECK(psn_region(psn_add(expected, 0x800000), expected) == PsnRegion::Duplicate);
    CHECK(psn_region(psn_sub(expected, 1), expected) == PsnRegion::Duplicate);
  }
}

TEST_CASE("a message takes one PSN for each packet, an empty one a single PSN",
          "[proto][psn][T6-5][T6-4]") {
  CHECK(psns_of(0, 256) == 1);
  CHECK(psns_of(256, 256) == 1);
  CHECK(psns_of(257, 256) == 2);
  CHECK(psns_of(700, 256) == 3);  // READ-18
  CHECK(psns_of(u64{1} << 31, 256) == kPsnWindow);
}

TEST_CASE("syndrome bytes say ACK, RNR NAK, NAK or nothing",
          "[proto][syndrome][T5-1][T5-2][T5-3][T5-4][T5-11]") {
  for (unsigned s = 0; s < 256; ++s) {
    const SyndromeKind kind = s < 0x20   ? SyndromeKind::Ack
                              : s < 0x40 ? SyndromeKind::RnrNak
                              : s < 0x60 ? SyndromeKind::Reserved
                              : s < 0x80 ? SyndromeKind::Nak
                                         : SyndromeKind::Reserved;
    INFO("syndrome " << s);
    CHECK(syndrome_kind(u8(s)) == kind);
    CHECK(syndrome_value(u8(s)) == s % 32);
  }
  CHECK(ack_syndrome(31) == 0x1F);
  CHECK(rnr_syndrome(12) == 0x2C);
  CHECK(nak_syndrome(NakCode::PsnSequenceError) == 0x60);
  CHECK(nak_syndrome(NakCode::InvalidRequest) == 0x61);
  CHECK(nak_syndrome(NakCode::RemoteAccessError) == 0x62);
  CHECK(nak_syndrome(NakCode::RemoteOperationalError) == 0x63);
  CHECK(nak_syndrome(NakCode::InvalidRdRequest) == 0x64);
}

TEST_CASE("credit codes encode the largest value that is not above the count",
          "[proto][syndrome][T5-20]") {
  CHECK(credit_code(0) == 0);
  CHECK(credit_code(4) == 4);
  CHECK(credit_code(5) == 4);
  CHECK(credit_code(6) == 5);
  CHECK(credit_code(7) == 5);
  CHECK(credit_code(11) == 6);
  CHECK(credit_code(12) == 7);
  CHECK(credit_code(1023) == 19);
  CHECK(credit_code(1024) == 20);
  CHECK(credit_code(24576) == 29);
  CHECK(credit_code(32767) == 29);
  CHECK(credit_code(32768) == 30);
  CHECK(credit_code(0xFFFFFFFF) == 30);  // never 31, which means that credits are not used
  // 0..4 are themselves; then pairs 2^k * 3, 2^k * 4 from code 5 on
  for (u8 code = 5; code <= 30; ++code)
    CHECK(credits_of(code) == (code % 2 ? 3u << ((code - 5) / 2 + 1) : 4u << ((code - 6) / 2 + 1)));
  for (u8 code = 0; code <= 4; ++code) CHECK(credits_of(code) == code);
}

TEST_CASE("RNR timer codes give the table's waits, code 0 the longest",
          "[proto][syndrome][T5-21]") {
  // ms of the table in hundredths
  const u32 expected[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                            48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                            2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
  for (u8 code = 0; code < 32; ++code) CHECK(rnr_delay_ns(code) == u64{expected[code]} * 10'000);
  CHECK(rnr_delay_ns(25) == 61'440'000);
}

TEST_CASE("the transport timer is 4.096 us times a power of two, 0 switches it off",
          "[proto][timeout][T5-22]") {
  CHECK(ack_timeout_ns(0) == 0);
  CHECK(ack_timeout_ns(1) == 8'192);
  CHECK(ack_timeout_ns(14) == 67'108'864);
  CHECK(ack_timeout_ns(31) == 8'796'093'022'208);
  CHECK(ack_timeout_limit_ns(14) == 268'435'456);
}

TEST_CASE("P_Keys match in one valid partition with one full member",
          "[proto][pkey][G18.1][PKEY-2][PKEY-3][PKEY-4][PKEY-5][PKEY-6][PKEY-15]") {
  CHECK(pkey_match(0x8001, 0x8001));
  CHECK(pkey_match(0x8001, 0x0001));
  CHECK(pkey_match(0x0001, 0x8001));
  CHECK_FALSE(pkey_match(0x0001, 0x0001));
  CHECK_FALSE(pkey_match(0x8001, 0x8002));
  CHECK_FALSE(pkey_match(0x8001, 0x0002));
  CHECK_FALSE(pkey_match(0x8000, 0x8000));
  CHECK_FALSE(pkey_match(0x0000, 0x8000));
  CHECK(pkey_match(0xFFFF, 0x7FFF));
}

TEST_CASE("a memory key is an index and a key byte", "[proto][key][MKEY-1]") {
  CHECK(key_index(0x12345678) == 0x123456);
  CHECK(key_byte(0x12345678) == 0x78);
  CHECK(make_key(0x123456, 0x78) == 0x12345678);
}

TEST_CASE("a controlled Q_Key of a work request stands for that of the queue pair",
          "[proto][key][G15.2][G19.1]") {
  CHECK(qkey_to_send(0x80000000, 0x11111111) == 0x11111111);
  CHECK(qkey_to_send(0x7FFFFFFF, 0x11111111) == 0x7FFFFFFF);
  CHECK(kQp1Qkey == 0x80010000);
}
