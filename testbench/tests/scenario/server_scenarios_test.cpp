// SPDX-License-Identifier: Apache-2.0
// Ready scenarios of servers and threads: a number for each.
#include "testbench/tests/recorded_run.h"
#include "testbench/workload/round_trips.h"

namespace hca::testbench {
namespace {
constexpr double kMicro = 1e6;  // ps

double mean_of(const StreamResult& r, TripPart part) {
  return r.trip.at(std::size_t(part)).mean().value() / kMicro;
}
}  // namespace

// The time of a request at the server: 10 ns to take it, 15 ns for its receive WQE, 2 us, 40 ns to
// post the answer, 10 ns for its completion: 2.075 us. At 310000 a second it is busy for 0.643 of
// the time. A request waits rho / (1 - rho) * (1 + c^2) / 2 as long as one is served, where c^2 is
// the variance of the service divided by the square of its mean (Pollaczek and Khinchine).
TEST_CASE("scenario request_response: requests wait as the queueing formula says", "[scenarios]") {
  const RunResult result = run_ready("request_response");
  REQUIRE(result.streams.size() == 3);
  const StreamResult &alone = result.streams[0], &random = result.streams[1],
                     &fixed = result.streams[2];
  CHECK(mean_of(alone, TripPart::Queued) == 0);
  // host.notice, and to take it.
  CHECK(mean_of(alone, TripPart::Waiting) == Approx(0.04 + 0.01 + 0.015).margin(0.01));
  CHECK(mean_of(alone, TripPart::Service) == 1);
  const double s = 2.075, rho = 0.31 * s;
  const double formula = rho / (1 - rho) * s / 2;
  CHECK(mean_of(fixed, TripPart::Waiting) == Approx(formula).epsilon(0.1));
  CHECK(mean_of(random, TripPart::Waiting) == Approx(formula * (1 + 4 / (s * s))).epsilon(0.1));
  CHECK(mean_of(fixed, TripPart::Service) == 2);
  CHECK(mean_of(random, TripPart::Service) == Approx(2).epsilon(0.02));
  for (const StreamResult& r : result.streams) {
    double parts = 0;
    for (std::size_t p = 0; p < kTripParts; ++p) parts += mean_of(r, TripPart(p));
    CHECK(parts == Approx(r.latency.mean().value() / kMicro).epsilon(1e-9));
  }
}

TEST_CASE("scenario moderation: one interrupt for four requests, which wait 6 us on average",
          "[scenarios][G21.2]") {
  const RunResult four = run_ready("moderation");
  const RunResult each = run_ready(
      "moderation", {"connection.moderation_count=0", "connection.moderation_period=0 us"});
  const auto events = [](const RunResult& r) { return counter(r, "hca1.completion.events"); };
  // The answers' completions are waited for at the end, with an event or two.
  CHECK(events(each) >= 2000);
  CHECK(events(each) <= 2003);
  CHECK(events(four) >= 500);
  CHECK(events(four) <= 503);
  // Of four that are taken together the last is answered after three others: 40 ns each to post,
  // and 25 ns each to take them: (0 + 40 + 80 + 120) / 4 + 3 * 25 ns more. Three of the four may
  // wait for the read of the WQE before them, 127 cycles of 2.5 ns.
  const double more =
      four.streams.at(0).latency.mean().value() - each.streams.at(0).latency.mean().value();
  CHECK(more / kMicro > 6 + 0.06 + 0.075 - 0.01);
  CHECK(more / kMicro < 6 + 0.06 + 0.075 + 0.75 * 127 * 0.0025);
}

// A request costs the server's core 10 ns and 15 ns to take it, 40 ns for its answer and 10 ns for
// that one's completion; an interrupt 150 ns for the event and 50 ns to arm the queue again. All of
// it comes once in 4 us, or an interrupt once in 16 us.
TEST_CASE("scenario moderation: the server's core does less", "[scenarios][G21.2]") {
  const auto core = [](const std::vector<std::string>& settings) {
    const std::string file = std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/moderation.yaml";
    return share_of(run_recorded(load_scenario(file, settings)), "host 1's core");
  };
  CHECK(core({}) == Approx((75 + 200 / 4) / 4000.0).epsilon(0.01));
  CHECK(core({"connection.moderation_count=0", "connection.moderation_period=0 us"}) ==
        Approx((75 + 200) / 4000.0).epsilon(0.01));
}

TEST_CASE("scenario shared_queue_pair: its lock is held while a thread posts", "[scenarios]") {
  const RunResult result = run_ready("shared_queue_pair");
  REQUIRE(result.streams.size() == 2);
  // A thread alone: 400 + 2.5 ns each.
  CHECK(result.streams[0].million_messages_per_second() == Approx(4e3 / 402.5).epsilon(0.02));
  CHECK(result.streams[1].million_messages_per_second() == Approx(1e3 / 500).epsilon(0.02));
}
}  // namespace hca::testbench
