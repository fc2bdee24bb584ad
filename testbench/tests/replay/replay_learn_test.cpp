// SPDX-License-Identifier: Apache-2.0
// Conversations without set-up: captures without their events, doubled, cut and bent.
#include <catch2/catch.hpp>
#include <set>

#include "model/proto/transport/psn.h"
#include "testbench/replay/replay.h"
#include "testbench/replay/replay_learn.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/tests/replay/recording.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
using namespace proto;

namespace {
// The frames of a capture and no word of its hosts; not learned from yet.
Capture frames_of(const std::string& name) {
  Capture capture = load(name);
  capture.events.clear();
  for (ReplaySide& side : capture.sides) side = {};
  capture.learned = true;
  return capture;
}

void set_queue_pair(std::vector<u8>& frame, u32 xored) {
  frame[47] ^= u8(xored >> 16), frame[48] ^= u8(xored >> 8), frame[49] ^= u8(xored);
  Recording::make_good(frame);
}
u32 psn_of(const ReplayFrame& frame) { return u32(load_be<4>(&frame.bytes[50])) & kPsnMask; }
u8 opcode_of(const ReplayFrame& frame) { return frame.bytes[42]; }

void must_be_same(const Capture& capture, u64 frames_a, u64 frames_b) {
  for (const End end : {End::A, End::B})
    for (const ReplayRunner& runner : replay_runners()) {
      CAPTURE(name_of(end), runner.name);
      const ReplayReport report = replay(capture, end, runner);
      INFO((report.difference ? report.difference->where + ": " + report.difference->what : ""));
      CHECK(report.same());
      CHECK(report.frames_compared == (end == End::A ? frames_a : frames_b));
    }
}
// Index of the n-th frame (from 0) with this opcode.
std::size_t find(const Capture& capture, u8 opcode, std::size_t n = 0) {
  for (std::size_t i = 0; i < capture.frames.size(); ++i)
    if (opcode_of(capture.frames[i]) == opcode && n-- == 0) return i;
  FAIL("no such frame");
  return 0;
}
constexpr u8 kWriteFirst = 0x06, kWriteLast = 0x08, kFetchAdd = 0x14, kAtomicAck = 0x12,
             kAcknowledge = 0x11;
}  // namespace

TEST_CASE("conversations of several queue pairs are told apart by their answers", "[replay]") {
  struct Case {
    const char* name;
    u64 frames_a, frames_b;  // of one
  };
  const Case c = GENERATE(values<Case>({{"stock_ib_write_bw", 5, 5}, {"rc_bidir", 21, 18}}));
  const u32 count = GENERATE(2u, 3u);
  CAPTURE(c.name, count);
  Capture capture = frames_of(c.name);
  const std::vector<ReplayFrame> one = std::move(capture.frames);
  capture.frames.clear();
  for (const ReplayFrame& frame : one)
    for (u32 n = 0; n < count; ++n) {
      capture.frames.push_back(frame);
      if (frame.from == End::A) set_queue_pair(capture.frames.back().bytes, n << 12);
      if (frame.from == End::B) set_queue_pair(capture.frames.back().bytes, (count - n) << 12);
    }
  learn_setup(capture);
  CHECK(capture.left_out == 0);
  const auto connects = std::ranges::count(capture.events, "connect", &ReplayEvent::kind);
  CHECK(connects == 2 * count);
  for (const ReplayEvent& e : capture.events)  // n with count - n, whatever the order of frames
    if (e.kind == "connect" && e.side == End::A)
      CHECK((e.number("qpn") >> 12) + (e.number("dest_qpn") >> 12) == count);
  must_be_same(capture, count * c.frames_a, count * c.frames_b);
}

TEST_CASE("a capture that begins inside a message is learned from the next one on", "[replay]") {
  Capture capture = frames_of("rc_write_mtu1024");
  // Eight messages of a packet, then one of two: without all before its second packet.
  const std::size_t at = find(capture, kWriteLast);
  capture.frames.erase(capture.frames.begin(), capture.frames.begin() + std::ptrdiff_t(at));
  learn_setup(capture);
  CHECK(capture.left_out == 2);  // that packet and its ACK
  CHECK(capture.left_out_reason == "of messages that began before the capture");
  // 21 packets and 13 ACKs less 8 and 8, less two packets and an ACK.
  must_be_same(capture, 11, 4);
}

TEST_CASE("a message that is not there to its end is left out", "[replay]") {
  Capture capture = frames_of("rc_write_mtu1024");
  const std::size_t at = find(capture, kWriteFirst);
  capture.frames.resize(at + 1);
  learn_setup(capture);
  CHECK(capture.left_out == 1);
  CHECK(capture.left_out_reason == "of a message that ends after the capture");
  must_be_same(capture, 8, 8);
}

TEST_CASE("a recording may end before the last answer, and one may be merged into a later",
          "[replay][G4.2]") {
  Capture capture = frames_of("rc_write_mtu1024");
  // Eight messages of a packet with their ACKs, one of two packets; its ACK is not there.
  capture.frames.resize(find(capture, kWriteLast) + 1);
  Capture without_an_ack = capture;
  learn_setup(capture);
  must_be_same(capture, 8 + 2, 8);
  without_an_ack.frames.erase(without_an_ack.frames.begin() +
                              std::ptrdiff_t(find(capture, kAcknowledge, 3)));
  learn_setup(without_an_ack);
  const ReplayReport report = replay(without_an_ack, End::B, any_runner());
  CHECK(report.same());
  CHECK(report.frames_compared == 7);
}

TEST_CASE("a wrong MSN is found though it counts from before the capture", "[replay][G5.3]") {
  Capture capture = frames_of("rc_write_mtu1024");
  capture.frames.erase(capture.frames.begin(),
                       capture.frames.begin() + std::ptrdiff_t(find(capture, kWriteLast)));
  std::vector<u8>& ack = capture.frames.back().bytes;
  REQUIRE(capture.frames.back().from == End::B);
  ack[54 + 3] ^= 1;
  Recording::make_good(ack);
  learn_setup(capture);
  const ReplayReport report = replay(capture, End::B, replay_runners()[0]);
  REQUIRE(report.difference);
  CHECK(report.difference->fields[0].name() == "AETH.MSN");
}

TEST_CASE("a word that the host wrote between two ATOMICs is taken from the second", "[replay]") {
  Capture capture = frames_of("rc_atomic");
  std::size_t adds = 0;
  SECTION("as recorded the chain holds") {
    learn_setup(capture);
    CHECK(capture.words_set == 0);
    must_be_same(capture, 12, 12);
  }
  SECTION("it found 1000 more") {
    // The second FetchAdd of its word.
    std::set<u32> changed;
    u64 word = 0;
    for (ReplayFrame& frame : capture.frames) {
      const bool asks = opcode_of(frame) == kFetchAdd;
      if (asks && !word) word = load_be<8>(&frame.bytes[54]);
      if (asks && load_be<8>(&frame.bytes[54]) == word && ++adds == 2)
        changed.insert(psn_of(frame));
      if (opcode_of(frame) != kAtomicAck || !changed.contains(psn_of(frame))) continue;
      store_be<8>(&frame.bytes[58], load_be<8>(&frame.bytes[58]) + 1000);
      Recording::make_good(frame.bytes);
    }
    REQUIRE(adds == 2);
    learn_setup(capture);
    CHECK(capture.words_set == 1);
    must_be_same(capture, 12, 12);
    CHECK(replay(capture, End::B, replay_runners()[0]).words_set == capture.words_set);
  }
}
}  // namespace hca::testbench
