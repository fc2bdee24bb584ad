// SPDX-License-Identifier: Apache-2.0
// What writes to the BAR cost the cores: doorbell registers that threads share, write combining.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
namespace {
// Million messages a second of 4 threads, which take 400 ns to build each WQE.
double rate_of_threads(const std::string& more, std::vector<std::string> settings) {
  settings.insert(settings.end(), {"host.post_send=400 ns", "host.completion=2500 ps"});
  const RunResult result = run_workload(
      "  - {operation: write, size: 8 B, messages: 4000, qps: 4, threads: 4" + more + "}\n",
      settings);
  return result.streams.at(0).million_messages_per_second();
}
}  // namespace

// A thread alone needs 400 + 2.5 + 500 ns each: four with a register each 4.432 M/s. With one
// register for all, each is locked for 500 ns: 2 M/s. With two, 4 M/s at most, less than the
// threads could.
TEST_CASE("threads that share a doorbell register wait for each other", "[host][doorbell]") {
  CHECK(rate_of_threads("", {"host.doorbell_lock=500 ns"}) == Approx(4.432).epsilon(0.02));
  CHECK(rate_of_threads("", {"host.doorbell_lock=500 ns", "host.doorbell_registers=1"}) ==
        Approx(2).epsilon(0.02));
  CHECK(rate_of_threads("", {"host.doorbell_lock=500 ns", "host.doorbell_registers=2"}) ==
        Approx(4).epsilon(0.02));
  CHECK(rate_of_threads("", {"host.doorbell_registers=1"}) ==
        Approx(9.94).epsilon(0.02));  // no lock
}

TEST_CASE("a pushed WQE locks its register as a doorbell does", "[host][doorbell]") {
  CHECK(rate_of_threads(", push: true, inline_below: 9 B", {"host.doorbell_lock=500 ns"}) ==
        Approx(4.432).epsilon(0.02));
}

// Cycles of 1 ns.
TEST_CASE("of two doorbells in one action the second goes when the first has had its register",
          "[host][doorbell]") {
  HostConfig config;
  config.doorbell_lock = 500'000;
  constexpr u64 kClock = 1'000'000'000;
  HostCpu core(config, kClock);
  HostWrites writes(config, kClock);
  const u32 doorbell = u32(proto::BarOffset::SendDoorbell);
  CHECK(writes.leaves(&core, 100, doorbell, 8) == 100);
  CHECK(writes.leaves(&core, 100, doorbell, 8) == 600);
  CHECK(core.held() == 1000);
  CHECK(core.costs()[std::size_t(HostCost::DoorbellLock)] == 1000);
  CHECK(writes.counters().waits_register == 0);
}

// Cycles of 1 ns. Three cores at once: 500, after it 500 + 100, after both 500 + 2 * 100. In 1750
// the third has it for 50 more: one is in front.
TEST_CASE("a doorbell register is slower to hand over to those that wait", "[host][doorbell]") {
  HostConfig config;
  config.doorbell_lock = 500'000, config.doorbell_contention = 100'000;
  config.doorbell_registers = 1;
  constexpr u64 kClock = 1'000'000'000;
  std::array<HostCpu, 4> cores{HostCpu(config, kClock), HostCpu(config, kClock),
                               HostCpu(config, kClock), HostCpu(config, kClock)};
  for (u32 i = 0; i < cores.size(); ++i) cores[i].number = i;
  HostWrites writes(config, kClock);
  const u32 doorbell = u32(proto::BarOffset::SendDoorbell);
  CHECK(writes.leaves(&cores[0], 0, doorbell, 8) == 0);
  CHECK(writes.leaves(&cores[1], 0, doorbell, 8) == 500);
  CHECK(writes.leaves(&cores[2], 0, doorbell, 8) == 1100);
  CHECK(cores[0].held() == 500);
  CHECK(cores[1].held() == 1100);
  CHECK(cores[2].held() == 1800);
  CHECK(writes.leaves(&cores[3], 1750, doorbell, 8) == 1800);
  CHECK(cores[3].held() == 50 + 600);
  CHECK(writes.counters().register_cycles == 500 + 600 + 700 + 600);
}

// Cycles of 1 ns. Each has the queue for 60 and its work of 100; the second is behind one, the
// third behind two, 10 ns each. Another queue is free.
TEST_CASE("cores use a shared queue one after the other, each for its work", "[host][share_qps]") {
  HostConfig config;
  config.queue_lock = 60'000, config.queue_contention = 10'000;
  constexpr u64 kClock = 1'000'000'000;
  std::array<HostCpu, 4> cores{HostCpu(config, kClock), HostCpu(config, kClock),
                               HostCpu(config, kClock), HostCpu(config, kClock)};
  for (u32 i = 0; i < cores.size(); ++i) cores[i].number = i;
  HostWrites writes(config, kClock);
  const int queue = 0, other = 0;
  for (u32 i = 0; i < 3; ++i) writes.lock_queue(cores[i], &queue, 0, 100);
  CHECK(cores[0].held() == 60);
  CHECK(cores[1].held() == 160 + 70);
  CHECK(cores[2].held() == 160 + 170 + 80);
  writes.lock_queue(cores[3], &other, 0, 100);
  CHECK(cores[3].held() == 60);
  CHECK(writes.counters().waits_queue == 160 + 330);
  CHECK(writes.counters().queue_cycles == 60 + 70 + 80 + 60);
  CHECK(writes.counters().busiest_queue == 160 + 170 + 180);
  CHECK(cores[2].costs()[std::size_t(HostCost::QueueLock)] == 80);
  // A doorbell within the action leaves when the core has the lock.
  CHECK(writes.leaves(&cores[1], 0, u32(proto::BarOffset::SendDoorbell), 8) == 230);
}

// 104 bytes, two lines of 200 ns each: four buffers hold two such WQEs. The third waits for the
// first line until 200 and for the second until 400.
TEST_CASE("a core waits for write combining when all its buffers are full", "[host][push]") {
  HostConfig config;
  config.push_line = 200'000, config.combining_buffers = 4;
  constexpr u64 kClock = 1'000'000'000;
  HostCpu core(config, kClock);
  HostWrites writes(config, kClock);
  const u32 push = u32(proto::BarOffset::PushBuffer);
  CHECK(writes.leaves(&core, 0, push, 104) == 400);
  CHECK(writes.leaves(&core, 10, push, 104) == 800);
  CHECK(core.held() == 0);
  CHECK(writes.leaves(&core, 20, push, 104) == 1200);
  CHECK(core.held() == 380);
  CHECK(writes.counters().waits_combining == 380);
}

// At 2 M/s each of the four has a message in 2000 ns: 400 + 2.5 of work, 500 with the register, and
// 1097.5 ns, 439 cycles of 2.5 ns, in which others have it.
TEST_CASE("a thread does nothing while it waits for its register", "[host][doorbell]") {
  const RunResult run =
      run_workload("  - {operation: write, size: 8 B, messages: 4000, qps: 4, threads: 4}\n",
                   {"host.doorbell_lock=500 ns", "host.doorbell_registers=1",
                    "host.post_send=400 ns", "host.completion=2500 ps"});
  CHECK(double(counter(run, "host0.waits_register")) == Approx(4000 * 439).epsilon(0.03));
}

// A list of 4 WQEs has one doorbell: a lock of 500 ns for four.
TEST_CASE("a list of WQEs locks its register once", "[host][doorbell]") {
  CHECK(rate_of_threads(", list: 4", {"host.doorbell_lock=1500 ns", "host.doorbell_registers=1"}) ==
        Approx(4 / 1.5).epsilon(0.03));
}

// A WQE of 32 bytes with 64 inline, pushed after its 8 bytes of doorbell: 104 bytes, 2 lines, 400
// ns of a core's write combining: 2.5 M/s, where posts alone would be 10 ns.
TEST_CASE("write combining limits what a core pushes", "[host][push]") {
  const auto pushed = [](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"host.post_send=7500 ps", "host.completion=2500 ps"});
    return run_workload(
        "  - {operation: write, size: 64 B, messages: 3000, push: true, inline_below: 65 B}\n",
        settings);
  };
  const RunResult slow = pushed({"host.push_line=200 ns", "host.combining_buffers=4"});
  CHECK(slow.sizes.at(0).bandwidth->million_messages_per_second() == Approx(2.5).epsilon(0.02));
  CHECK(counter(slow, "host0.combining_cycles") == 3000 * 2 * 80 + 2 * 80);  // and the breakdown
  // Of 400 ns 10 are work: 390 ns, 156 cycles.
  CHECK(double(counter(slow, "host0.waits_combining")) == Approx(3000 * 156).epsilon(0.03));
  const RunResult fast = pushed({});
  CHECK(fast.sizes.at(0).bandwidth->million_messages_per_second() > 10);
  CHECK(counter(fast, "host0.waits_combining") == 0);
}

// With a lock of 500 ns the second doorbell leaves in 600, a receive doorbell after it no sooner
// than when the core has had its register, in 1100; a doorbell from outside waits for none of them.
// A line that leaves write combining in 200 holds back a doorbell after it.
TEST_CASE("the writes of one core leave in their order", "[host][doorbell]") {
  HostConfig config;
  config.doorbell_lock = 500'000;
  constexpr u64 kClock = 1'000'000'000;
  const u32 send = u32(proto::BarOffset::SendDoorbell), push = u32(proto::BarOffset::PushBuffer),
            receive = u32(proto::BarOffset::ReceiveDoorbell);
  HostCpu core(config, kClock), other(config, kClock, &core);
  other.number = 1;
  HostWrites locked(config, kClock);
  CHECK(locked.leaves(&core, 100, send, 8) == 100);
  CHECK(locked.leaves(&core, 100, send, 8) == 600);
  CHECK(locked.leaves(&core, 100, receive, 8) == 1100);
  CHECK(locked.leaves(&other, 100, receive, 8) == 100);
  CHECK(locked.leaves(nullptr, 150, receive, 8) == 150);
  CHECK(locked.leaves(nullptr, 120, receive, 8) == 150);
  config.doorbell_lock = 0, config.push_line = 200'000;
  HostCpu pushing(config, kClock);
  HostWrites lines(config, kClock);
  CHECK(lines.leaves(&pushing, 0, push, 64) == 200);
  CHECK(lines.leaves(&pushing, 50, receive, 8) == 200);
  CHECK(lines.leaves(&pushing, 250, receive, 8) == 250);
}

// Doorbells of four threads wait up to 3 us for the register. A WQE of 80 bytes is read in 122
// cycles meanwhile, as at any time: 2 to dma and out, 1 for 24 bytes up, 40 there, 36 in memory, 3
// for 100 bytes down, 40 back.
TEST_CASE("a doorbell that waits for its register holds up no read", "[host][doorbell]") {
  const RecordedRun run =
      run_recorded("operation: write, size: 64 B, messages: 400, qps: 4, threads: 4, depth: 1",
                   {"host.doorbell_registers=1", "host.doorbell_lock=1 us"});
  std::size_t seen = 0;
  for (const auto& step : run.record.at("phases").at(0).at("times").at("steps")) {
    if (step.at("step") != "wqe_fetch") continue;
    ++seen;
    CHECK(step.at("mean_ns") == 305);
    CHECK(step.at("max_ns") == 305);
  }
  CHECK(seen == 1);
}

// A message of 64 KiB takes 5.6 us of a link of 100 Gb/s, its WQE in one line 300 ns of write
// combining: the link is never idle. 64 KiB of each 16 * (4096 + 74 + 24) bytes on it.
TEST_CASE("a line that waits in write combining holds up no payload", "[host][push]") {
  const RunResult run =
      run_workload("  - {operation: write, size: 64 KiB, messages: 400, push: true}\n",
                   {"host.push_line=300 ns", "host.combining_buffers=64", "pcie.generation=5",
                    "connection.path_mtu=4096"});
  CHECK(run.sizes.at(0).bandwidth->gigabits_per_second(64 << 10) ==
        Approx(100. * 4096 / 4194).epsilon(0.01));
}

// Each way takes 1 us. With one header credit a doorbell leaves when the one before it is there and
// its credit back: 2 us and one cycle of the line. The completion queue has a doorbell for each
// quarter of its 128 entries.
TEST_CASE("a doorbell waits for a credit of the HCA", "[host][doorbell][credits]") {
  const auto rate = [](const std::string& entry, std::vector<std::string> settings) {
    settings.push_back("pcie.latency=1 us");
    const std::string text = "  - {operation: write, size: 8 B, messages: 2000, depth: 64, ";
    return run_workload(text + "threads: 2, qps: 2" + entry + "}\n", settings)
        .streams.at(0)
        .million_messages_per_second();
  };
  const double one = 32. / 33 / 2.0025;
  CHECK(rate("", {"pcie.device_posted_headers=1"}) == Approx(one).epsilon(0.005));
  CHECK(rate("", {"pcie.device_posted_headers=2"}) == Approx(2 * one).epsilon(0.005));
  // A doorbell and its WQE of 40 bytes need 3 of 17 data credits: five leave in 2 us, and the
  // doorbell of a completion queue has the other two.
  const std::string push = ", push: true, inline_below: 9 B";
  CHECK(rate(push, {"pcie.device_posted_data=17"}) == Approx(5 / 2.0025).epsilon(0.005));
  CHECK(rate(push, {"pcie.device_posted_data=0", "pcie.device_posted_headers=0"}) > 15);
}

// The core rings when the doorbell before has left, and does nothing else until this one has: 2 us
// for the credit, 1 us and one cycle to the BAR. Otherwise all 64 would wait, up to 128 us.
TEST_CASE("a core waits for the credit of its doorbell", "[host][doorbell][credits]") {
  const RecordedRun run = run_recorded("operation: write, size: 8 B, messages: 300, depth: 64",
                                       {"pcie.latency=1 us", "pcie.device_posted_headers=1"});
  const auto& steps = run.record.at("phases").at(0).at("times").at("steps");
  const auto at = std::ranges::find_if(
      steps, [](const auto& step) { return step.at("step") == "PCIe, doorbell"; });
  REQUIRE(at != steps.end());
  CHECK(at->at("max_ns") == 3002.5);
}

// A doorbell in 200 cycles of 2.5 ns is taken, those before it wait at the BAR: as many as there are
// credits, and no more.
TEST_CASE("doorbells that the HCA does not take fill its credits", "[host][doorbell][credits]") {
  for (const std::string credits : {"4", "127"}) {
    const RecordedRun run =
        run_recorded("operation: write, size: 8 B, messages: 4000, qps: 16, threads: 16, depth: 16",
                     {"hca.doorbell.interval=200 cycles", "pcie.device_posted_headers=" + credits});
    const double rate = run.result.streams.at(0).million_messages_per_second();
    CHECK(rate <= 2.02);
    CHECK(rate >= 1.6);  // some doorbells are of completion queues
    CHECK(run.line.find("hca0 doorbell: ") != run.line.npos);
    const auto& peaks = run.record.at("peaks");
    const auto at = std::ranges::find_if(
        peaks, [](const auto& peak) { return peak.at("place") == "hca0 writes: MMIO credits"; });
    REQUIRE(at != peaks.end());
    CHECK(at->at("most") == std::stoul(credits));
  }
}

// Depth 1: a doorbell for each post and one for each completion, 1 us each.
TEST_CASE("doorbells of completion queues keep the block busy too", "[host][doorbell]") {
  const RecordedRun run = run_recorded(
      "operation: write, size: 64 B, inline_below: 65 B, messages: 1600, qps: 16, threads: 16, "
      "depth: 1",
      {"hca.doorbell.interval=400 cycles", "pcie.device_posted_headers=4"});
  CHECK(share_of(run, "hca0 doorbell") == Approx(1).epsilon(0.05));
  CHECK(run.line.find(": hca0 doorbell: ") != run.line.npos);
}
}  // namespace hca::testbench
