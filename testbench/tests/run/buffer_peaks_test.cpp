// SPDX-License-Identifier: Apache-2.0
// The most that buffers hold, counted by hand.
#include <algorithm>
#include <deque>

#include "model/engine/random.h"
#include "testbench/run/overlap_peak.h"
#include "testbench/tests/recorded_run.h"
#include "tlm/pcie/pcie_credits.h"

namespace hca::testbench {
namespace {
// 0: the place held nothing.
u64 most(const RecordedRun& run, const std::string& place) {
  for (const auto& peak : run.record.at("peaks"))
    if (peak.at("place") == place) return peak.at("most");
  return 0;
}
nlohmann::json of(const RecordedRun& run, const std::string& place) {
  for (const auto& peak : run.record.at("peaks"))
    if (peak.at("place") == place) return peak.at("of");
  return "absent";
}
std::string line(const std::string& place, u64 most) { return place + ", " + std::to_string(most); }
// Place and most of the links, mailboxes and budgets of the chips, seen after every cycle of the
// parts of a run in which each cycle runs.
class EachCycle {
 public:
  explicit EachCycle(Testbed& testbed) {
    for (unsigned i = 0; i < testbed.nodes(); ++i) {
      engine::Domain& domain = testbed.node(i).hca.domain();
      chips_.push_back({this, i, &domain, std::vector<unsigned>(domain.watched().size())});
    }
    for (Chip& chip : chips_)
      chip.domain->observe(&chip, nullptr,
                           [](void* who, engine::Cycle) { static_cast<Chip*>(who)->look(); });
  }
  ~EachCycle() {
    for (Chip& chip : chips_) chip.domain->observe(&chip, nullptr, nullptr);
  }
  void part(bool begins) {
    recording_ = true;
    for (Chip& chip : chips_) chip.look();
    recording_ = begins;
  }
  std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (const Chip& chip : chips_)
      for (std::size_t w = 0; w < chip.most.size(); ++w) {
        const engine::Watched& watched = chip.domain->watched()[w];
        const engine::Level level = watched.level(watched.object);
        if (chip.most[w])
          all.push_back(line("hca" + std::to_string(chip.number) + " " +
                                 chip.domain->name_of(level.owner) + ": " + level.object,
                             chip.most[w]));
      }
    return all;
  }

 private:
  struct Chip {
    EachCycle* all;
    unsigned number;
    engine::Domain* domain;
    std::vector<unsigned> most;
    void look() {
      if (!all->recording_) return;
      for (std::size_t w = 0; w < most.size(); ++w) {
        const engine::Watched& watched = domain->watched()[w];
        most[w] = std::max(most[w], watched.level(watched.object).used);
      }
    }
  };
  std::deque<Chip> chips_;
  bool recording_ = false;
};
}  // namespace

TEST_CASE("intervals overlap where one begins before another ends", "[peaks]") {
  OverlapPeak peak;
  peak.add(10, 20, 1);
  peak.add(20, 30, 2);  // begins when the first is over
  peak.pass_until(20);
  CHECK(peak.most() == 1);
  peak.pass_until(25);
  CHECK(peak.most() == 2);
  peak.add(26, 28, 5);
  peak.add(27, 27, 9);  // takes no time
  peak.pass_until(100);
  CHECK(peak.most() == 7);
  peak.begin();
  CHECK(peak.most() == 0);
}

TEST_CASE("what is in use when a part begins counts in it", "[peaks]") {
  OverlapPeak peak;
  peak.add(10, 50, 3);
  peak.add(12, 14, 4);
  peak.pass_until(20);
  CHECK(peak.most() == 7);
  peak.begin();
  CHECK(peak.most() == 3);
}

TEST_CASE("the peak is that of a count of each cycle, in whatever order the intervals come",
          "[peaks]") {
  engine::Random random(GENERATE(1u, 2u, 3u));
  constexpr engine::Cycle kCycles = 2000;
  OverlapPeak peak;
  std::vector<std::int64_t> in_use(kCycles + 200);
  for (engine::Cycle now = 0; now < kCycles; ++now) {
    for (u64 i = random.below(3); i--;) {
      const engine::Cycle from = now + random.below(40), to = from + random.below(100);
      const std::int64_t units = std::int64_t(1 + random.below(4));
      peak.add(from, to, units);
      for (engine::Cycle at = from; at < to; ++at) in_use[at] += units;
    }
    if (random.below(4)) continue;
    peak.pass_until(now);
    const auto most = std::max_element(in_use.begin(), in_use.begin() + std::ptrdiff_t(now));
    CHECK(peak.most() == (now ? *most : 0));
  }
}

TEST_CASE("the most credits in use are those of overlapping intervals", "[peaks]") {
  engine::Random random(GENERATE(1u, 2u, 3u));
  const u32 all = GENERATE(60u, 5000u);       // TLPs wait for some; for none
  const unsigned first = GENERATE(0u, 400u);  // from this TLP on the most is kept
  tlm_::PcieCredits credits(all);
  OverlapPeak any;
  engine::Cycle from = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    const u32 units = u32(i < 200 ? 16 : 1 + random.below(4));  // few TLPs, then many
    from = std::max(from + random.below(20), credits.take(units));
    const engine::Cycle to = from + random.below(200);
    credits.give(from, to, units), any.add(from, to, units);
    any.pass_until(from);
    if (i == first || i % 500 == 400)
      credits.begin_most(from), any.pass_until(from + 1), any.begin();
  }
  any.pass_until(from + 1);
  CHECK(credits.most() == any.most());
  credits.begin_most(from + 200), any.pass_until(from + 201), any.begin();
  CHECK(credits.most() == 0);
  CHECK(any.most() == 0);
}

TEST_CASE("credits that are back before the last begin do not count", "[peaks]") {
  tlm_::PcieCredits credits(10);
  credits.begin_most(0);
  const auto use = [&](engine::Cycle from, engine::Cycle to, u32 units) {
    credits.take(units);
    credits.give(from, to, units);
    return credits.most();
  };
  CHECK(use(10, 30, 1) == 1);
  CHECK(use(5, 8, 4) == 1);   // overtakes, and is over in 10
  CHECK(use(5, 20, 1) == 2);  // counts from 10 on
  CHECK(use(20, 40, 2) == 3);
  credits.begin_most(30);
  CHECK(credits.most() == 2);
}

TEST_CASE("peaks of a chip are those of a look after each cycle", "[peaks]") {
  const char* const text = GENERATE(
      "workload:\n"
      "  - {mix: {write: 2, read: 1, send: 1}, sizes: [{size: 64 B}, {size: 3000 B}], qps: 4,"
      " messages: 300, direction: both}\n"
      "  - {operation: fetch_add, messages: 60, qps: 2}\n",
      "hca: {qp_cache: {entries: 8}}\nconnection: {qps: 32, timeout: 8}\n"
      "faults: [{action: drop, from: 0, per_million: 10000}]\n"
      "workload: [{operation: write, size: 2 KiB, depth: 4, messages: 400}]\n",
      "hca: {link_control: {mode: pause, buffer: 64 KiB, xoff: 32 KiB, xon: 16 KiB}}\n"
      "workload: [{operation: send, size: 4 KiB, messages: 200}]\n");
  std::vector<std::string> seen, kept;
  {
    FreshKernel kernel;
    Runner runner(parse_scenario(text, "test.yaml", {"run.every_cycle=true"}), {});
    EachCycle each(runner.testbed());
    runner.phase = [&](const std::string&, bool begins) { each.part(begins); };
    runner.run();
    seen = each.places();
  }
  const RecordedRun run = run_recorded(parse_scenario(text, "test.yaml"));
  for (const auto& peak : run.record.at("peaks"))
    if (peak.at("unit") == "items")
      kept.push_back(line(peak.at("place").get<std::string>(), peak.at("most").get<u64>()));
  CHECK(seen.size() > 20);
  CHECK(kept == seen);
}

// A stream of full packets uses all buffers and tags of a chip that has few, and no more.
TEST_CASE("a resource that limits is full at some time", "[peaks]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, messages: 200",
                   {"hca.packetizer.buffers=5", "pcie.read_tags=3", "hca.qp_scheduler.slots=4"});
  CHECK(most(run, "hca0 requester: packet buffers") == 5);
  CHECK(of(run, "hca0 requester: packet buffers") == 5);
  CHECK(most(run, "hca0 PCIe: read tags") == 3);
  CHECK(most(run, "hca1 requester: packet buffers") == 0);
}

// 256 bytes, a TLP, take 20 ns on a link of 100 Gb/s, and credits much longer to come back.
TEST_CASE("credits that limit are all in use at some time, others are not", "[peaks]") {
  const RecordedRun run = run_recorded("operation: write, size: 4 KiB, messages: 200",
                                       {"pcie1.root_posted_headers=3", "pcie1.root_posted_data=400",
                                        "pcie0.root_nonposted_headers=2"});
  CHECK(most(run, "hca1 PCIe: posted header credits") == 3);
  CHECK(of(run, "hca1 PCIe: posted header credits") == 3);
  CHECK(most(run, "hca1 PCIe: posted data credits") == 3 * 256 / 16);
  CHECK(of(run, "hca1 PCIe: posted data credits") == 400);
  CHECK(most(run, "hca0 PCIe: non-posted header credits") == 2);
}

// The program posts 12 messages, one each 340 ns on the link, and takes the first completion; while
// it works on it for 20 us the other 11 arrive.
TEST_CASE("completions wait in their queue while the program works", "[peaks]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, depth: 12, batches: true, messages: 12",
                   {"host.completion=20 us", "host.post_send=1 ns"});
  u64 completions = 0;
  for (const auto& peak : run.record.at("peaks"))
    if (peak.at("place").get<std::string>().starts_with("host 0: completion queue"))
      completions = std::max<u64>(completions, peak.at("most"));
  CHECK(completions == 11);
}

// 8 messages wait at most; the others are lost.
TEST_CASE("the queue of an open loop has its peak", "[peaks]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 4 KiB, rate: 200 Gb/s, queue: 8, depth: 2, messages: 300", {});
  CHECK(most(run, "host 0: queue of workload[0]") == 8);
  CHECK(of(run, "host 0: queue of workload[0]") == 8);
}

// A lane's buffer of a port has its most bytes as the port's counter has it, and no more than there
// are.
TEST_CASE("the receive buffer of a port is among them", "[peaks]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 4 KiB, messages: 200",
                   {"hca.link_control.mode=pause", "hca.link_control.buffer=64 KiB",
                    "hca.link_control.xoff=32 KiB", "hca.link_control.xon=16 KiB"});
  const u64 bytes = most(run, "hca1 link_control: receive buffer of a lane");
  CHECK(bytes == counter(run.result, "hca1.link_control.most_bytes"));
  CHECK(bytes >= 1024);
  CHECK(bytes <= 64 * 1024);
}

// Read by a program that looks once in a part: the most is that of the first part that had it.
TEST_CASE("a peak is of the first part of the run that reached it", "[peaks]") {
  Scenario scenario = parse_scenario(
      "hca.packetizer.buffers: 6\nworkload:\n"
      "  - {operation: write, size: 64 B, depth: 1, messages: 20}\n"
      "  - {operation: send, size: 4 KiB, messages: 60}\n"
      "  - {operation: write, size: 4 KiB, messages: 60}\n",
      "test.yaml");
  const RecordedRun run = run_recorded(scenario);
  for (const auto& peak : run.record.at("peaks"))
    if (peak.at("place") == "hca0 requester: packet buffers") {
      CHECK(peak.at("most") == 6);
      CHECK(peak.at("part") == "SEND bandwidth, 4096 B");
    }
}
}  // namespace hca::testbench
