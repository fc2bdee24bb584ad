// SPDX-License-Identifier: Apache-2.0
// Places of fields in management datagrams, by the byte offsets of the specification's tables
// (12.6, 13.4.2, 14.2); scripts/check_decode_tools.py compares them with tshark's.
#include "model/proto/wire/mads.h"

#include <catch2/catch.hpp>

using namespace hca;
using namespace hca::proto;

namespace {

// A UD SEND Only to a queue pair with a MAD of 256 bytes.
std::vector<u8> packet(u32 qpn, const std::vector<u8>& mad) {
  AddressVector av;
  av.source_gid = gid_of_ipv4(0x0A000001), av.destination_gid = gid_of_ipv4(0x0A000002);
  const Path path = make_path(av);
  const OpcodeRow& row = *opcode_row(0x64);
  Bth bth{};
  bth.pkey = 0xFFFF, bth.dest_qp = qpn;
  ExtHeaders ext{};
  ext.deth.qkey = qpn == 1 ? 0x80010000 : 0;
  std::vector<u8> frame(frame_bytes(path, row, u32(mad.size())));
  const u32 at = write_headers(path, row, bth, ext, u32(mad.size()), frame.data());
  std::copy(mad.begin(), mad.end(), frame.begin() + at);
  finish_frame(frame.data(), shape_of(path, row, u32(mad.size())));
  return frame;
}
std::vector<u8> mad(u8 mad_class, u8 method, u16 attribute) {
  std::vector<u8> bytes(256);
  bytes[0] = 1, bytes[1] = mad_class, bytes[3] = method;
  store_be<2>(bytes.data() + 16, attribute);
  return bytes;
}
struct Shown {
  std::string name;
  Dissection d;
  std::vector<u8> frame;

  u64 value(std::string_view header, std::string_view field) const {
    for (const HeaderPlace& place : d)
      for (const FieldInfo& f : *place.header)
        if (place.header->name == header && f.name == field)
          return get_bits(frame.data() + place.offset, f.bit_at, std::min(f.bits, 64u));
    FAIL(header << "." << field << " is not there");
    return 0;
  }
  std::string meaning(std::string_view header, std::string_view field) const {
    for (const HeaderPlace& place : d)
      for (const FieldInfo& f : *place.header)
        if (place.header->name == header && f.name == field)
          return mad_meaning_of(*place.header, f, frame.data() + place.offset);
    return "none";
  }
};
Shown show(u32 qpn, const std::vector<u8>& bytes) {
  Shown shown{"", {}, packet(qpn, bytes)};
  shown.d = dissect(shown.frame, LinkLayer::Ethernet);
  shown.name = add_mad(shown.frame, shown.d);
  return shown;
}

}  // namespace

TEST_CASE("a REQ is shown by its fields", "[proto][mad]") {
  std::vector<u8> m = mad(0x07, 0x03, 0x0010);
  u8* const req = m.data() + 24;
  store_be<4>(req, 0x11223344);              // local communication ID
  store_be<8>(req + 8, 0x0000000001064A39);  // service ID: TCP port 19001 of IP
  store_be<4>(req + 32, 0x00ABCD10);         // local QPN, responder resources
  req[43] = 0x95;                            // timeout 18, service 2, flow control 1
  store_be<4>(req + 44, 0x12345697);         // starting PSN, timeout 18, retries 7
  req[50] = 0x3F, req[51] = 0xF8;            // MTU 3, RDC, RNR retries 7; CM retries 15, SRQ
  store_be<2>(req + 52, 0x0102), req[94] = 0x50, req[95] = 0x98;
  req[140] = 0x00, req[141] = 0x40;  // versions
  store_be<2>(req + 142, 0xC001);    // source port
  const Shown s = show(1, m);
  CHECK(s.name == "CM REQ");
  CHECK(s.value("MAD", "AttributeID") == 0x10);
  CHECK(s.value("CM REQ", "LocalCommunicationID") == 0x11223344);
  CHECK(s.value("CM REQ", "LocalQPN") == 0x00ABCD);
  CHECK(s.value("CM REQ", "ResponderResources") == 0x10);
  CHECK(s.value("CM REQ", "RemoteCmResponseTimeout") == 18);
  CHECK(s.value("CM REQ", "TransportServiceType") == 2);
  CHECK(s.value("CM REQ", "EndToEndFlowControl") == 1);
  CHECK(s.value("CM REQ", "StartingPSN") == 0x123456);
  CHECK(s.value("CM REQ", "RetryCount") == 7);
  CHECK(s.value("CM REQ", "PathPacketPayloadMtu") == 3);
  CHECK(s.meaning("CM REQ", "PathPacketPayloadMtu") == "1024");
  CHECK(s.value("CM REQ", "RnrRetryCount") == 7);
  CHECK(s.value("CM REQ", "MaxCmRetries") == 15);
  CHECK(s.value("CM REQ", "SRQ") == 1);
  CHECK(s.value("CM REQ", "PrimaryLocalPortLID") == 0x0102);
  CHECK(s.value("CM REQ", "PrimarySL") == 5);
  CHECK(s.value("CM REQ", "PrimaryLocalAckTimeout") == 19);
  CHECK(s.meaning("CM REQ", "ServiceID") == "IP protocol 6, port 19001");
  CHECK(s.value("IP CM", "IpVersion") == 4);
  CHECK(s.value("IP CM", "SourcePort") == 0xC001);
}

TEST_CASE("the addresses of IP stand in a SIDR_REQ as well", "[proto][mad]") {
  std::vector<u8> m = mad(0x07, 0x03, 0x0017);
  u8* const request = m.data() + 24;
  store_be<8>(request + 8, 0x0000000001114A39);  // UDP port 19001 of IP
  request[17] = 0x60;
  store_be<2>(request + 18, 0xC002);
  const Shown s = show(1, m);
  CHECK(s.name == "CM SIDR_REQ");
  CHECK(s.meaning("CM SIDR_REQ", "ServiceID") == "IP protocol 17, port 19001");
  CHECK(s.value("IP CM", "IpVersion") == 6);
  CHECK(s.value("IP CM", "SourcePort") == 0xC002);
}

TEST_CASE("each message of the CM is known by its attribute", "[proto][mad]") {
  const std::vector<std::pair<u16, std::string>> all{
      {0x10, "CM REQ"},      {0x11, "CM MRA"},  {0x12, "CM REJ"},  {0x13, "CM REP"},
      {0x14, "CM RTU"},      {0x15, "CM DREQ"}, {0x16, "CM DREP"}, {0x17, "CM SIDR_REQ"},
      {0x18, "CM SIDR_REP"}, {0x19, "CM LAP"},  {0x1A, "CM APR"}};
  for (const auto& [attribute, name] : all) {
    const Shown s = show(1, mad(0x07, 0x03, attribute));
    CHECK(s.name == name);
    CHECK(s.d.headers[s.d.header_count - 1].header->name == name);
  }
  std::vector<u8> rej = mad(0x07, 0x03, 0x0012);
  rej[24 + 8] = 0x40, rej[24 + 9] = 0x10, rej[24 + 11] = 28;
  const Shown s = show(1, rej);
  CHECK(s.value("CM REJ", "MessageRejected") == 1);
  CHECK(s.meaning("CM REJ", "MessageRejected") == "REP");
  CHECK(s.value("CM REJ", "RejectInfoLength") == 8);
  CHECK(s.meaning("CM REJ", "Reason") == "consumer reject");
  CHECK(show(1, mad(0x07, 0x03, 0x0077)).name == "CM 0x0077");
}

TEST_CASE("SMPs are shown with their attribute, on both kinds of routes", "[proto][mad]") {
  std::vector<u8> m = mad(0x01, 0x81, 0x0015);
  store_be<8>(m.data() + 24, 0x1122334455667788);
  store_be<2>(m.data() + 64 + 16, 0x0007);  // LID
  m[64 + 32] = 0x24;                        // port state 4
  m[64 + 36] = 0x50;                        // neighbour MTU 5
  const Shown s = show(0, m);
  CHECK(s.name == "SMP GetResp PortInfo");
  CHECK(s.value("SMP", "M_Key") == 0x1122334455667788);
  CHECK(s.value("PortInfo", "LID") == 7);
  CHECK(s.meaning("PortInfo", "PortState") == "Active");
  CHECK(s.meaning("PortInfo", "NeighborMTU") == "4096");

  std::vector<u8> directed = mad(0x81, 0x01, 0x0011);
  directed[4] = 0x80, directed[6] = 2, directed[7] = 3;
  store_be<2>(directed.data() + 32, 0xFFFF);
  directed[64 + 2] = 1;
  directed[128 + 1] = 9;
  const Shown d = show(0, directed);
  CHECK(d.name == "SMP, directed route Get NodeInfo");
  CHECK(d.value("MAD", "D") == 1);
  CHECK(d.value("MAD", "HopPointer") == 2);
  CHECK(d.value("MAD", "HopCount") == 3);
  CHECK(d.value("SMP", "DrSLID") == 0xFFFF);
  CHECK(d.meaning("NodeInfo", "NodeType") == "CA");
  CHECK(d.value("SMP paths", "InitialPath") == 0x0009000000000000);
}

TEST_CASE("a packet to another queue pair, or cut before its MAD, has none", "[proto][mad]") {
  CHECK(show(2, mad(0x07, 0x03, 0x0010)).name == "");
  Shown s = show(1, mad(0x07, 0x03, 0x0010));
  const u32 before = dissect(s.frame, LinkLayer::Ethernet).header_count;
  Dissection cut = dissect(s.frame, LinkLayer::Ethernet);
  CHECK(add_mad(std::span<const u8>(s.frame).first(cut.packet.payload_offset + 30u), cut) ==
        "CM REQ");
  CHECK(cut.header_count == before + 1);  // its MAD header is whole, the REQ is not
  cut = dissect(s.frame, LinkLayer::Ethernet);
  CHECK(add_mad(std::span<const u8>(s.frame).first(cut.packet.payload_offset + 20u), cut) == "");
}
