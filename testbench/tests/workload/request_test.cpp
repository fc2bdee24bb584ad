// SPDX-License-Identifier: Apache-2.0
// Requests and their answers.
#include <map>

#include "testbench/tests/run_text.h"
#include "testbench/workload/round_trips.h"
#include "testbench/workload/service_time.h"

namespace hca::testbench {
namespace {
double mean(const StreamResult& r, TripPart part) {
  return r.trip.at(std::size_t(part)).mean().value() * 1e-6;  // us
}
}  // namespace

TEST_CASE("service times are those of the scenario", "[requests]") {
  Traffic t;
  t.serve.picoseconds = 700;
  CHECK(service_time(t, 0, 0) == 700);
  CHECK(service_time(t, 3, 99) == 700);
  t.serve_times = {{100, 3}, {900, 1}, {5'000, 0}};
  std::map<u64, int> counts;
  constexpr int kMany = 100'000;
  for (int k = 0; k < kMany; ++k) ++counts[service_time(t, 1, u64(k))];
  CHECK(counts.size() == 2);
  // The standard deviation of a share of 3/4 among 100000 is 0.14 %.
  CHECK(double(counts[100]) / kMany == Approx(0.75).margin(0.006));
  CHECK(counts[100] + counts[900] == kMany);
}

TEST_CASE("exponential service times have their mean and their tail, by the seed", "[requests]") {
  Traffic t;
  t.serve.picoseconds = 1'000'000;
  t.serve_exponential = true;
  t.seed = GENERATE(1u, 7u);
  constexpr int kMany = 100'000;
  double sum = 0;
  int above_mean = 0, above_three = 0;
  for (int k = 0; k < kMany; ++k) {
    const u64 time = service_time(t, u32(k % 4), u64(k / 4));
    CHECK(time == service_time(t, u32(k % 4), u64(k / 4)));
    sum += double(time);
    above_mean += time > 1'000'000;
    above_three += time > 3'000'000;
  }
  // The mean has a standard deviation of 0.32 %. exp(-1) = 0.3679, exp(-3) = 0.0498.
  CHECK(sum / kMany == Approx(1'000'000).epsilon(0.013));
  CHECK(double(above_mean) / kMany == Approx(0.36788).margin(0.006));
  CHECK(double(above_three) / kMany == Approx(0.04979).margin(0.003));
}

TEST_CASE("every request has its answer, of its own bytes", "[requests]") {
  const std::string operation = GENERATE("send", "send_immediate", "write_immediate");
  const std::string connection = GENERATE("{timeout: 14}", "{srq: true}");
  const std::string more =
      GENERATE("", ", threads: 3", ", message_rate: 1000000", ", batches: true");
  INFO(operation << " " << connection << more);
  const RunResult result =
      run_text("connection: " + connection + "\nworkload:\n  - {operation: " + operation +
               ", sizes: [{size: 64 B}, {size: 3000 B}], response: 2000 B, qps: 6, depth: 4,"
               " serve_times: [{time: 0 us}, {time: 1 us}], messages: 300" +
               more + "}\n");
  CHECK(result.failures.empty());
  REQUIRE(result.streams.size() == 1);
  // Requests and answers are checked, byte by byte.
  CHECK(result.messages == 600);
  CHECK(result.streams[0].messages == 300);
  CHECK(result.streams[0].latency.count() == 300);
  u64 sum = 0, whole = 0;
  for (const engine::Histogram& part : result.streams[0].trip) {
    CHECK(part.count() == 300);
    for (const auto& [ps, count] : part.sorted()) sum += ps * count;
  }
  for (const auto& [ps, count] : result.streams[0].latency.sorted()) whole += ps * count;
  CHECK(sum == whole);
}

// The wire is 2 us longer each way and the service takes 3 us more.
TEST_CASE("a round trip is two ways and the service", "[requests]") {
  const std::string entry =
      "  - {operation: send, size: 64 B, response: 64 B, depth: 1, messages: 100";
  const RunResult all = run_workload(entry + ", serve_time: 3 us}\n", {"wire.latency=3 us"});
  const RunResult near = run_workload(entry + "}\n", {"wire.latency=1 us"});
  const double more = all.streams.at(0).latency.mean().value() * 1e-6 -
                      near.streams.at(0).latency.mean().value() * 1e-6;
  CHECK(more == Approx(7).margin(0.01));
  CHECK(mean(all.streams[0], TripPart::Request) - mean(near.streams[0], TripPart::Request) ==
        Approx(2).margin(0.01));
  CHECK(mean(all.streams[0], TripPart::Response) - mean(near.streams[0], TripPart::Response) ==
        Approx(2).margin(0.01));
  CHECK(mean(all.streams[0], TripPart::Service) == 3);
  CHECK(mean(near.streams[0], TripPart::Service) == 0);
}

// A closed loop of 8 on a server that works 5 us on each: it is always busy, and a request waits
// for the 7 before it.
TEST_CASE("a busy server sets the rate", "[requests]") {
  const RunResult result = run_workload(
      "  - {operation: send, size: 64 B, response: 64 B, serve_time: 5 us, depth: 8,"
      " messages: 400}\n",
      {"host.post_recv=0 us"});
  const StreamResult& r = result.streams.at(0);
  // 5 us, 40 ns to post the answer, 10 ns to take the request, 10 ns to take its completion.
  CHECK(r.million_messages_per_second() == Approx(1 / 5.06).epsilon(0.01));
  CHECK(r.latency.mean().value() * 1e-6 == Approx(8 * 5.06).epsilon(0.02));
}

// The answers of two threads of a server are those of their own queue pairs: twice the rate.
TEST_CASE("each thread of a server answers its queue pairs", "[requests]") {
  const std::string entry =
      "  - {operation: send, size: 64 B, response: 64 B, serve_time: 5 us, qps: 2, depth: 8,"
      " messages: 400";
  const double
      one = run_workload(entry + "}\n").streams.at(0).million_messages_per_second(),
      two = run_workload(entry + ", threads: 2}\n").streams.at(0).million_messages_per_second();
  CHECK(two / one == Approx(2).epsilon(0.03));
}
}  // namespace hca::testbench
