// SPDX-License-Identifier: Apache-2.0
// Captures judged by their packets alone: recordings of an independent implementation, and copies
// with one thing changed, whose statement is named with the frame.
#include <catch2/catch.hpp>
#include <functional>

#include "testbench/replay/replay_judge.h"
#include "testbench/tests/replay/captured_packets.h"
#include "testbench/tests/replay/recording.h"

namespace hca::testbench {
using namespace proto;

namespace {

// The n-th frame (from 1) with this opcode.
GivenPacket& packet(Packets& all, u8 opcode, std::size_t n = 1) {
  for (GivenPacket& p : all)
    if (p.bytes[42] == opcode && --n == 0) return p;
  FAIL("no such packet");
  return all.front();
}
void change(GivenPacket& p, std::size_t at, u8 bits) {
  p.bytes[at] ^= bits;
  Recording::make_good(p.bytes);
}
// The place of a statement in the frame with IPv4: BTH at 42, what follows it at 54.
constexpr std::size_t kBthAt = 42, kPsnAt = 42 + 11, kPkeyAt = 42 + 2, kAckReqAt = 42 + 8,
                      kExtAt = 54;
constexpr u8 kOpSendFirst = 0x00, kOpWriteLast = 0x08, kOpWriteOnly = 0x0a, kOpReadFirst = 0x0d,
             kOpReadMiddle = 0x0e, kOpAck = 0x11, kOpFetchAdd = 0x14, kOpUcSendMiddle = 0x21;

// A capture of RC as one of XRC: requests name SRQ 5, ACKs carry no credits.
constexpr u8 kXrc = 0xa0, kOpSendMiddle = 0x01;
Packets as_xrc(const char* name) {
  constexpr std::size_t kIpLengthAt = 16, kUdpLengthAt = 38;
  constexpr std::array<u8, 4> kXrcEth{0, 0, 0, 5};
  constexpr u8 kOpAtomicAck = 0x12, kSyndromeKind = 0x60, kWithoutCredits = 0x1f;
  Packets all = packets_of(name);
  for (GivenPacket& p : all) {
    const u8 opcode = p.bytes[kBthAt];
    p.bytes[kBthAt] |= kXrc;
    if (opcode < kOpReadFirst || opcode > kOpAtomicAck) {
      p.bytes.insert(p.bytes.begin() + kExtAt, kXrcEth.begin(), kXrcEth.end());
      p.bytes_on_wire += u32(kXrcEth.size());
      for (const std::size_t at : {kIpLengthAt, kUdpLengthAt})
        store_be<2>(&p.bytes[at], load_be<2>(&p.bytes[at]) + kXrcEth.size());
    } else if (opcode == kOpAck && !(p.bytes[kExtAt] & kSyndromeKind)) {
      p.bytes[kExtAt] = kWithoutCredits;
    }
    Recording::make_good(p.bytes);
  }
  return all;
}

// The same as one of RD: over EE context 9, from queue pair 0x77.
constexpr u8 kOfRd = 0x40, kAnswerQp = 0x77;
Packets as_rd(const char* name) {
  constexpr std::size_t kIpLengthAt = 16, kUdpLengthAt = 38, kDestQpAt = kBthAt + 5;
  constexpr std::array<u8, 12> kHeaders{0, 0, 0, 9, 0x11, 0x11, 0x11, 0x11, 0, 0, 0, kAnswerQp};
  constexpr u8 kOpAtomicAck = 0x12, kSyndromeKind = 0x60, kWithoutCredits = 0x1f;
  Packets all = packets_of(name);
  for (GivenPacket& p : all) {
    const u8 opcode = p.bytes[kBthAt];
    const bool asks = opcode < kOpReadFirst || opcode > kOpAtomicAck;
    const std::size_t bytes = asks ? kHeaders.size() : 4;
    p.bytes[kBthAt] |= kOfRd;
    if (opcode == kOpAck && !(p.bytes[kExtAt] & kSyndromeKind)) p.bytes[kExtAt] = kWithoutCredits;
    if (!asks) p.bytes[kDestQpAt] = p.bytes[kDestQpAt + 1] = 0, p.bytes[kDestQpAt + 2] = kAnswerQp;
    p.bytes.insert(p.bytes.begin() + kExtAt, kHeaders.begin(),
                   kHeaders.begin() + std::ptrdiff_t(bytes));
    p.bytes_on_wire += u32(bytes);
    for (const std::size_t at : {kIpLengthAt, kUdpLengthAt})
      store_be<2>(&p.bytes[at], load_be<2>(&p.bytes[at]) + bytes);
    Recording::make_good(p.bytes);
  }
  return all;
}

std::string first_breach(const Judgement& j) {
  return j.breaches.empty() ? "" : j.breaches[0].statement;
}
std::size_t erase(Packets& all, const GivenPacket& p) {
  const std::size_t number = p.number;
  std::erase_if(all, [&](const GivenPacket& q) { return q.number == number; });
  return number;
}
}  // namespace

TEST_CASE("recordings of right devices are legal without a word of their hosts",
          "[replay][judge]") {
  const char* name =
      GENERATE("rc_write_mtu1024", "rc_send_mtu1024_ipv6", "rc_read_large", "rc_atomic", "rc_bidir",
               "rc_psn_wrap", "rc_drop_write_mid", "rc_drop_readresp_mid", "rc_dup_readreq",
               "rc_icrc_send_mid", "rc_swap_write_mid", "rc_retry_exceeded", "rc_imm", "rc_mw2",
               "rc_nak_badrkey_write", "uc_send_mtu1024", "uc_drop_send_first", "ud_send",
               "stock_ib_write_bw", "stock_ud_pingpong");
  CAPTURE(name);
  const Judgement j = judge(packets_of(name), {});
  INFO((j.breaches.empty() ? "" : j.breaches[0].what));
  CHECK(j.is_legal());
  CHECK(j.judged == j.frames);
  CHECK_FALSE(j.conversations.empty());
}

TEST_CASE("what breaks a statement is named with frame and statement", "[replay][judge]") {
  struct Case {
    const char* capture;
    u8 opcode;
    std::size_t nth, byte;
    u8 bits;
    const char* statement;
  };
  const Case c = GENERATE(values<Case>({
      {"rc_write_mtu1024", kOpAck, 4, kExtAt + 3, 0x01, "G5.3"},          // MSN
      {"rc_write_mtu1024", kOpAck, 4, kExtAt, 0x1f ^ 0x60, "G2.3"},       // a sequence NAK
      {"rc_write_mtu1024", kOpAck, 4, kExtAt, 0x40, "T5-11"},             // a reserved syndrome
      {"rc_write_mtu1024", kOpAck, 4, kExtAt, 0x1f ^ 0x2c, "G23.1"},      // an RNR NAK of a WRITE
      {"rc_write_mtu1024", kOpAck, 4, kPsnAt, 0x40, "G4.1"},              // beyond all requests
      {"rc_write_mtu1024", kOpWriteOnly, 3, kPkeyAt, 0x01, "PKEY-11"},    // another partition
      {"rc_write_mtu1024", kOpWriteOnly, 3, kExtAt + 14, 0x01, "T7-l8"},  // DMALen
      {"rc_write_mtu1024", kOpWriteLast, 1, kBthAt, 0x0f, "T7-q2"},       // Middle in place of Last
      {"rc_read_large", kOpReadMiddle, 3, kBthAt, 0x03, "G3.3"},    // First in place of Middle
      {"rc_atomic", kOpFetchAdd, 1, kExtAt + 7, 0x04, "T10-3/RC"},  // no multiple of 8
      {"rc_bidir", kOpSendFirst, 1, kBthAt, 0x04, "T7-q2"},         // Only in place of First
      {"uc_send_mtu1024", kOpUcSendMiddle, 1, kAckReqAt, 0x80, "G14.1"},
  }));
  CAPTURE(c.capture, c.statement);
  Packets all = packets_of(c.capture);
  GivenPacket& p = packet(all, c.opcode, c.nth);
  change(p, c.byte, c.bits);
  const Judgement j = judge(all, {});
  REQUIRE_FALSE(j.is_legal());
  const bool named = std::ranges::any_of(j.breaches, [&](const Breach& b) {
    return b.statement == c.statement && b.frame >= p.number && b.frame <= p.number + 2;
  });
  INFO(first_breach(j));
  CHECK(named);
}

TEST_CASE("conversations of XRC are judged as those of RC, with their SRQs", "[replay][judge]") {
  const char* name = GENERATE("rc_write_mtu1024", "rc_send_mtu1024", "rc_read_large", "rc_atomic",
                              "rc_drop_write_mid");
  CAPTURE(name);
  const Judgement j = judge(as_xrc(name), {});
  INFO(first_breach(j));
  CHECK(j.is_legal());
  CHECK(j.judged == j.frames);
  REQUIRE(j.conversations.size() == 1);
  CHECK(j.conversations[0].starts_with("XRC "));
}

TEST_CASE("the packets of a message name one SRQ", "[replay][judge][G24.5]") {
  Packets all = as_xrc("rc_send_mtu1024");
  GivenPacket& middle = packet(all, kXrc | kOpSendMiddle);
  change(middle, kExtAt + 3, 0x03);
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "G24.5");
  CHECK(j.breaches[0].frame == middle.number);
}

TEST_CASE("conversations of RD are judged as those of RC, by their EE contexts",
          "[replay][judge]") {
  const char* name = GENERATE("rc_write_mtu1024", "rc_send_mtu1024", "rc_read_large", "rc_atomic",
                              "rc_drop_write_mid");
  CAPTURE(name);
  const Judgement j = judge(as_rd(name), {});
  INFO(first_breach(j));
  CHECK(j.is_legal());
  CHECK(j.judged == j.frames);
  CHECK(j.not_judged.empty());
  REQUIRE(j.conversations.size() == 1);
  CHECK(j.conversations[0].starts_with("RD "));
  CHECK(j.conversations[0].find("EE context 0x9") != std::string::npos);
}

TEST_CASE("the packets of a message of RD name one queue pair", "[replay][judge][G13.1]") {
  Packets all = as_rd("rc_send_mtu1024");
  GivenPacket& middle = packet(all, kOfRd | kOpSendMiddle);
  change(middle, kBthAt + 7, 0x03);
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "G13.1");
  CHECK(j.breaches[0].frame == middle.number);
}

TEST_CASE("an answer of RD goes to the queue pair that asked", "[replay][judge][G13.2]") {
  Packets all = as_rd("rc_send_mtu1024");
  GivenPacket& ack = packet(all, kOfRd | kOpAck);
  change(ack, kBthAt + 7, 0x03);
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "G13.2");
  CHECK(j.breaches[0].frame == ack.number);
}

TEST_CASE("an ACK of XRC has no credits", "[replay][judge][G24.4]") {
  Packets all = as_xrc("rc_send_mtu1024");
  GivenPacket& ack = packet(all, kXrc | kOpAck);
  change(ack, kExtAt, 0x1f ^ 0x0a);
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "G24.4");
  CHECK(j.breaches[0].frame == ack.number);
}

TEST_CASE("a packet whose ICRC is wrong was damaged on the way, if a good copy is there",
          "[replay][judge][T12-1]") {
  Packets all = packets_of("rc_write_mtu1024");
  GivenPacket& p = packet(all, kOpWriteOnly, 2);
  p.bytes.back() ^= 1;
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "T12-1");
  CHECK(j.breaches[0].frame == p.number);
  CHECK(judge(packets_of("rc_icrc_send_mid"), {})
            .losses.at("packets damaged on the way: a good copy is there") == 1);
}

TEST_CASE("a request sent again is what it was", "[replay][judge][G1.3]") {
  Packets all = packets_of("rc_drop_write_mid");
  GivenPacket* copy = nullptr;
  for (std::size_t i = 1; i < all.size() && !copy; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::equal(&all[i].bytes[kBthAt], &all[i].bytes[kBthAt + 12], &all[j].bytes[kBthAt]))
        copy = &all[i];
  REQUIRE(copy);
  copy->bytes[copy->bytes.size() - 12] ^= 1;
  Recording::make_good(copy->bytes);
  const Judgement j = judge(all, {});
  CHECK(first_breach(j) == "G1.3");
}

TEST_CASE("ACKs may be merged, and are counted", "[replay][judge][G4.2]") {
  Packets all = packets_of("rc_write_mtu1024");
  erase(all, packet(all, kOpAck, 3));
  const Judgement j = judge(all, {});
  CHECK(j.is_legal());
  CHECK(j.freedoms.at("ACK merged into a later one") == 1);
}

TEST_CASE("what is missing is lost at the recorder only if an answer proves that it came",
          "[replay][judge][G1.1]") {
  Packets all = packets_of("rc_write_mtu1024");
  SECTION("a later ACK covers it") {
    const std::size_t number = erase(all, packet(all, kOpWriteOnly, 3));
    const Judgement j = judge(all, {});
    CHECK(j.is_legal());
    CHECK(j.losses.size() == 1);
    SECTION("where the JSON lists the frames nothing is lost there") {
      const Judgement strict = judge(all, {.complete = true});
      CHECK_FALSE(strict.is_legal());
      CHECK(
          std::ranges::any_of(strict.breaches, [&](const Breach& b) { return b.frame > number; }));
    }
  }
  SECTION("nothing after it is acknowledged") {
    const GivenPacket& first = packet(all, kOpWriteOnly, 3);
    const std::size_t from = first.number;
    std::erase_if(all, [&](const GivenPacket& p) {
      return p.number == from || (p.number > from && p.bytes[42] == kOpAck);
    });
    CHECK(first_breach(judge(all, {})) == "G1.1");
  }
}

TEST_CASE("deviations of a device count only with its profile", "[replay][judge][G2.5]") {
  const Packets all = packets_of("rc_rnr_exceeded");  // 0x60 for the PSN of an RNR NAK
  const Judgement plain = judge(all, {});
  CHECK(first_breach(plain) == "G2.5");
  const Judgement excused = judge(all, {.profile = "soft-roce"});
  CHECK(excused.is_legal());
  CHECK(excused.deviations.size() == 1);
  Packets bent = packets_of("rc_write_mtu1024");
  change(packet(bent, kOpAck, 4), kExtAt + 3, 0x01);
  CHECK_FALSE(judge(bent, {.profile = "soft-roce"}).is_legal());
}

TEST_CASE("other protocols, cut frames and packets of nobody's are not judged, and said so",
          "[replay][judge]") {
  Packets all = packets_of("rc_write_mtu1024");
  Packets arp{all[0]};
  arp[0].bytes[12] = 0x08, arp[0].bytes[13] = 0x06;
  const Judgement none = judge(arp, {});
  CHECK(none.is_legal());
  CHECK_FALSE(none.says_something());
  CHECK(none.not_judged.at("frames of other protocols") == 1);
  for (GivenPacket& p : all)
    if (p.bytes.size() > 128) p.bytes_on_wire = u32(p.bytes.size()), p.bytes.resize(128);
  const Judgement cut = judge(all, {});
  CHECK(cut.is_legal());
  CHECK(cut.judged == all.size());
  CHECK(cut.not_judged.at("payload and CRCs of frames that the recorder cut") > 0);
}

namespace {
// A packet of our own, between two hosts.
GivenPacket made(std::size_t number, bool from_a, const OpcodeRow& row, u32 dest_qp, u32 psn,
                 const ExtHeaders& ext, std::vector<u8> payload) {
  AddressVector av;
  av.source_mac = from_a ? 1 : 2, av.destination_mac = from_a ? 2 : 1;
  av.source_gid = gid_of_ipv4(from_a ? 0x0a000001 : 0x0a000002);
  av.destination_gid = gid_of_ipv4(from_a ? 0x0a000002 : 0x0a000001);
  const Path path = make_path(av);
  Bth bth{};
  bth.pkey = 0xffff, bth.dest_qp = dest_qp, bth.psn = psn;
  const u32 bytes = u32(payload.size());
  GivenPacket p{number, number * 1000, LinkLayer::Ethernet, {}, 0};
  p.bytes.resize(frame_bytes(path, row, bytes));
  const u32 at = write_headers(path, row, bth, ext, bytes, p.bytes.data(), 0);
  std::ranges::copy(payload, p.bytes.begin() + at);
  finish_frame(p.bytes.data(), shape_of(path, row, bytes));
  p.bytes_on_wire = u32(p.bytes.size());
  return p;
}
// A MAD of the CM with one number of three or four bytes each at these places of its data.
GivenPacket mad(std::size_t number, bool from_a, u16 attribute, u32 local, u32 remote,
                std::size_t qpn_at, u32 qpn) {
  std::vector<u8> bytes(256);
  bytes[0] = 1, bytes[1] = 7, bytes[2] = 2, bytes[3] = 3;
  store_be<2>(&bytes[16], attribute);
  store_be<4>(&bytes[24], local);
  store_be<4>(&bytes[28], remote);
  bytes[24 + qpn_at] = u8(qpn >> 16);
  store_be<2>(&bytes[24 + qpn_at + 1], qpn & 0xffff);
  bytes[24 + (attribute == 0x10 ? 46 : 22)] = 9;  // StartingPSN
  ExtHeaders ext;
  ext.deth = {0x80010000, 1};
  return made(number, from_a, *opcode_row(Service::Ud, proto::Operation::Send, Position::Only), 1,
              u32(number), ext, bytes);
}
}  // namespace

TEST_CASE("the CM tells which queue pairs are connected", "[replay][judge]") {
  const OpcodeRow& send = *opcode_row(Service::Rc, proto::Operation::Send, Position::Only);
  // A's 0x21 with B's 0x32, A's 0x22 with B's 0x31; nothing is answered.
  Packets all{mad(1, true, 0x10, 7, 0, 32, 0x21), mad(2, true, 0x10, 8, 0, 32, 0x22),
              mad(3, false, 0x13, 5, 8, 12, 0x31), mad(4, false, 0x13, 6, 7, 12, 0x32)};
  for (const u32 qpn : {0x31u, 0x32u})
    all.push_back(made(all.size() + 1, true, send, qpn, 9, {}, {1, 2, 3, 4}));
  for (const u32 qpn : {0x21u, 0x22u})
    all.push_back(made(all.size() + 1, false, send, qpn, 9, {}, {1, 2, 3, 4}));
  const auto has = [](const Judgement& j, const std::string& text) {
    return std::ranges::any_of(
        j.conversations, [&](const std::string& line) { return line.find(text) != line.npos; });
  };
  const Judgement j = judge(all, {});
  CHECK(j.is_legal());
  CHECK(has(j, "QP 0x21 <> 10.0.0.2 QP 0x32"));
  CHECK(has(j, "QP 0x22 <> 10.0.0.2 QP 0x31"));
  CHECK(has(j, "connected by the CM"));
  all.erase(all.begin() + 2, all.begin() + 4);  // without the REPs it is unknown
  CHECK_FALSE(has(judge(all, {}), "connected by the CM"));
}

TEST_CASE("a READ's answer repeated without being asked is a breach", "[replay][judge][G3.3]") {
  Packets all = packets_of("rc_read_large");
  const GivenPacket first = packet(all, kOpReadFirst, 1);
  auto at = std::ranges::find(all, packet(all, kOpReadMiddle, 2).number, &GivenPacket::number);
  all.insert(at + 1, first);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i + 1;
  CHECK(first_breach(judge(all, {})) == "G3.3");
}
}  // namespace hca::testbench
