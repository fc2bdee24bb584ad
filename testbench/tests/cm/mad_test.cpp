// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <set>

#include "testbench/cm/mad.h"
#include "testbench/cm/states.h"

using namespace hca;
using namespace hca::cm;

TEST_CASE("fields of a REQ lie where 12.6.5 has them", "[cm]") {
  Mad req(Message::Req);
  req.set("TransactionID", 0x1122334455667788), req.set("LocalCommunicationID", 0xaabbccdd);
  req.set("ServiceID", service_id(0x106, 7174)), req.set("LocalQPN", 0x123456);
  req.set("StartingPSN", 0x654321), req.set("PathPacketPayloadMtu", 5);
  req.set("MaxCmRetries", 15), req.set("PrimaryLocalAckTimeout", 14);
  const auto bytes = req.bytes();
  CHECK(bytes.size() == 256);
  CHECK(proto::load_be<4>(bytes.data()) == 0x01070203);  // version, class, version, Send
  CHECK(proto::load_be<8>(bytes.data() + 8) == 0x1122334455667788);
  CHECK(proto::load_be<2>(bytes.data() + 16) == 0x0010);
  CHECK(proto::load_be<4>(bytes.data() + 24) == 0xaabbccdd);
  CHECK(proto::load_be<8>(bytes.data() + 24 + 8) == 0x0000000001061c06);
  CHECK(proto::load_be<4>(bytes.data() + 24 + 32) >> 8 == 0x123456);
  CHECK(proto::load_be<4>(bytes.data() + 24 + 44) >> 8 == 0x654321);
  CHECK(bytes[24 + 50] == 0x50);  // MTU in the upper four bits
  CHECK(bytes[24 + 51] == 0xf0);  // Max CM Retries in the upper four bits
  CHECK(bytes[24 + 95] == 14 << 3);
  CHECK(Mad::parse(bytes)->get("LocalQPN") == 0x123456);
}

TEST_CASE("private data have the sizes of the messages", "[cm]") {
  struct SizeRow {
    Message message;
    std::size_t bytes;
  };
  const auto row = GENERATE(
      SizeRow{Message::Req, 92}, SizeRow{Message::Mra, 222}, SizeRow{Message::Rej, 148},
      SizeRow{Message::Rep, 196}, SizeRow{Message::Rtu, 224}, SizeRow{Message::Dreq, 220},
      SizeRow{Message::Drep, 224}, SizeRow{Message::SidrReq, 216}, SizeRow{Message::SidrRep, 136});
  Mad mad(row.message);
  CHECK(mad.private_data().size() == row.bytes);
  CHECK(mad.private_data().data() + row.bytes == mad.bytes().data() + 256);
}

TEST_CASE("the addresses of IP stand in 36 bytes", "[cm]") {
  IpHeader header;
  header.source_port = 0x1234;
  header.source.bytes[15] = 2, header.destination.bytes[15] = 1;
  std::array<u8, kIpHeaderBytes> bytes{};
  put_ip_header(bytes, header);
  CHECK(bytes[0] == 0x00);
  CHECK(bytes[1] == 0x40);
  CHECK(proto::load_be<2>(bytes.data() + 2) == 0x1234);
  CHECK(bytes[4 + 15] == 2);
  CHECK(bytes[20 + 15] == 1);
  REQUIRE(ip_header_in(bytes));
  CHECK(ip_header_in(bytes)->destination == header.destination);
  bytes[0] = 0x10;
  CHECK_FALSE(ip_header_in(bytes));
}

TEST_CASE("what is no message of the class is not read", "[cm]") {
  Mad mad(Message::Rtu);
  std::array<u8, 256> bytes;
  std::ranges::copy(mad.bytes(), bytes.begin());
  CHECK(Mad::parse(bytes));
  CHECK_FALSE(Mad::parse(std::span(bytes).first(255)));
  const auto at = GENERATE(0u, 1u, 2u, 3u, 16u);
  bytes[at] ^= 0x40;
  CHECK_FALSE(Mad::parse(bytes));
}

TEST_CASE("each event has one row in a state at the most, and each state is left", "[cm]") {
  std::set<std::pair<unsigned, Event>> seen;
  States left = 0, reached = in(State::Idle);
  for (const Row& row : kRows) {
    for (unsigned state = 0; state <= unsigned(State::Ended); ++state)
      if (row.states >> state & 1) CHECK(seen.insert({state, row.event}).second);
    if (!row.next) continue;
    left |= row.states;
    reached |= in(*row.next);
  }
  const States all = (States{1} << (unsigned(State::Ended) + 1)) - 1;
  CHECK(reached == all);
  CHECK((left | in(State::Ended)) == all);
}
