// SPDX-License-Identifier: Apache-2.0
// The most that buffers hold, counted by hand.
#include "testbench/run/overlap_peak.h"

#include "testbench/tests/recorded_run.h"

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
