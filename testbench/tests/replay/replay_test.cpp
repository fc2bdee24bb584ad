// SPDX-License-Identifier: Apache-2.0
// Captures of an independent implementation, replayed from both ends on each runner; and copies
// with one thing changed, which must not pass.
#include <catch2/catch.hpp>

#include "model/proto/wire/headers.h"
#include "testbench/replay/replay_learn.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
using namespace proto;

namespace {
ParsedPacket parsed(const std::vector<u8>& frame) {
  ParsedPacket packet;
  REQUIRE(parse(frame, LinkLayer::Ethernet, packet) == PacketVerdict::Good);
  return packet;
}
void make_icrc_good(std::vector<u8>& frame) {
  const ParsedPacket p = parsed(frame);
  const u32 icrc = icrc_of(frame.data(), p);
  for (u32 i = 0; i < 4; ++i) frame[p.icrc_offset + i] = u8(icrc >> 8 * i);
}

}  // namespace

TEST_CASE("a capture replays from both ends on each runner", "[replay]") {
  struct Case {
    const char* name;
    u64 frames_a, frames_b, completions_a, completions_b;
  };
  // Counted in the JSON: frames and completions of each side.
  const Case c = GENERATE(
      values<Case>({{"rc_write_mtu1024", 21, 13, 13, 0}, {"rc_send_mtu256", 21, 13, 13, 13}}));
  const ReplayRunner& runner = any_runner();
  const Capture capture = load(c.name);
  for (const End end : {End::A, End::B}) {
    CAPTURE(c.name, runner.name, name_of(end));
    const ReplayReport report = replay(capture, end, runner);
    INFO((report.difference ? report.difference->where + ": " + report.difference->what : ""));
    CHECK(report.same());
    CHECK(report.frames_compared == (end == End::A ? c.frames_a : c.frames_b));
    CHECK(report.frames_delivered == (end == End::A ? c.frames_b : c.frames_a));
    CHECK(report.completions_compared == (end == End::A ? c.completions_a : c.completions_b));
    CHECK(report.memory_bytes_compared == 32768);
    CHECK(report.states_compared == 1);
    CHECK(report.timers_fired == 0);
  }
}

TEST_CASE("every allowed difference has a condition, a statement and a reason", "[replay]") {
  for (const AllowedDifference& row : allowed_differences()) {
    CHECK_FALSE(row.header.empty());
    CHECK_FALSE(row.condition.empty());
    CHECK(row.holds != nullptr);
    CHECK_FALSE(row.statement.empty());
    CHECK_FALSE(row.reason.empty());
  }
}

TEST_CASE("each use of an allowed difference is counted", "[replay]") {
  const ReplayReport report = replay(load("rc_write_mtu1024"), End::A, replay_runners()[0]);
  u64 migrated = 0;
  for (std::size_t i = 0; i < allowed_differences().size(); ++i)
    if (allowed_differences()[i].field == "M") migrated = report.allowed_uses[i];
  CHECK(migrated == 21);  // the recording device sends 0 in each of its packets
}

TEST_CASE("a changed field of a frame that we must send is named", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_write_mtu1024");
  const std::size_t first = sent_by(capture, End::A, 8);  // WRITE First of 1025 bytes
  std::vector<u8>& frame = capture.frames[first].bytes;
  struct Change {
    const char* field;
    u32 byte;
    u8 bits;
  };
  const Change change = GENERATE(values<Change>({
      {"Ethernet.Destination", 5, 1},
      {"IPv4.TTL", 14u + 8, 1},
      {"IPv4.Source", 14u + 15, 1},
      {"BTH.P_Key", 42u + 2, 0x80},
      {"BTH.DestQP", 42u + 7, 1},
      {"BTH.Resv7", 42u + 8, 1},
      {"BTH.PSN", 42u + 11, 1},
      {"RETH.VA", 54u + 7, 1},
      {"RETH.R_Key", 54u + 11, 1},
      {"RETH.DMALen", 54u + 15, 1},
      {"payload.Byte 0", 70u, 0x10},
      {"payload.Byte 1023", 70u + 1023, 1},
  }));
  CAPTURE(runner.name, change.field);
  frame[change.byte] ^= change.bits;
  // The IPv4 checksum follows; a wrong one would be a difference of its own.
  store_be<2>(&frame[14 + 10], 0);
  u32 sum = 0;
  for (u32 at = 14; at < 34; at += 2) sum += u32(load_be<2>(&frame[at]));
  sum = (sum & 0xffff) + (sum >> 16);
  store_be<2>(&frame[14 + 10], u16(~((sum & 0xffff) + (sum >> 16))));
  make_icrc_good(frame);
  const ReplayReport report = replay(capture, End::A, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where == "frame " + std::to_string(first + 1));
  CHECK(first_field(report) == change.field);
  CHECK(report.difference->fields.size() == 1);
}

TEST_CASE("a bad ICRC of a recorded frame is not allowed", "[replay]") {
  Capture capture = load("rc_write_mtu1024");
  capture.frames[sent_by(capture, End::A, 2)].bytes.back() ^= 1;
  const ReplayReport report = replay(capture, End::A, replay_runners()[0]);
  CHECK(first_field(report) == "ICRC.Value");
}

TEST_CASE("a changed payload byte that we receive is found in memory", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_write_mtu1024");
  // The last message: what it writes stays. Its byte 5 goes to offset 0x48 + 5 = 77 of the region.
  std::vector<u8>& frame = capture.frames[sent_by(capture, End::A, 17)].bytes;
  frame[70 + 5] ^= 0x40;
  make_icrc_good(frame);
  const ReplayReport report = replay(capture, End::B, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where == "memory");
  CHECK(report.difference->what.find("offset 77 ") != std::string::npos);
}

TEST_CASE("a frame that is missing in the recording is an extra one", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_send_mtu256");
  SECTION("the last of our ACKs") {
    capture.frames.erase(capture.frames.begin() + std::ptrdiff_t(sent_by(capture, End::B, 12)));
    const ReplayReport report = replay(capture, End::B, runner);
    REQUIRE(report.difference);
    CHECK(report.difference->where == "extra frame");
  }
  SECTION("a packet in the middle of our message") {
    const std::size_t at = sent_by(capture, End::A, 9);
    capture.frames.erase(capture.frames.begin() + std::ptrdiff_t(at));
    const ReplayReport report = replay(capture, End::A, runner);
    REQUIRE(report.difference);
    CHECK(report.difference->where == "frame " + std::to_string(at + 2));
  }
}

TEST_CASE("a frame that stands doubled in the recording is missed", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_send_mtu256");
  const std::size_t at = sent_by(capture, End::B, 12);
  capture.frames.push_back(capture.frames[at]);
  const ReplayReport report = replay(capture, End::B, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where == "frame " + std::to_string(capture.frames.size()));
  CHECK(report.difference->what.find("missing") == 0);
}

TEST_CASE("two swapped frames of ours are found at the first", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_write_mtu1024");
  const std::size_t at = sent_by(capture, End::A, 8);
  std::swap(capture.frames[at].bytes, capture.frames[at + 1].bytes);
  const ReplayReport report = replay(capture, End::A, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where == "frame " + std::to_string(at + 1));
}

TEST_CASE("a completion or state that is not as recorded is named", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_send_mtu256");
  const auto event = [&](const char* kind, std::size_t n) -> ReplayEvent& {
    for (ReplayEvent& e : capture.events)
      if (e.kind == kind && e.side == End::B && n-- == 0) return e;
    throw std::logic_error("no such event");
  };
  SECTION("length") {
    event("wc", 7).values["byte_len"] = 255;
    CHECK(first_field(replay(capture, End::B, runner)) == "wc.byte_len");
  }
  SECTION("status") {
    event("wc", 3).values["status"] = "LOC_LEN_ERR";
    CHECK(first_field(replay(capture, End::B, runner)) == "wc.status");
  }
  SECTION("work request") {
    event("wc", 3).values["wr_id"] = 1004;
    CHECK(first_field(replay(capture, End::B, runner)) == "wc.wr_id");
  }
  SECTION("expected PSN") {
    event("qp_state", 0).values["rq_psn"] = 4116;
    CHECK(first_field(replay(capture, End::B, runner)) == "QP.rq_psn");
  }
  SECTION("memory") {
    event("mem_final", 0).values["changed"][0][0] = 4;
    CHECK(replay(capture, End::B, runner).difference->where == "memory");
  }
}

TEST_CASE("a capture without its JSON, or with another one, is refused", "[replay]") {
  const std::string here = std::string(HCA_SOURCE_DIR) + "/vectors/captures/";
  CHECK_THROWS_WITH(load_capture(here + "none.pcap"), Catch::Contains("none.pcap"));
  Capture capture = load("rc_send_mtu256");
  capture.events[6].values["qpn"] = 99;
  CHECK_THROWS_WITH(replay(capture, End::B, replay_runners()[0]),
                    Catch::Contains("events[6] (post_recv)"));
}

TEST_CASE("a conversation without set-up replays by what its frames tell", "[replay]") {
  const char* name = GENERATE("rc_atomic", "rc_bidir", "rc_psn_wrap", "rc_imm", "rc_dup_readreq",
                              "rc_drop_write_mid", "rc_send_mtu1024_ipv6");
  const Capture known = load(name);
  Capture capture = known;
  capture.events.clear();
  for (ReplaySide& side : capture.sides) side = {};
  capture.learned = true;
  learn_setup(capture);
  CHECK(capture.left_out == 0);
  for (const End end : {End::A, End::B}) {
    CHECK(capture.side(end).mac == known.side(end).mac);
    for (const ReplayRunner& runner : replay_runners()) {
      CAPTURE(name, name_of(end), runner.name);
      const ReplayReport report = replay(capture, end, runner);
      INFO((report.difference ? report.difference->where + ": " + report.difference->what : ""));
      CHECK(report.same());
      CHECK(report.frames_compared == replay(known, end, runner).frames_compared);
    }
  }
}

TEST_CASE("a conversation whose answers and requests do not fit is refused", "[replay]") {
  Capture capture = load("rc_atomic");
  capture.events.clear(), capture.learned = true;
  SECTION("an answer to no request") {
    capture.frames.pop_back();
    capture.frames.erase(capture.frames.begin() + 19);  // the last request; frame 24 answered it
    CHECK_NOTHROW(learn_setup(capture));
  }
  SECTION("a request is missing") {
    capture.frames.erase(capture.frames.begin() + 19);
    CHECK_THROWS_WITH(learn_setup(capture), Catch::Contains("PSN 4107 answers no request"));
  }
  SECTION("one end is silent") {
    std::erase_if(capture.frames, [](const ReplayFrame& f) { return f.from == End::B; });
    CHECK_THROWS_WITH(learn_setup(capture), Catch::Contains("end B sends nothing"));
  }
}

TEST_CASE("a capture that needs what the model does not have waits", "[replay]") {
  Capture other = load("rc_atomic");
  for (ReplayEvent& e : other.events)
    if (e.kind == "qp") e.values["type"] = "XRC";
  CHECK(waits_for(other) == "XRC queue pairs");
  CHECK(waits_for(load("rc_srq")) == "");
  CHECK(waits_for(load("rc_mw2")) == "");
  CHECK(waits_for(load("uc_send_mtu1024")) == "");
  CHECK(waits_for(load("ud_send")) == "");
  CHECK(waits_for(load("stock_ud_pingpong")) == "");
  CHECK(waits_for(load("rc_atomic")) == "");
}

TEST_CASE("a request that the device never got is not executed", "[replay]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_read_large");
  const ReplayReport report = replay(capture, End::B, runner);
  CHECK(report.same());
  CHECK(report.frames_lost == 1);
  // Had its ACK been seen, it did come, and the later ACKs of the packet before it are wrong.
  ReplayFrame ack = capture.frames[48];
  ack.time_ns = capture.frames[24].time_ns + 1000;
  capture.frames.insert(capture.frames.begin() + 25, ack);
  CHECK_FALSE(replay(capture, End::B, runner).same());
}
}  // namespace hca::testbench
