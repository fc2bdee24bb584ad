// SPDX-License-Identifier: Apache-2.0
// What the recorded host saw beside frames: asynchronous events, and fields of completions that no
// packet carries; what it did beside posts: windows of type 1.
#include <catch2/catch.hpp>

#include "testbench/tests/replay/recording.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
namespace {
constexpr u32 kP = Recording::kFirst;
constexpr u8 kNoCredits = 0x1f;

u64 uses(const ReplayReport& report, std::string_view header, std::string_view field,
         std::string_view condition = "") {
  u64 all = 0;
  for (std::size_t i = 0; i < allowed_differences().size(); ++i) {
    const AllowedDifference& row = allowed_differences()[i];
    if (row.header == header && row.field == field && row.condition.starts_with(condition))
      all += report.allowed_uses[i];
  }
  return all;
}
// A WRITE with a key that does not exist, and no receive: QP_ACCESS_ERR (T11).
Recording refused_write() {
  return Recording(End::B)
      .in(0x0a, kP, 4, Recording::reth(Recording::kOurs, 0x5500, 4))
      .out_answer(kP, 0x62, 0);
}
}  // namespace

TEST_CASE("an asynchronous event is compared with our event queue", "[replay][T15-QP_ACCESS_ERR]") {
  const ReplayRunner& runner = any_runner();
  const nlohmann::json recorded =
      GENERATE(nlohmann::json{{"event", "QP_ACCESS_ERR"}, {"qpn", Recording::kQpn}},
               nlohmann::json{{"event", "IBV_EVENT_QP_ACCESS_ERR"}}, nlohmann::json{{"type", 3}});
  const ReplayReport report =
      replay(refused_write().event("async", recorded).capture(), End::B, runner);
  CHECK(report.same());
  CHECK(report.async_compared == 1);
  CHECK(uses(report, "async", kOursOnly) == 0);
}

TEST_CASE("an event that the recording device does not raise is an allowed difference",
          "[replay][T15-QP_ACCESS_ERR]") {
  const ReplayReport report = replay(refused_write().capture(), End::B, any_runner());
  CHECK(report.same());
  CHECK(report.async_compared == 0);
  CHECK(uses(report, "async", kOursOnly) == 1);
}

TEST_CASE("an asynchronous event that we do not raise is missing", "[replay]") {
  const ReplayRunner& runner = any_runner();
  const nlohmann::json recorded =
      GENERATE(nlohmann::json{{"event", "CQ_ERR"}},
               nlohmann::json{{"event", "QP_ACCESS_ERR"}, {"qpn", Recording::kQpn + 1}},
               nlohmann::json{{"event", "SQ_DRAINED"}, {"qpn", Recording::kQpn}});
  const ReplayReport report =
      replay(refused_write().event("async", recorded).capture(), End::B, runner);
  REQUIRE(report.difference);
  CHECK(report.difference->where.starts_with("asynchronous event (event "));
  CHECK(report.difference->what.starts_with("missing: "));
}

TEST_CASE("events of ports are not of the conversation", "[replay]") {
  const ReplayReport report = replay(
      refused_write().event("async", {{"event", "PORT_ACTIVE"}}).capture(), End::B, any_runner());
  CHECK(report.same());
  CHECK(uses(report, "async", kRecordedOnly) == 1);
}

TEST_CASE("the sender's queue pair of a completion is compared", "[replay]") {
  const ReplayRunner& runner = any_runner();
  const u32 source = GENERATE(0u, 5u);  // it is told of UD alone
  Recording r = Recording(End::B).post_recv(1000, 256).in(0x04, kP, 8);
  r.out_answer(kP, kNoCredits, 1).wc("recv", 1000, "SUCCESS", "RECV", 8);
  r.capture().events.back().values["src_qp"] = source;
  CHECK(first_field(replay(r.capture(), End::B, runner)) == (source ? "wc.src_qp" : ""));
}

TEST_CASE("a vendor's code is compared in good completions, and allowed in others", "[replay]") {
  const ReplayRunner& runner = any_runner();
  const u32 code = GENERATE(0u, 87u);
  CAPTURE(runner.name, code);
  Recording good = Recording(End::B).post_recv(1000, 256).in(0x04, kP, 8);
  good.out_answer(kP, kNoCredits, 1).wc("recv", 1000, "SUCCESS", "RECV", 8);
  good.capture().events.back().values["vendor_err"] = code;
  CHECK(first_field(replay(good.capture(), End::B, runner)) == (code ? "wc.vendor_err" : ""));

  Recording bad = refused_write();
  bad.capture().events.insert(bad.capture().events.begin() + 3,
                              Recording(End::B).post_recv(1000, 256).capture().events.back());
  bad.wc("recv", 1000, "WR_FLUSH_ERR");
  bad.capture().events.back().values["vendor_err"] = code;
  const ReplayReport report = replay(bad.capture(), End::B, runner);
  CHECK(report.same());
  CHECK(uses(report, "wc", "vendor_err") == (code ? 1 : 0));
}

TEST_CASE("windows of type 1 are bound by the command, to the recorded key", "[replay][MW-8]") {
  const ReplayRunner& runner = any_runner();
  const u32 key = GENERATE(0x801u, 0x8ffu, 0x800u);  // one, 255 and 256 bindings from 0x800 on
  Recording r = Recording(End::B)
                    .event("alloc_mw", {{"rkey", 0x800}})
                    .event("bind_mw", {{"qpn", Recording::kQpn},
                                       {"wr_id", 1},
                                       {"mw_rkey_new", key},
                                       {"bind_addr", Recording::kOurs + 512},
                                       {"bind_len", 256},
                                       {"bind_access", "RW RR"},
                                       {"mr_lkey", Recording::kKey}})
                    .wc("send", 1, "SUCCESS", "BIND_MW", 0)
                    .in(0x0a, kP, 16, Recording::reth(Recording::kOurs + 512, key, 16))
                    .out_answer(kP, kNoCredits, 1);
  SECTION("as recorded") {
    CHECK(waits_for(r.capture()) == "");
    const ReplayReport report = replay(r.capture(), End::B, runner);
    CHECK(report.same());
    CHECK(uses(report, "wc", kRecordedOnly, "SUCCESS of a bind_mw") == 1);
  }
  SECTION("the WRITE with the key byte before is refused") {
    r.last_frame();  // the answer; the request comes before it
    std::vector<u8>& write = r.capture().frames[0].bytes;
    write[54 + 8 + 3] ^= 0x40;
    Recording::make_good(write);
    CHECK(first_field(replay(r.capture(), End::B, runner)) == "AETH.Syndrome");
  }
  SECTION("without what it was bound to, it waits") {
    const char* name = GENERATE("mw_rkey_new", "bind_addr", "bind_len", "bind_access", "mr_lkey");
    r.capture().events[4].values.erase(name);
    REQUIRE(r.capture().events[4].kind == "bind_mw");
    CHECK(waits_for(r.capture()) == std::string("a bind_mw that tells ") + name);
  }
}
}  // namespace hca::testbench
