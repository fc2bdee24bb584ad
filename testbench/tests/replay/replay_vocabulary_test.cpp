// SPDX-License-Identifier: Apache-2.0
// Events that hosts have, and profiles: hand-made recordings, and a capture whose JSON is changed.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/replay/replay_allowed.h"
#include "testbench/replay/replay_prepare.h"
#include "testbench/replay/replay_vocabulary.h"
#include "testbench/tests/replay/oddity_case.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
using nlohmann::json;

namespace {
ReplayEvent& event_of(Capture& capture, std::string_view kind, End side) {
  for (ReplayEvent& e : capture.events)
    if (e.kind == kind && e.side == side) return e;
  FAIL("no such event");
  return capture.events[0];
}
void insert_before(Capture& capture, std::string_view kind, End side, const char* what,
                   json values) {
  const auto at = std::ranges::find_if(
      capture.events, [&](const ReplayEvent& e) { return e.kind == kind && e.side == side; });
  REQUIRE(at != capture.events.end());
  const u64 time = at->time_ns;
  capture.events.insert(at, {time, what, side, std::move(values), "inserted"});
}
}  // namespace

TEST_CASE("each kind of event has one row, and says what it is", "[replay]") {
  std::set<std::string_view> names;
  for (const EventKind& kind : event_kinds()) {
    CHECK(names.insert(kind.name).second);
    CHECK_FALSE(kind.sentence.empty());
  }
  for (const char* name : {"bind_mw1", "post_send_failed", "modify"}) CHECK(names.contains(name));
}

TEST_CASE("a queue pair that its host takes to ERR answers no more", "[replay]") {
  Capture capture = load("rc_write_mtu1024");
  const u64 qpn = event_of(capture, "connect", End::B).number("qpn");
  SECTION("a timer that is set anew changes nothing here") {
    insert_before(capture, "mem_final", End::B, "modify", {{"qpn", qpn}, {"min_rnr_timer", 5}});
    CHECK(replay(capture, End::B, any_runner()).same());
  }
  SECTION("in ERR the state that is queried is another") {
    insert_before(capture, "qp_state", End::B, "modify", {{"qpn", qpn}, {"state", "ERR"}});
    CHECK_FALSE(replay(capture, End::B, any_runner()).same());
  }
  SECTION("a state that no queue pair has is refused") {
    insert_before(capture, "qp_state", End::B, "modify", {{"qpn", qpn}, {"state", "UP"}});
    CHECK_THROWS_WITH(replay(capture, End::B, any_runner()),
                      Catch::Contains("inserted.state: is \"UP\"; allowed: RESET | INIT"));
  }
}

TEST_CASE("a post that the library refused never reaches the device", "[replay]") {
  Capture capture = load("rc_write_mtu1024");
  const ReplayEvent post = event_of(capture, "post_send", End::A);
  json values = post.values;
  values["wr_id"] = 4711;
  insert_before(capture, "post_send", End::A, "post_send", values);
  SECTION("as posted it is one too many") {
    CHECK_FALSE(replay(capture, End::A, any_runner()).same());
  }
  SECTION("with its failure it is none") {
    const auto first = std::ranges::find(capture.events, "inserted", &ReplayEvent::path);
    capture.events.insert(first + 1, {post.time_ns,
                                      "post_send_failed",
                                      End::A,
                                      {{"qpn", post.number("qpn")}, {"wr_id", 4711}},
                                      "failed"});
    prepare_events(capture);
    const ReplayReport report = replay(capture, End::A, any_runner());
    INFO((report.difference ? report.difference->where + report.difference->what : ""));
    CHECK(report.same());
  }
}

TEST_CASE("what a region without a pattern sends is learned from the frames", "[replay]") {
  Capture capture = load("rc_write_mtu1024");
  for (ReplayEvent& e : capture.events)
    if (e.kind == "mr") e.values.erase("init_seed");
  prepare_events(capture);
  for (const End end : {End::A, End::B}) {
    const ReplayReport report = replay(capture, end, any_runner());
    INFO((report.difference ? report.difference->where + report.difference->what : ""));
    CHECK(report.same());
    CHECK(report.memory_bytes_compared < 32768);
  }
}

TEST_CASE("a deviation counts for the captures of its device alone", "[replay]") {
  Capture capture = load("rc_rnr_exceeded");
  CHECK(capture.profile == kSoftRoce);  // its sides are rxe0 and rxe1
  CHECK(replay(capture, End::B, any_runner()).same());
  capture.profile.clear();
  const ReplayReport report = replay(capture, End::B, any_runner());
  CHECK_FALSE(report.same());  // 0x60 for the PSN of an RNR NAK (G2.5)
}

TEST_CASE("behind a broken UC message the recording device parts", "[replay][G14.2]") {
  Capture capture = load("uc_send_mtu1024");
  std::size_t middle = 0;  // of a SEND
  for (std::size_t i = 0; !middle && i < capture.frames.size(); ++i)
    if (capture.frames[i].bytes[42] == 0x21) middle = i;
  REQUIRE(middle);
  capture.frames[middle].fate = Fate::Dropped;
  const ReplayReport report = replay(capture, End::B, any_runner());
  CHECK(report.same());
  REQUIRE(report.parted);
  CHECK(report.parted->find("oddity 22") != std::string::npos);
  capture.profile.clear();
  CHECK_FALSE(replay(capture, End::B, any_runner()).same());
}

TEST_CASE("a datagram longer than its receive takes the recording device to ERR",
          "[replay][T10-16/UD]") {
  Capture capture = load("ud_send");
  const auto is_of_b = [](std::string_view kind) {
    return [=](const ReplayEvent& e) { return e.kind == kind && e.side == End::B; };
  };
  std::size_t receives = 0;
  for (ReplayEvent& e : capture.events)
    if (is_of_b("post_recv")(e) && receives++ == 0) e.values["sge"][0][1] = 20;
  // As the device did: one completion in error, and nothing after it.
  bool first = true;
  std::erase_if(capture.events, [&](ReplayEvent& e) {
    if (!is_of_b("wc")(e)) return is_of_b("mem_final")(e);
    if (!std::exchange(first, false)) return true;
    e.values["status"] = "LOC_QP_OP_ERR";
    return false;
  });
  const auto state = std::ranges::find_if(capture.events, is_of_b("qp_state"));
  if (state != capture.events.end()) state->values["state"] = "ERR";
  std::size_t sent = 0;  // the first datagram alone
  std::erase_if(capture.frames, [&](const ReplayFrame& f) { return f.from == End::A && sent++; });
  const ReplayReport report = replay(capture, End::B, any_runner());
  INFO((report.difference ? report.difference->where + " " + report.difference->what : ""));
  for (const std::string& line : report.ladder) UNSCOPED_INFO(line);
  CHECK(report.same());
  capture.profile.clear();
  CHECK_FALSE(replay(capture, End::B, any_runner()).same());
}

TEST_CASE("each deviation names its oddity, and no freedom needs a profile", "[replay]") {
  std::set<int> seen;
  for (const AllowedDifference& row : allowed_differences()) {
    const std::size_t at = row.statement.find("oddity ");
    if (at != row.statement.npos) seen.insert(std::stoi(std::string(row.statement.substr(at + 7))));
  }
  for (const int oddity : {4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 18, 19, 20, 21, 22, 23, 25, 28})
    CHECK(seen.contains(oddity));
}
}  // namespace hca::testbench
