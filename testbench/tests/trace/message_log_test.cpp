// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/message_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "model/engine/random.h"
#include "testbench/tests/run_text.h"
#include "testbench/trace/message_stats.h"

namespace hca::testbench {
namespace {
struct Followed {
  std::vector<MessageTimes> messages;
  RunResult result;
};
Followed follow(const std::string& text) {
  FreshKernel kernel;
  Runner runner(parse_scenario(text, "test.yaml"), {});
  Followed f;
  bool measured = false;
  runner.phase = [&](const std::string&, bool begins) { measured = begins; };
  MessageLog log(runner.testbed(), [&](const MessageTimes& m) {
    if (measured) f.messages.push_back(m);
  });
  f.result = runner.run();
  for (const std::string& failure : f.result.failures) FAIL_CHECK(failure);
  return f;
}
u64 at(const MessageTimes& m, Station s) { return m.at[std::size_t(s)]; }

// What a message cannot pass before it has passed the one in front, whatever else is on the way. A
// request is judged by its headers while its payload still comes through the ICRC unit.
using enum Station;
const std::vector<Station> kOrder{
    Rung,          AtBar,         Doorbell,       Scheduler,      WqeFetch,   Requester,
    Packetizer,    Inserted,      Transmit,       Wire,           Receive,    ResponderCheck,
    Execute,       Reply,         AnswerInserted, AnswerTransmit, AnswerWire, AnswerReceive,
    AnswerChecked, ResponseCheck, Completed,      Completion,     CqeWritten, Taken};
std::string out_of_order(const MessageTimes& m) {
  for (std::size_t i = 1; i < kOrder.size(); ++i)
    if (at(m, kOrder[i]) == MessageTimes::kNever || at(m, kOrder[i]) < at(m, kOrder[i - 1]))
      return std::string(kStationNames[std::size_t(kOrder[i])]);
  return at(m, Checked) < at(m, Receive) ? "icrc_unit, checked" : "";
}
}  // namespace

TEST_CASE("each message passes each station once and in order", "[messages]") {
  const char* faults = GENERATE("", "faults: [{action: drop, per_million: 10000}]\n");
  const char* mix = GENERATE(
      "{operation: write, from: 3000 B, to: 3000 B", "{operation: send, from: 64 B, to: 64 B",
      "{operation: read, from: 3000 B, to: 3000 B", "{operation: fetch_add, from: 8 B, to: 8 B");
  INFO(mix << faults);
  const Followed f = follow(std::string("connection: {timeout: 6}\n") + faults + "workload: [" +
                            mix + ", qps: 4, messages: 400, depth: 8}]\n");
  REQUIRE(f.messages.size() == 400);
  const bool fetches = std::string(mix).find("read") != std::string::npos ||
                       std::string(mix).find("fetch") != std::string::npos;
  std::map<u32, u32> next;
  for (const MessageTimes& m : f.messages) {
    REQUIRE(out_of_order(m) == "");
    REQUIRE((at(m, Data) != MessageTimes::kNever) == fetches);
    REQUIRE(m.index == (next.emplace(m.qpn, m.index).first->second++ & 0xffff));
  }
  CHECK(next.size() == 4);
}

TEST_CASE("a message's time is that which its program measures", "[messages]") {
  const Followed f = follow(
      "workload: [{operation: write, from: 200 B, to: 200 B, qps: 3, messages: 300, depth: 5, "
      "rate: 4 Gb/s}]\n");
  REQUIRE(f.result.streams.size() == 1);
  engine::Histogram whole;
  for (const MessageTimes& m : f.messages) whole.add(m.whole());
  // In an open loop the program's latency begins when the message was planned.
  CHECK(whole.count() == f.result.streams[0].latency.count());
  CHECK(whole.max() <= f.result.streams[0].latency.max());
  const Followed closed = follow(
      "workload: [{operation: write, from: 200 B, to: 200 B, qps: 3, messages: 300, depth: 5}]\n");
  engine::Histogram times;
  for (const MessageTimes& m : closed.messages) times.add(m.whole());
  CHECK(times.sorted() == closed.result.streams.at(0).latency.sorted());
}

TEST_CASE("a longer cable is in the steps of the wire alone", "[messages]") {
  const std::string one =
      "workload: [{operation: write, from: 2 B, to: 2 B, messages: 20, depth: 1}]\n";
  const Followed near = follow("wire: {latency: 100 ns}\n" + one);
  const Followed far = follow("wire: {latency: 350 ns}\n" + one);
  REQUIRE(near.messages.size() == 20);
  REQUIRE(far.messages.size() == 20);
  const auto steps = [](const MessageTimes& m) {
    std::map<Station, u64> ps;
    u64 from = m.start();
    for (const auto& [station, time] : m.way()) ps[station] = time - from, from = time;
    return ps;
  };
  for (std::size_t i = 0; i < 20; ++i) {
    auto a = steps(near.messages[i]), b = steps(far.messages[i]);
    CHECK(b[Wire] == a[Wire] + 250'000);
    CHECK(b[AnswerWire] == a[AnswerWire] + 250'000);
    a.erase(Wire), a.erase(AnswerWire), b.erase(Wire), b.erase(AnswerWire);
    CHECK(a == b);
  }
}

// The first 32 queue pairs of a chip have figures of their own.
TEST_CASE("the figures of a group are those of its messages, however others are mixed",
          "[messages]") {
  engine::Random random(7);
  MessageStats stats;
  std::map<std::pair<std::string, std::string>, std::pair<engine::Histogram, u64>> wanted;
  engine::Histogram whole;
  for (u64 i = 0; i < 20'000; ++i) {
    MessageTimes m;
    m.chip = unsigned(random.below(2)), m.qpn = u32(i < 40 ? i : random.below(40));
    if (i < 40) m.chip = 0;
    m.entry = u32(random.below(3)), m.operation = Operation(random.below(3));
    m.bytes = 64 << random.below(4);
    const u64 time = random.below(1000) * 1000;
    m.at[std::size_t(Rung)] = i, m.at[std::size_t(Taken)] = i + time;
    stats.add(m);
    whole.add(time);
    const auto count = [&](const char* by, const std::string& name) {
      auto& [times, bytes] = wanted[{by, name}];
      times.add(time), bytes += m.bytes;
    };
    count("entry", fmt::format("entry {}", m.entry));
    count("operation", std::string(name_of(m.operation)));
    count("size", fmt::format("{} B", m.bytes));
    if (m.chip == 0)
      count("queue pair",
            m.qpn < 32 ? fmt::format("hca0 QP {:#x}", m.qpn) : std::string("all others"));
  }
  const nlohmann::json all = stats.json(0);
  CHECK(all["whole"]["mean_ns"] == *whole.mean() / 1000);
  std::size_t found = 0;
  for (const auto& group : all["groups"]) {
    const auto at = wanted.find({group["by"], group["name"]});
    // Both chips share the others.
    if (at == wanted.end() || group["name"] == "all others") continue;
    ++found;
    const auto& [times, bytes] = at->second;
    CHECK(group["count"] == times.count());
    CHECK(group["bytes"] == bytes);
    CHECK(group["mean_ns"] == *times.mean() / 1000);
    CHECK(group["p50_ns"] == double(*times.percentile(50)) / 1000);
    CHECK(group["p99_ns"].is_null() == !times.percentile(99));
  }
  CHECK(found == 3 + 3 + 4 + 32);
}

TEST_CASE("figures are of all messages, and of those kept are the slowest", "[messages]") {
  MessageStats stats;
  const auto message = [](u64 start, u64 bell, u64 taken) {
    MessageTimes m;
    m.at[std::size_t(Rung)] = start, m.at[std::size_t(AtBar)] = start + bell;
    m.at[std::size_t(Taken)] = start + taken;
    return m;
  };
  // 1200 of 3 us, of which 1 us is the doorbell's; number 777 takes 9 us.
  for (u64 i = 0; i < 1200; ++i)
    stats.add(message(i * 10'000, 1'000'000, i == 777 ? 9'000'000 : 3'000'000));
  const nlohmann::json all = stats.json(100);
  CHECK(all["count"] == 1200);
  CHECK(all["whole"]["p50_ns"] == 3000);
  CHECK(all["whole"]["p99_ns"] == 3000);
  CHECK(all["whole"]["max_ns"] == 9000);
  REQUIRE(all["steps"].size() == 2);
  CHECK(all["steps"][0]["step"] == "PCIe, doorbell");
  CHECK(all["steps"][0]["mean_ns"] == 1000);
  // 1200 x 1 us of 1199 x 3 us + 9 us.
  CHECK(all["steps"][0]["share"].get<double>() == Approx(1200.0 / 3606));
  CHECK(all["messages"].size() <= 100 + MessageStats::kMostSlow);
  CHECK(std::count_if(all["messages"].begin(), all["messages"].end(),
                      [](const auto& m) { return m[0] == 777; }) == 1);
  REQUIRE(all["ways"].size() == 1);
  CHECK(all["ways"][0][0] == "PCIe, doorbell");
  for (const auto& m : all["messages"]) {
    CHECK(m[4] == m[0].get<u64>() * 10'000);
    CHECK(m[6] == 1'000'000);
    CHECK(m[7] == (m[0] == 777 ? 8'000'000 : 2'000'000));
  }
  CHECK(stats.json(1200)["messages"].size() == 1200);  // every one
  CHECK_FALSE(stats.json(0).contains("messages"));
}
}  // namespace hca::testbench
