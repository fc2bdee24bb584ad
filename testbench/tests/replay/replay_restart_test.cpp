// SPDX-License-Identifier: Apache-2.0
// Recordings in which queue pairs are made anew with the same numbers, and what the CM tells of
// them.
#include <catch2/catch.hpp>
#include <filesystem>

#include "model/proto/wire/mad_tables.h"
#include "testbench/replay/replay_judge.h"
#include "testbench/replay/replay_learn.h"
#include "testbench/tests/replay/captured_packets.h"
#include "testbench/tests/replay/recording.h"

namespace hca::testbench::restart {
using namespace proto;

namespace {
constexpr std::size_t kPsnAt = 42 + 9;  // IPv4: the three bytes of the PSN

u32 psn_of(const GivenPacket& p) { return u32(load_be<4>(&p.bytes[kPsnAt - 1]) & kPsnMask); }
void set_psn(GivenPacket& p, u32 psn) {
  for (unsigned i = 0; i < 3; ++i) p.bytes[kPsnAt + i] = u8(psn >> 8 * (2 - i));
  Recording::make_good(p.bytes);
}
// The same once more, a second later, with all PSNs further on.
Packets twice(Packets all, u32 further) {
  const Packets first = all;
  for (GivenPacket p : first) {
    p.number = all.size() + 1, p.time_ns += 1'000'000'000;
    set_psn(p, psn_add(psn_of(p), further));
    all.push_back(std::move(p));
  }
  return all;
}
bool says_anew(const Judgement& j) {
  return j.conversations.size() == 2 &&
         j.conversations[1].find("queue pairs made anew, from frame ") != std::string::npos;
}

// ---- Messages of the CM, as between the ends of a recording
template <std::size_t N>
void put(std::vector<u8>& mad, const std::array<FieldInfo, N>& fields, std::string_view name,
         u64 value) {
  for (const FieldInfo& f : fields)
    if (f.name == name)
      for (unsigned i = 0; i < f.bits; ++i) {
        const unsigned bit = 8 * kMadHeaderBytes + f.bit_at + f.bits - 1 - i;
        mad[bit / 8] = u8(mad[bit / 8] | (value >> i & 1) << (7 - bit % 8));
      }
}
std::vector<u8> mad_of(u16 attribute) {
  std::vector<u8> mad(kMadBytes);
  mad[0] = 1, mad[1] = 7, mad[2] = 2, mad[3] = 3;
  store_be<2>(&mad[16], attribute);
  return mad;
}
// A datagram to QP 1 with the addresses of `like`.
GivenPacket datagram(const GivenPacket& like, const std::vector<u8>& payload, u64 time) {
  const ParsedPacket parsed = [&] {
    ParsedPacket p;
    parse(like.bytes, like.link, p);
    return p;
  }();
  const Path path =
      make_path(address_vector(parsed.framing, addressing_of(like.bytes.data(), parsed)));
  const OpcodeRow& row = *opcode_row(0x64);
  Bth bth{};
  bth.pkey = 0xffff, bth.dest_qp = kQp1, bth.mig_req = true;
  ExtHeaders ext;
  ext.deth = {kQp1Qkey, kQp1};
  GivenPacket p{0, time, like.link, std::vector<u8>(path.bytes + 12 + 8 + payload.size() + 4), 0};
  const u32 at = write_headers(path, row, bth, ext, u32(payload.size()), p.bytes.data(), 1);
  std::ranges::copy(payload, p.bytes.begin() + at);
  finish_frame(p.bytes.data(), shape_of(path, row, u32(payload.size())));
  p.bytes_on_wire = u32(p.bytes.size());
  return p;
}
struct Told {
  u32 first_psn, mtu_code = 1, retry_count = 7;
};
// REQ and REP before a recording; the sender of its first frame sends the REQ.
Packets with_cm(const Packets& all, const Told& told) {
  const GivenPacket& request = all.front();
  const auto answer = std::ranges::find_if(all, [&](const GivenPacket& p) {
    return !std::equal(&p.bytes[26], &p.bytes[30], &request.bytes[26]);
  });
  const auto qpn_of = [](const GivenPacket& p) { return load_be<4>(&p.bytes[42 + 4]) & 0xffffff; };
  std::vector<u8> req = mad_of(0x10), rep = mad_of(0x13);
  put(req, kReqFields, "LocalCommunicationID", 0x77);
  put(req, kReqFields, "LocalQPN", qpn_of(*answer));
  put(req, kReqFields, "StartingPSN", 0x900);
  put(req, kReqFields, "RetryCount", told.retry_count);
  put(req, kReqFields, "RnrRetryCount", 7);
  put(req, kReqFields, "PathPacketPayloadMtu", told.mtu_code);
  put(req, kReqFields, "PrimaryLocalAckTimeout", 14);
  put(rep, kRepFields, "LocalCommunicationID", 0x88);
  put(rep, kRepFields, "RemoteCommunicationID", 0x77);
  put(rep, kRepFields, "LocalQPN", qpn_of(request));
  put(rep, kRepFields, "StartingPSN", told.first_psn);
  put(rep, kRepFields, "RnrRetryCount", 7);
  Packets out{datagram(request, req, request.time_ns - 3000),
              datagram(*answer, rep, request.time_ns - 2000)};
  out.insert(out.end(), all.begin(), all.end());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].number = i + 1;
  return out;
}
std::string breaches_of(const Judgement& j) {
  std::string text;
  for (const Breach& b : j.breaches) text += b.statement + ": " + b.what + "\n";
  return text;
}
}  // namespace

TEST_CASE("a queue pair that is made anew begins another conversation",
          "[replay][judge][restart]") {
  const char* name = GENERATE("rc_write_mtu1024", "rc_send_mtu256", "rc_read_large", "rc_atomic",
                              "rc_bidir", "uc_send_mtu1024");
  // Further on than what was sent; back; far; to the same PSNs.
  const bool unreliable = name[0] == 'u';
  const u32 further = unreliable ? 0xfffc00u : GENERATE(0x4000u, 0xfff000u, 0x700000u, 0u);
  CAPTURE(name, further);
  const Packets all = packets_of(name);
  const Judgement j = judge(twice(all, further), {});
  INFO(breaches_of(j));
  CHECK(j.is_legal());
  CHECK(says_anew(j));
}

TEST_CASE("in no recording of one connection is another one found", "[replay][judge][restart]") {
  const std::filesystem::path folder = std::string(HCA_SOURCE_DIR) + "/vectors/captures";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pcap") continue;
    CAPTURE(entry.path().stem().string());
    for (const std::string& c : judge(packets_of(entry.path().stem().string()), {}).conversations)
      CHECK(c.find("made anew") == std::string::npos);
  }
}

TEST_CASE("packets that are missing begin no other conversation", "[replay][judge][restart]") {
  Packets all = packets_of("rc_write_mtu1024");
  // Without frames from the middle: the MSNs after them go on.
  const std::size_t third = all.size() / 3;
  all.erase(all.begin() + std::ptrdiff_t(third), all.begin() + std::ptrdiff_t(2 * third));
  const Judgement j = judge(all, {});
  CHECK(j.conversations.size() == 1);
}

TEST_CASE("what the CM tells of a connection is used", "[replay][judge][cm]") {
  const Packets all = packets_of("rc_drop_write_mid");
  const u32 psn = psn_of(all.front());
  const auto named = [](const Judgement& j, std::string_view statement) {
    return std::ranges::any_of(j.breaches,
                               [&](const Breach& b) { return b.statement == statement; });
  };
  const Judgement right = judge(with_cm(all, {.first_psn = psn}), {});
  INFO(breaches_of(right));
  CHECK(right.is_legal());
  REQUIRE(right.conversations.size() >= 1);
  CHECK(std::ranges::any_of(right.conversations, [](const std::string& c) {
    return c.find("connected by the CM") != std::string::npos;
  }));
  // It did not begin with the PSN that the CM had given.
  CHECK(named(judge(with_cm(all, {.first_psn = psn + 1}), {}), "G1.1"));
  // A packet is lost and sent again, which 0 retries do not allow.
  CHECK(named(judge(with_cm(all, {.first_psn = psn, .retry_count = 0}), {}), "G11.3"));
  CHECK_FALSE(named(judge(with_cm(all, {.first_psn = psn, .retry_count = 1}), {}), "G11.3"));
  // A path MTU of 2048 is none of its packets'.
  CHECK(named(judge(with_cm(all, {.first_psn = psn, .mtu_code = 4}), {}), "T7-l1"));
}

TEST_CASE("a REQ for the same queue pairs begins another conversation", "[replay][judge][cm]") {
  const Packets all = packets_of("rc_send_mtu256");
  const u32 psn = psn_of(all.front());
  Packets again = with_cm(all, {.first_psn = psn});
  for (GivenPacket p : with_cm(all, {.first_psn = psn})) {
    p.number = again.size() + 1, p.time_ns += 1'000'000'000;
    if (p.bytes[42] == 0x64) {  // another number of the same CM
      p.bytes[42 + 12 + 8 + kMadHeaderBytes + 3] ^= 1;
      if (p.bytes[42 + 12 + 8 + 17] == 0x13) p.bytes[42 + 12 + 8 + kMadHeaderBytes + 7] ^= 1;
      set_psn(p, 1);
    }
    again.push_back(std::move(p));
  }
  const Judgement j = judge(again, {});
  INFO(breaches_of(j));
  CHECK(j.is_legal());
  CHECK(std::ranges::count_if(j.conversations, [](const std::string& c) {
          return c.find("connected by the CM") != std::string::npos;
        }) == 2);
}

TEST_CASE("the model that stands in for an end has what the CM told", "[replay][learn][cm]") {
  const Packets all = packets_of("rc_send_mtu256");
  Capture capture;
  capture.learned = true, capture.link = all.front().link;
  const auto is_of_a = [&](const GivenPacket& p) {
    return std::equal(&p.bytes[26], &p.bytes[30], &all.front().bytes[26]);
  };
  for (const GivenPacket& p : all)
    capture.frames.push_back(
        {p.time_ns, is_of_a(p) ? End::A : End::B, Fate::Forwarded, p.bytes, p.link, p.number});
  const u32 qpn_b = u32(load_be<4>(&all.front().bytes[42 + 4])) & 0xffffff;
  const u32 qpn_a = qpn_b;  // both had the same number
  capture.connections = {{.qpns = {qpn_a, qpn_b},
                          .first_psns = {psn_of(all.front()), 0x4321},
                          .path_mtu = 256,
                          .timeouts = {10, 11},
                          .retry_counts = {2, 3},
                          .rnr_retries = {4, 5}}};
  learn_setup(capture);
  u32 connects = 0;
  for (const ReplayEvent& e : capture.events) {
    if (e.kind != "connect") continue;
    const unsigned i = unsigned(e.side);
    ++connects;
    CHECK(e.number("timeout") == 10 + i);
    CHECK(e.number("retry_cnt") == 2 + i);
    CHECK(e.number("rnr_retry") == 4 + i);
    CHECK(e.number("path_mtu") == 256);
    CHECK(e.number("sq_psn") == (i ? 0x4321 : psn_of(all.front())));
    CHECK(e.number("rq_psn") == (i ? psn_of(all.front()) : 0x4321));
  }
  CHECK(connects == 2);
}
}  // namespace hca::testbench::restart
