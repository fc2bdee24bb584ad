// SPDX-License-Identifier: Apache-2.0
#include "model/proto/transport/send_psns.h"

#include <catch2/catch.hpp>

using namespace hca;
using namespace hca::proto;

TEST_CASE("messages take PSNs one behind the other, over the wrap", "[proto][psn][G1.1][G1.2]") {
  SendPsns s;
  s.start(0xfffffe);
  CHECK(s.take(3) == 0xfffffe);
  CHECK(s.take(1) == 1);
  CHECK(s.next_psn == 2);
  CHECK_FALSE(s.anything_unacked());  // nothing is sent
  CHECK(s.send({0xfffffe, 3}));
  CHECK(s.anything_unacked());
  CHECK(s.sent_psn == 1);
}

TEST_CASE("a READ takes the PSNs of its response, from its begin or its middle on",
          "[proto][psn][G1.2][G11.5]") {
  // 1025 bytes at a path MTU of 256: 5 packets.
  CHECK(psns_of_packet(0xfffffd, psns_of(1025, 256), 0, true).count == 5);
  CHECK(psns_of_packet(0xfffffd, psns_of(1025, 256), 0, true).end() == 2);
  CHECK(psns_of_packet(0xfffffd, 5, 3, true).first == 0);
  CHECK(psns_of_packet(0xfffffd, 5, 3, true).count == 2);
  CHECK(psns_of_packet(0xfffffd, 5, 3, false).count == 1);
}

TEST_CASE("2^23 PSNs fit between the oldest unacknowledged and the newest", "[proto][psn][G1.4]") {
  SendPsns s;
  s.start(0x900000);
  s.take(0x7ffffe);
  CHECK_FALSE(s.is_full(2));
  CHECK(s.is_full(3));
  s.take(2);
  CHECK(s.is_full(1));
  s.send({0x900000, 0x800000});
  CHECK(s.acknowledge(0x900001));
  CHECK_FALSE(s.is_full(1));
}

TEST_CASE("what is acknowledged is not repeated, of a whole window too",
          "[proto][psn][G11.4][G12.2]") {
  SendPsns s;
  s.start(0x900000);
  s.take(0x800000);
  s.send({0x900000, 0x800000});
  s.go_back(0x900000);
  SECTION("some") {
    CHECK(s.acknowledge(0x900002));
    CHECK(s.send_psn == 0x900002);
  }
  SECTION("all: the ACK comes behind the timer") {
    CHECK(s.acknowledge(0x100000));  // 0x900000 + 2^23
    CHECK(s.send_psn == 0x100000);
    CHECK_FALSE(s.repeats());
    CHECK_FALSE(s.anything_unacked());
  }
  SECTION("none: what is repeated is further on") {
    CHECK_FALSE(s.send({0x900000, 4}));
    CHECK(s.acknowledge(0x900002));
    CHECK(s.send_psn == 0x900004);
    CHECK(s.sent_psn == 0x100000);
  }
}

TEST_CASE("only what is sent and not acknowledged is outstanding", "[proto][psn][G12.1][C9-217]") {
  SendPsns s;
  s.start(0xffffff);
  s.take(4);
  s.send({0xffffff, 2});  // PSN 0xffffff and 0
  CHECK(s.is_outstanding(0xffffff));
  CHECK(s.is_outstanding(0));
  CHECK_FALSE(s.is_outstanding(1));
  CHECK_FALSE(s.is_outstanding(0xfffffe));
  CHECK(s.is_newest_acked(0xfffffe));
  CHECK_FALSE(s.is_newest_acked(0xfffffd));
}
