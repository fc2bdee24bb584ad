// SPDX-License-Identifier: Apache-2.0
// When things happened in a recording: its two clocks, timers, and which post a completion is of.
#include <catch2/catch.hpp>

#include "testbench/replay/replay_report.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
TEST_CASE("a repetition that comes too early for any timer is a difference", "[replay][G11.2]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_send_mtu256");
  capture.frames.insert(capture.frames.begin(), capture.frames[0]);
  const ReplayReport report = replay(capture, End::A, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where == "frame 2");
  CHECK(report.difference->what.find("our timer takes 107") != std::string::npos);
}

TEST_CASE("a lost packet of ours is repeated only when the timer fires", "[replay][G11.3]") {
  const ReplayRunner& runner = any_runner();
  Capture capture = load("rc_send_mtu256");
  // The first message is lost once: recorded as sent and dropped, 1.1 s later sent again.
  ReplayFrame lost = capture.frames[0];
  lost.fate = Fate::Dropped, lost.time_ns -= 1'100'000'000;
  capture.frames.insert(capture.frames.begin(), lost);
  for (ReplayEvent& e : capture.events)
    if (e.kind == "post_send" && e.number("wr_id") == 0) e.time_ns -= 1'100'000'000;
  for (ReplayEvent& e : capture.events)
    if (e.kind != "post_send" && e.kind != "wc" && e.kind != "post_recv" && e.kind != "qp_state" &&
        e.kind != "mem_final")
      e.time_ns -= 1'200'000'000;
  const ReplayReport report = replay(capture, End::A, runner);
  INFO((report.difference ? report.difference->where + ": " + report.difference->what : ""));
  CHECK(report.same());
  CHECK(report.timers_fired == 1);
}

TEST_CASE("a transport timer fires between its time and four times that, each time", "[replay]") {
  // G11.2. Code 14 is 67.1 ms, the recording's copies follow each other after 66 to 68 ms.
  const ReplayRunner& runner = any_runner();
  const auto stretched = [&](double by) {
    Capture capture = load("rc_retry_exceeded");
    const u64 first_frame = capture.frames.front().time_ns;
    u64 post = 0;
    for (ReplayFrame& f : capture.frames)
      f.time_ns = first_frame + u64(double(f.time_ns - first_frame) * by);
    for (ReplayEvent& e : capture.events) {
      if (!post && e.kind == "post_send") post = e.time_ns;
      if (post) e.time_ns = post + u64(double(e.time_ns - post) * by);
    }
    return replay(capture, End::A, runner);
  };
  for (const double by : {1.0, 1.8, 3.5}) CHECK(stretched(by).same());
  for (const double by : {0.1, 0.5, 0.9, 4.5}) CHECK_FALSE(stretched(by).same());
}

TEST_CASE("a wr_id may come again on a queue pair", "[replay]") {
  Capture capture = load("rc_send_mtu1024");
  for (ReplayEvent& e : capture.events)
    if (e.kind == "post_send" || (e.kind == "wc" && e.text("queue") == "send"))
      e.values["wr_id"] = e.number("wr_id") % 2;
  CHECK(find_offset_window(capture).is_known());
  for (const End end : {End::A, End::B}) CHECK(replay(capture, end, any_runner()).same());
}

TEST_CASE("queues, SGE lists and inline data are as large as the posts of a capture", "[replay]") {
  Capture capture = load("rc_send_mtu1024");
  const auto post = [&](std::string_view kind) {
    return std::ranges::find(capture.events, kind, &ReplayEvent::kind);
  };
  // 300 receives more after those that are used, and a SEND gathered from 9 pieces.
  const ReplayEvent last =
      *std::find_if(capture.events.rbegin(), capture.events.rend(),
                    [](const ReplayEvent& e) { return e.kind == "post_recv" && e.side == End::B; });
  for (int i = 0; i < 300; ++i) {
    ReplayEvent more = last;
    more.values["wr_id"] = 100'000 + i;
    capture.events.insert(post("mem_final"), more);
  }
  nlohmann::json& sges = std::ranges::find_if(capture.events, [](const ReplayEvent& e) {
                           return e.kind == "post_send" && sge_bytes(e) > 9;
                         })->values["sge"];
  for (nlohmann::json whole = sges[0]; sges.size() < 9;) {
    const u64 at = JsonAt(whole)[0].number() + sges.size() - 1, bytes = whole[1];
    sges.back() = {at, 1, whole[2]};
    sges.push_back({at + 1, bytes - sges.size(), whole[2]});
  }
  for (const End end : {End::A, End::B}) CHECK(replay(capture, end, any_runner()).same());
}

TEST_CASE("what is known of the offset of the clocks is told", "[replay]") {
  const auto told = [](const Capture& capture) {
    ReplayRun run;
    run.reports.push_back(replay(capture, End::A, any_runner()));
    return text_of(run);
  };
  Capture capture = load("rc_send_mtu1024");
  CHECK_THAT(told(capture), Catch::Contains("clock offset known to "));
  Capture early = capture;  // completions a second before what allows them
  for (ReplayEvent& e : early.events)
    if (e.kind == "wc") e.time_ns -= 1'000'000'000;
  CHECK(find_offset_window(early).contradicts_itself());
  CHECK_THAT(told(early), Catch::Contains("no clock offset fits"));
  std::erase_if(capture.events, [](const ReplayEvent& e) { return e.kind == "wc"; });
  CHECK(find_offset_window(capture).has_low());
  CHECK_THAT(told(capture), Catch::Contains("bounded on one side only"));
  // A hand-made end has no completions; those of the receives bound it.
  CHECK(find_offset_window(load("rawreq_dup_send")).is_known());
}

TEST_CASE("the order of events and frames comes from causality", "[replay]") {
  const Capture capture = load("rc_write_mtu1024");
  const OffsetWindow window = find_offset_window(capture);
  REQUIRE(window.is_known());
  CHECK(window.low <= window.high);
  // Every post comes before its first frame, and every completion after its ACK, whatever offset
  // of the window is taken; for this capture the first post is at 5680433 us.
  const Timelines lines = find_timelines(capture, End::A);
  REQUIRE(lines.offsets.size() == 1);
  CHECK(lines.open_pairs == 0);
  std::size_t posts = 0, ends = 0;
  for (const TimelineItem& item : make_timeline(capture, End::A, lines.offsets[0]).items) {
    if (!item.is_frame) posts += capture.events[item.index].kind == "post_send";
    if (item.is_frame && capture.frames[item.index].from == End::B) ++ends;
    CHECK(ends <= posts);
    CHECK(posts <= ends + 1);
  }
}
}  // namespace hca::testbench
