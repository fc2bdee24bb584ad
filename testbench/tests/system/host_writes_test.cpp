// SPDX-License-Identifier: Apache-2.0
// What writes to the BAR cost the cores: doorbell registers that threads share, write combining.
#include "testbench/tests/system/run_text.h"

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
  CHECK(writes.counters().waits_register == 0);
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

// A WQE of 32 bytes with 64 inline, pushed behind its 8 bytes of doorbell: 104 bytes, 2 lines, 400
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
}  // namespace hca::testbench
