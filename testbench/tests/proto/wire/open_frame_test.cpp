// SPDX-License-Identifier: Apache-2.0
// Frames as recorders and tunnels wrap them: the packet inside is found, or what is there is named.
#include "model/proto/wire/open_frame.h"

#include <catch2/catch.hpp>

#include "model/proto/wire/form_rules.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;

namespace {

// RC SEND Only, QP 0x20, PSN 0x1000, built by scapy with its ICRC.
const std::string kMacs = "02000000000B 02000000000A ";
const std::string kIp =
    "450000300001400040 11B6B8C0000201C0000202C40012B7001C0000 0400FFFF0000002000001000DEADBE00"
    "D3FB9233";
const std::string kFrame = kMacs + "0800" + kIp;
const std::string kUdp = "C40012B7001C0000 0400FFFF0000002000001000DEADBE00D3FB9233";
std::string outer_ipv6(const std::string& next_header) {
  return kMacs + "86DD 60000000 0038 " + next_header +
         "40 20010DB8000000000000000000000001 20010DB8000000000000000000000002 ";
}
// An outer IPv4 header with its protocol, and an outer UDP header with its port.
std::string outer_ip(const std::string& protocol) {
  return kMacs + "0800 45000000 00014000 40" + protocol + "0000 C6336401 C6336402 ";
}
std::string outer_udp(const std::string& port) {
  return outer_ip("11") + "15B3" + port + "00000000";
}

struct Wrapped {
  std::string what, bytes;
  std::vector<std::string> headers;  // before the BTH
  Layer begins = Layer::Ethernet;
};

std::vector<std::string> names_of(const Dissection& d) {
  std::vector<std::string> names;
  for (const HeaderPlace& place : d) names.emplace_back(place.header->name);
  return names;
}
OpenedFrame open(const std::string& bytes, Layer begins = Layer::Ethernet) {
  const std::vector<u8> frame = hex(bytes);
  return open_frame(frame, begins, u32(frame.size()));
}

std::vector<Wrapped> wrapped_frames() {
  const std::vector<std::string> ip{"IPv4", "UDP"}, frame{"Ethernet", "IPv4", "UDP"};
  const auto before = [](std::vector<std::string> first, const std::vector<std::string>& rest) {
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
  };
  const auto in_gre = [&](const std::string& header) {
    return before({"Ethernet", "IPv4", header}, {});
  };
  return {
      {"Ethernet", kFrame, frame},
      {"VLAN", kMacs + "8100 6064 0800" + kIp, before({"Ethernet", "VLAN"}, ip)},
      {"QinQ", kMacs + "88A8 000A 8100 6064 0800" + kIp, before({"Ethernet", "VLAN", "VLAN"}, ip)},
      {"stacked 0x8100", kMacs + "8100 000A 8100 6064 0800" + kIp,
       before({"Ethernet", "VLAN", "VLAN"}, ip)},
      {"MPLS with IP", kMacs + "8847 00064040 000C8140" + kIp,
       before({"Ethernet", "MPLS", "MPLS"}, ip)},
      {"MPLS with Ethernet", kMacs + "8847 000C8140" + kFrame, before({"Ethernet", "MPLS"}, frame)},
      {"MPLS with a control word", kMacs + "8847 000C8140 00000001" + kFrame,
       before({"Ethernet", "MPLS", "control word"}, frame)},
      {"VXLAN", outer_udp("12B5") + "08000000 00002A00" + kFrame,
       before({"Ethernet", "IPv4", "UDP", "VXLAN"}, frame)},
      {"GENEVE with an option", outer_udp("17C1") + "02006558 00002A00 01020101 00000000" + kFrame,
       before({"Ethernet", "IPv4", "UDP", "GENEVE"}, frame)},
      {"GRE with IP", outer_ip("2F") + "00000800" + kIp, before(in_gre("GRE"), ip)},
      {"GRE with Ethernet and a key", outer_ip("2F") + "20006558 0000004D" + kFrame,
       before(in_gre("GRE"), frame)},
      {"GRE with checksum, key and sequence",
       outer_ip("2F") + "B0006558 12340000 0000004D 00000005" + kFrame,
       before(in_gre("GRE"), frame)},
      {"ERSPAN I", outer_ip("2F") + "000088BE" + kFrame, before(in_gre("GRE"), frame)},
      {"ERSPAN II", outer_ip("2F") + "100088BE 00000009 10640805 00012345" + kFrame,
       before(in_gre("GRE"), before({"ERSPAN II"}, frame))},
      {"ERSPAN III", outer_ip("2F") + "100022EB 00000009 20640005 00001234 0000 8000" + kFrame,
       before(in_gre("GRE"), before({"ERSPAN III"}, frame))},
      {"ERSPAN III with a subheader",
       outer_ip("2F") + "100022EB 00000009 20640005 00001234 0000 8001 0000000000000000" + kFrame,
       before(in_gre("GRE"), before({"ERSPAN III"}, frame))},
      {"IP in IP", outer_ip("04") + kIp, before({"Ethernet", "IPv4"}, ip)},
      {"SNAP", kMacs + "0038 AAAA03 000000 0800" + kIp, before({"Ethernet", "LLC", "SNAP"}, ip)},
      {"PPPoE", kMacs + "8864 110000050032 0021" + kIp, before({"Ethernet", "PPPoE"}, ip)},
      {"PPPoE with a short number", kMacs + "8864 110000050031 21" + kIp,
       before({"Ethernet", "PPPoE"}, ip)},
      {"IPv6 with a routing header around IPv4",
       outer_ipv6("2B") + "0402040100000000 20010DB8000000000000000000000009" + kIp,
       before({"Ethernet", "IPv6", "IPv6 routing"}, ip)},
      {"SLL", "0000 0001 0006 02000000000A0000 0800" + kIp, before({"SLL"}, ip), Layer::Sll},
      {"SLL2", "0800 0000 00000003 0001 00 06 02000000000A0000" + kIp, before({"SLL2"}, ip),
       Layer::Sll2},
      {"null of a little-endian machine", "02000000" + kIp, before({"loopback"}, ip),
       Layer::Loopback},
      {"loop", "00000002" + kIp, before({"loopback"}, ip), Layer::Loopback},
      {"raw IP", kIp, ip, Layer::Ip},
  };
}

}  // namespace

TEST_CASE("a packet is found in tags, tunnels and the link layers of recorders",
          "[proto][open][T12-1]") {
  for (const Wrapped& w : wrapped_frames()) {
    INFO(w.what);
    const OpenedFrame opened = open(w.bytes, w.begins);
    std::vector<std::string> expected = w.headers;
    expected.push_back("BTH");
    CHECK(names_of(opened) == expected);
    CHECK(opened.other == "");
    CHECK(opened.structure == PacketVerdict::Good);
    REQUIRE(opened.has_icrc);
    CHECK(opened.icrc_is_good);
    CHECK(opened.packet.bth.psn == 0x1000);
    CHECK(broken_rules(hex(w.bytes), opened).empty());
    // One bit of the payload: the ICRC of the packet inside is what is checked.
    std::vector<u8> changed = hex(w.bytes);
    changed[changed.size() - 6] ^= 1;
    CHECK_FALSE(open_frame(changed, w.begins, u32(changed.size())).icrc_is_good);
  }
}

TEST_CASE("what is no packet of ours is named", "[proto][open]") {
  struct Foreign {
    std::string bytes, name;
  };
  const std::vector<Foreign> all{
      {kMacs + "0806 0001080006040001", "ARP"},
      {kMacs + "88CC 0207", "LLDP"},
      {kMacs + "8808 0101", "PAUSE or PFC"},
      {kMacs + "1234 0000", "EtherType 0x1234"},
      {kMacs + "0026 424203 0000", "LLC"},
      {kMacs + "0026 AAAA03 00000C 2000 0000", "SNAP of OUI 0x00000C"},
      {kMacs + "0026 4242", "ends before its headers do"},
      {outer_ip("06") + "00000000", "TCP"},
      {outer_ip("01") + "00000000", "ICMP"},
      {outer_udp("0035"), "UDP port 53"},
      {outer_udp("12B5") + "08000000 00002A00" + kMacs + "0806 0001", "ARP"},
      {kMacs + "8863 110900000000", "PPPoE discovery"},
      {kMacs + "8864 110000050004 C021 0101", "LCP of PPP"},
      {kMacs + "8864 1100", "ends before its headers do"},
      {kMacs + "88E5 0000", "MACsec"},
      {outer_ipv6("2C") + "1100001000000007" + kUdp, "later fragment of IPv6"},
      {kMacs + "0800 46", "ends before its headers do"},
  };
  for (const Foreign& f : all) {
    INFO(f.bytes);
    const OpenedFrame opened = open(f.bytes);
    CHECK(opened.other == f.name);
    CHECK_FALSE(opened.is_judged());
  }
  // A later fragment has no UDP header; options and a wrong checksum are no fault of a foreign one.
  std::vector<u8> fragment = hex(kFrame);
  fragment[21] = 1;
  CHECK(open_frame(fragment, Layer::Ethernet, 62).other == "later fragment of IPv4");
}

TEST_CASE("a packet after extension headers of IPv6 is judged from its UDP header on",
          "[proto][open][G34.3]") {
  struct Extended {
    std::string what, bytes;
    Grade grade;
  };
  const std::string cut = kUdp.substr(0, kUdp.size() - 8);
  const std::vector<Extended> all{
      {"hop-by-hop", outer_ipv6("00") + "1100050200000100" + kUdp, Grade::Remark},
      {"destination", outer_ipv6("3C") + "1100010400000000" + kUdp, Grade::Remark},
      {"routing", outer_ipv6("2B") + "1100040000000000" + kUdp, Grade::Remark},
      {"two", outer_ipv6("00") + "2B00050200000100 1100040000000000" + kUdp, Grade::Remark},
      {"a fragment that is whole", outer_ipv6("2C") + "1100000000000007" + kUdp, Grade::Remark},
      {"the first fragment", outer_ipv6("2C") + "1100000100000007" + cut, Grade::Broken},
  };
  for (const Extended& e : all) {
    INFO(e.what);
    const std::vector<u8> frame = hex(e.bytes);
    const OpenedFrame opened = open_frame(frame, Layer::Ethernet, u32(frame.size()));
    CHECK(opened.other == "");
    CHECK(opened.structure == PacketVerdict::Good);
    CHECK_FALSE(opened.has_icrc);
    CHECK(opened.packet.bth.psn == 0x1000);
    CHECK(opened.packet.payload_bytes == 4);
    const std::vector<BrokenRule> broken = broken_rules(frame, opened);
    REQUIRE(broken.size() == 1);
    CHECK(broken[0].statement == "G34.3");
    CHECK(broken[0].grade == e.grade);
  }
}

TEST_CASE("a cut frame is judged as far as it goes", "[proto][open][BTH-5][T5-3]") {
  // A READ response Only with a reserved syndrome in its AETH.
  const auto cut_at = [](std::string bytes, std::size_t size) {
    std::vector<u8> frame = hex(bytes);
    const u32 wire = u32(frame.size());
    frame.resize(size);
    return std::pair(frame, open_frame(frame, Layer::Ethernet, wire));
  };
  std::string syndrome = kFrame;
  syndrome.replace(syndrome.find("0400FFFF"), 2, "11");  // Acknowledge
  syndrome.replace(syndrome.find("DEADBE00"), 2, "40");  // a reserved syndrome
  const auto statements = [](const auto& cut) {
    std::vector<std::string> all;
    for (const BrokenRule& rule : broken_rules(cut.first, cut.second))
      all.emplace_back(rule.statement);
    return all;
  };
  const auto with_aeth = cut_at(syndrome, 58), without = cut_at(syndrome, 57);
  CHECK(with_aeth.second.is_cut);
  CHECK_FALSE(with_aeth.second.has_icrc);
  CHECK(statements(with_aeth) == std::vector<std::string>{"T5-3"});
  CHECK(without.second.is_judged());
  CHECK(statements(without).empty());
  CHECK(without.second.partial.offset == 54);

  const auto half_bth = cut_at(kFrame, 50);
  CHECK(half_bth.second.other == "cut before its BTH");
  CHECK(half_bth.second.transport_offset == 42);
  CHECK(half_bth.second.partial.offset == 42);

  std::string checksum = kFrame;
  checksum.replace(checksum.find("B6B8"), 2, "B7");  // of the IPv4 header, which is whole
  CHECK(statements(cut_at(checksum, 50)) == std::vector<std::string>{"G34.3"});
  // An UDP checksum covers bytes that are not there.
  std::string udp = kFrame;
  udp.replace(udp.find("001C0000"), 8, "001C1234");
  CHECK(statements(cut_at(udp, 58)).empty());
  CHECK(statements(cut_at(udp, 62)) == std::vector<std::string>{"G34.3"});
}

TEST_CASE("text is read from where it fits best", "[proto][open]") {
  const std::vector<u8> frame = hex(kFrame), ip = hex(kIp);
  const std::vector<u8> udp(ip.begin() + 20, ip.end()), bth(ip.begin() + 28, ip.end());
  CHECK(fit_of(frame, Layer::Ethernet) == Fit::Proved);
  CHECK(fit_of(ip, Layer::Ip) == Fit::Proved);
  CHECK(fit_of(udp, Layer::Udp) == Fit::Whole);
  CHECK(fit_of(bth, Layer::Bth) == Fit::Plausible);
  CHECK(fit_of(bth, Layer::Ethernet) == Fit::None);
  std::vector<u8> odd = bth;
  odd[4] = 1;  // a reserved bit: no packet would have it by chance alone
  CHECK(fit_of(odd, Layer::Bth) == Fit::None);
  CHECK(fit_of(hex(kMacs + "0806 0001"), Layer::Ethernet) == Fit::Named);
  // A GRH is told from IPv6 by its NxtHdr; an unknown EtherType does not make an LRH.
  std::vector<u8> grh(40);
  grh[0] = 0x60, grh[5] = 20, grh[6] = 0x1B;
  grh.insert(grh.end(), bth.begin(), bth.end());
  CHECK(open_frame(grh, Layer::Ip, u32(grh.size())).starts_at == Layer::Grh);
  CHECK(fit_of(hex("0002C9000001 02000000000A 1234 000000000000"), Layer::Lrh) == Fit::None);
}
