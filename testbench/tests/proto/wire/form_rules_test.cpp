// SPDX-License-Identifier: Apache-2.0
// Each rule on the form of one packet: a packet that keeps it, and one that breaks it and nothing
// else.
#include "model/proto/wire/form_rules.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <string>

using namespace hca;
using namespace hca::proto;

namespace {

// What goes into a packet; the defaults break no rule.
struct Packet {
  u8 opcode;
  u32 payload_bytes = 0;
  AddressVector av{};
  Bth bth{};
  ExtHeaders ext{};
  std::function<void(std::vector<u8>&)> change = [](auto&) {
  };  // of the bytes, in front of the CRCs
};

Gid gid(u8 first, u8 last) {
  Gid g{};
  g.bytes[0] = first;
  g.bytes[15] = last;
  return g;
}

Packet packet(u8 opcode, u32 payload_bytes = 0, Framing framing = Framing::RoceV2Ip4) {
  Packet p{opcode, payload_bytes};
  p.av.framing = framing;
  const bool ip4 = framing == Framing::RoceV2Ip4;
  p.av.source_gid = ip4 ? gid_of_ipv4(0x0A000001) : gid(0x20, 1);
  p.av.destination_gid = ip4 ? gid_of_ipv4(0x0A000002) : gid(0x20, 2);
  p.av.source_lid = 0x11;
  p.av.destination_lid = 0x22;
  p.bth.pkey = 0xFFFF;
  p.bth.dest_qp = 0x100;
  p.ext.reth.dma_len = payload_bytes;
  p.ext.aeth.syndrome = 0x1F;
  p.ext.deth = {0x11111111, 0x200};
  const bool congestion = opcode == 0x80 || opcode == 0x81;
  p.bth.becn = congestion;
  return p;
}
Packet with(Packet p, const std::function<void(Packet&)>& set) {
  set(p);
  return p;
}

std::vector<std::string> broken_by(const Packet& p) {
  const Path path = make_path(p.av);
  const OpcodeRow& row = *opcode_row(p.opcode);
  std::vector<u8> frame(frame_bytes(path, row, p.payload_bytes));
  write_headers(path, row, p.bth, p.ext, p.payload_bytes, frame.data());
  p.change(frame);
  finish_frame(frame.data(), shape_of(path, row, p.payload_bytes));
  std::vector<std::string> statements;
  for (const BrokenRule& rule : broken_rules(frame, dissect(frame, framing_row(p.av.framing).link)))
    statements.emplace_back(rule.statement);
  return statements;
}

constexpr unsigned kBthAt = 42;  // RoCEv2 over IPv4
void fix_ipv4_checksum(std::vector<u8>& f) {
  f[24] = f[25] = 0;
  u32 sum = 0;
  for (unsigned i = 14; i < 34; i += 2) sum += u32(f[i] << 8 | f[i + 1]);
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  f[24] = u8(~sum >> 8);
  f[25] = u8(~sum);
}

struct Case {
  std::string statement;
  Packet keeps;
  Packet breaks;
};

std::vector<Case> cases() {
  const auto se = [](Packet& p) { p.bth.solicited = true; };
  const auto a = [](Packet& p) { p.bth.ack_req = true; };
  const auto dma_len = [](u32 bytes) { return [=](Packet& p) { p.ext.reth.dma_len = bytes; }; };
  const auto feth = [](u8 sel, u8 plt) { return [=](Packet& p) { p.ext.feth = {sel, plt}; }; };
  const auto va = [](u64 address) { return [=](Packet& p) { p.ext.reth.va = address; }; };
  const auto syndrome = [](u8 s) { return [=](Packet& p) { p.ext.aeth.syndrome = s; }; };
  const auto to_qp = [](u32 qp, u32 qkey, u8 lane) {
    return [=](Packet& p) { p.bth.dest_qp = qp, p.ext.deth.qkey = qkey, p.av.virtual_lane = lane; };
  };
  const auto gids = [](Gid source, Gid destination) {
    return [=](Packet& p) { p.av.source_gid = source, p.av.destination_gid = destination; };
  };
  const auto lids = [](u16 source, u16 destination) {
    return [=](Packet& p) { p.av.source_lid = source, p.av.destination_lid = destination; };
  };
  const auto set_byte = [](unsigned at, u8 value) {
    return [=](Packet& p) { p.change = [=](auto& f) { f.at(at) = value; }; };
  };
  const Gid here = gid(0x20, 1), there = gid(0x20, 2);
  constexpr Framing local = Framing::IbLocal, global = Framing::IbGlobal;
  return {
      {"BTH-5", with(packet(0x04, 4), se), with(packet(0x00, 256), se)},
      {"BTH-5", with(packet(0x0B, 4), se), with(packet(0x0A, 4), se)},
      {"G4.6", packet(0x11), with(packet(0x11), se)},
      {"G4.6", with(packet(0x04), a), with(packet(0x11), a)},
      {"G14.1", packet(0x24), with(packet(0x24), a)},
      // 253 bytes and PadCnt 3 in 256 bytes of room
      {"BTH-10", packet(0x04, 253), packet(0x01, 253)},
      {"T7-l1", packet(0x01, 1024), packet(0x01, 1028)},
      {"T7-l1", packet(0x0D, 256), packet(0x0D, 0)},
      {"T7-l2", packet(0x04, 4096), packet(0x04, 4097)},
      {"T7-l3", packet(0x02, 1), packet(0x02, 0)},
      {"T7-l3", packet(0x02, 4096), packet(0x02, 4097)},
      {"T7-l4", packet(0x11), packet(0x11, 4)},
      {"T7-l5", packet(0x1D, 8), with(packet(0x1D, 4), dma_len(8))},
      {"EXT-8", packet(0x1A, 256), packet(0x1A, 257)},
      {"C9-9", with(packet(0x0C), dma_len(0x80000000)), with(packet(0x0C), dma_len(0x80000001))},
      {"T7-l8", packet(0x0A, 5), with(packet(0x0A, 5), dma_len(6))},
      {"T7-l8", with(packet(0x06, 256), dma_len(257)), with(packet(0x06, 256), dma_len(256))},
      {"ATOM-6", with(packet(0x13), [](Packet& p) { p.ext.atomic_eth.va = 8; }),
       with(packet(0x13), [](Packet& p) { p.ext.atomic_eth.va = 12; })},
      {"EXT-15", with(packet(0x1C), feth(1, 3)), with(packet(0x1C), feth(0, 0))},
      {"EXT-15", with(packet(0x1C), feth(0, 1)), with(packet(0x1C), feth(0, 5))},
      {"EXT-15", with(packet(0x1C), feth(0, 2)), with(packet(0x1C), feth(2, 2))},
      {"EXT-18", packet(0x1D, 8), with(packet(0x1D, 8), dma_len(4))},
      {"EXT-18", with(packet(0x1D, 8), va(16)), with(packet(0x1D, 8), va(12))},
      {"T5-3", with(packet(0x11), syndrome(0x3F)), with(packet(0x11), syndrome(0x40))},
      {"T5-3", with(packet(0x11), syndrome(0x60)), with(packet(0x11), syndrome(0x80))},
      {"T5-11", with(packet(0x11), syndrome(0x65)), with(packet(0x11), syndrome(0x66))},
      {"ERR-16", with(packet(0x10), syndrome(0x05)), with(packet(0x10), syndrome(0x62))},
      {"ERR-16", with(packet(0x12), syndrome(0x05)), with(packet(0x12), syndrome(0x20))},
      {"G24.4", packet(0xB1), with(packet(0xB1), syndrome(0x05))},
      {"G26.2", packet(0x81), with(packet(0x81), [](Packet& p) { p.bth.becn = false; })},
      {"G26.2", packet(0x81), with(packet(0x81), [](Packet& p) { p.bth.psn = 1; })},
      {"G26.2", packet(0x81), with(packet(0x81), a)},
      {"G26.2", packet(0x81), with(packet(0x81), set_byte(kBthAt + 12, 1))},
      {"PKEY-15", with(packet(0x04), [](Packet& p) { p.bth.pkey = 0x0001; }),
       with(packet(0x04), [](Packet& p) { p.bth.pkey = 0x8000; })},
      {"G27.1", with(packet(0x64), to_qp(1, 0x80010000, 0)), with(packet(0x04), to_qp(1, 0, 0))},
      {"C9-49", with(packet(0x64), to_qp(1, 0x80010000, 0)),
       with(packet(0x64), to_qp(1, 0x80010001, 0))},
      {"G27.2", with(packet(0x64, 0, local), to_qp(0, 0, 15)),
       with(packet(0x64, 0, local), to_qp(0, 0, 14))},
      {"G27.3", with(packet(0x64, 0, local), to_qp(2, 0, 14)),
       with(packet(0x64, 0, local), to_qp(2, 0, 15))},
      {"C9-56", with(packet(0x04, 0, local), lids(0xBFFF, 1)),
       with(packet(0x04, 0, local), lids(0xC000, 1))},
      {"C9-55", with(packet(0x04, 0, local), lids(1, 0xFFFE)),
       with(packet(0x04, 0, local), lids(1, 0xFFFF))},
      {"VAL-7", with(packet(0x04, 0, global), gids(gid(0xFE, 1), there)),
       with(packet(0x04, 0, global), gids(gid(0xFF, 1), there))},
      {"VAL-7", with(packet(0x64, 0, global), gids(gid(0, 1), there)),
       with(packet(0x04, 0, global), gids(gid(0, 1), there))},
      {"VAL-7", with(packet(0x04), gids(gid_of_ipv4(0xDFFFFFFF), gid_of_ipv4(0x0A000002))),
       with(packet(0x04), gids(gid_of_ipv4(0xE0000000), gid_of_ipv4(0x0A000002)))},
      {"VAL-5", with(packet(0x04, 0, global), gids(here, gid(0, 2))),
       with(packet(0x04, 0, global), gids(here, gid(0, 1)))},
      {"VAL-5", with(packet(0x64, 0, global), gids(here, Gid{})),
       with(packet(0x04, 0, global), gids(here, Gid{}))},
      {"C9-58",
       with(with(packet(0x64, 0, global), gids(here, gid(0xFF, 5))), to_qp(0xFFFFFF, 0, 0)),
       with(packet(0x64, 0, global), to_qp(0xFFFFFF, 0, 0))},
      {"C9-58", with(packet(0x64, 0, local), to_qp(0xFFFFFE, 0, 0)),
       with(packet(0x64, 0, local), to_qp(0xFFFFFF, 0, 0))},
      {"G34.4", packet(0x04), with(packet(0x04), [](Packet& p) { p.av.udp_source_port = 0xBFFF; })},
      {"G34.4", packet(0x04),
       with(packet(0x04),
            [](Packet& p) {
              p.change = [](auto& f) {
                f[20] = 0;
                fix_ipv4_checksum(f);
              };
            })},
      // reserved bits
      {"C9-6", packet(0x04), with(packet(0x04), set_byte(kBthAt + 4, 0x01))},
      {"C9-6", with(packet(0x1C), feth(0, 1)),
       with(with(packet(0x1C), feth(0, 1)), set_byte(kBthAt + 12, 0x01))},
      {"C9-7", packet(0x04), with(packet(0x04), set_byte(kBthAt + 8, 0x40))},
      {"C9-8", packet(0x64), with(packet(0x64), set_byte(kBthAt + 16, 0x01))},
      {"o9-2", packet(0x44), with(packet(0x44), set_byte(kBthAt + 12, 0x80))},
      {"o9-3.a1", packet(0xA4), with(packet(0xA4), set_byte(kBthAt + 12, 0x80))},
      {"EXT-2", packet(0x1A), with(packet(0x1A), set_byte(kBthAt + 13, 0x01))},
      {"T12-1", packet(0x04, 0, local), with(packet(0x04, 0, local), set_byte(1, 0x06))},
      {"T12-1", packet(0x04, 0, local), with(packet(0x04, 0, local), set_byte(4, 0x08))},
  };
}

}  // namespace

TEST_CASE("each rule on the form of a packet is kept and broken",
          "[proto][form][BTH-5][BTH-10][C9-4][C9-6][C9-7][C9-8][C9-9][C9-49][C9-55][C9-56][C9-58]["
          "o9-2][o9-3.a1]"
          "[EXT-2][EXT-8][EXT-15][EXT-18][ATOM-6][T5-3][T5-11][T7-l1][T7-l2][T7-l3][T7-l4][T7-l5]["
          "T7-l8][ERR-16]["
          "PKEY-15][VAL-5]"
          "[VAL-7][G4.6][G14.1][G24.4][G26.2][G27.1][G27.2][G27.3][G34.4]") {
  int row = 0;
  for (const Case& c : cases()) {
    INFO("row " << row++ << ": " << c.statement);
    CHECK(broken_by(c.keeps) == std::vector<std::string>{});
    std::vector<std::string> expected{c.statement};
    if (c.statement == "BTH-10") expected.push_back("T7-l1");  // a padded payload is no PMTU either
    CHECK(broken_by(c.breaks) == expected);
  }
}

TEST_CASE("what receivers ignore or a statement recommends is a remark, all else is broken",
          "[proto][form][C9-6][C9-7][G34.4]") {
  std::set<std::string> remarks;
  for (const FormRule& rule : form_rules()) {
    INFO(rule.statement);
    CHECK_FALSE(rule.reason.empty());
    if (rule.grade == Grade::Remark) remarks.insert(std::string(rule.sentence));
  }
  CHECK(remarks ==
        std::set<std::string>{"the UDP source port is below 0xC000",
                              "extension headers stand between the IPv6 header and UDP"});
  const auto grade_of = [](const std::vector<u8>& f) {
    const std::vector<BrokenRule> all = broken_rules(f, dissect(f, LinkLayer::Ethernet));
    REQUIRE(all.size() == 1);
    return all[0].grade;
  };
  const auto changed = [](u8 opcode, unsigned at, u8 value) {
    const Packet p = packet(0x04);
    const Path path = make_path(p.av);
    const OpcodeRow& row = *opcode_row(0x04);
    std::vector<u8> frame(frame_bytes(path, row, 0));
    write_headers(path, row, p.bth, p.ext, 0, frame.data());
    frame[kBthAt] = opcode;
    frame[at] = value;
    finish_frame(frame.data(), shape_of(path, row, 0));
    return frame;
  };
  CHECK(grade_of(changed(0x04, kBthAt + 8, 0x40)) == Grade::Remark);  // Resv7
  CHECK(grade_of(changed(0xC0, kBthAt, 0xC0)) == Grade::Remark);      // a manufacturer's OpCode
  CHECK(grade_of(changed(0x1F, kBthAt, 0x1F)) == Grade::Broken);      // a reserved one
}

TEST_CASE("no rule is without a packet that breaks it", "[proto][form]") {
  std::multiset<std::string> broken;
  for (const Case& c : cases()) broken.insert(c.statement);
  for (const FormRule& rule : form_rules()) {
    INFO(rule.statement);
    if (rule.statement == "G34.3") continue;  // of IPv6's extension headers: open_frame_test.cpp
    CHECK(broken.count(std::string(rule.statement)) > 0);
  }
}

TEST_CASE("a wrong CRC, a bad structure and another protocol are told apart",
          "[proto][form][T12-1][BTH-4]") {
  Packet p = packet(0x04, 5);
  const Path path = make_path(p.av);
  const OpcodeRow& row = *opcode_row(0x04);
  std::vector<u8> frame(frame_bytes(path, row, 5));
  write_headers(path, row, p.bth, p.ext, 5, frame.data());
  finish_frame(frame.data(), shape_of(path, row, 5));
  const auto broken = [](const std::vector<u8>& f) {
    std::vector<std::string> all;
    for (const BrokenRule& rule : broken_rules(f, dissect(f, LinkLayer::Ethernet)))
      all.emplace_back(rule.statement);
    return all;
  };
  CHECK(broken(frame).empty());
  std::vector<u8> changed = frame;
  changed[56] ^= 1;
  CHECK(broken(changed) == std::vector<std::string>{"T12-1"});
  changed = frame;
  changed[kBthAt] = 0x15;
  CHECK(broken(changed) == std::vector<std::string>{"BTH-4", "T12-1"});
  changed = frame;
  for (const u8 optional : {u8{0x1C}, u8{0x1D}}) {  // the headers of FLUSH and ATOMIC WRITE are cut
    changed[kBthAt] = optional;
    CHECK(broken(changed) == std::vector<std::string>{"T12-4"});
  }
  changed = frame;
  changed[12] = 0x88;  // another EtherType
  CHECK(broken(changed).empty());
  changed = frame;
  CHECK(dissect(changed, LinkLayer::Ethernet).has_transport);
  changed[37] = 53;  // another UDP port: no BTH is looked for
  CHECK_FALSE(dissect(changed, LinkLayer::Ethernet).has_transport);
  CHECK(broken(changed).empty());
}
