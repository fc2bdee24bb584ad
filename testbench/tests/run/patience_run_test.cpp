// SPDX-License-Identifier: Apache-2.0
// A run that waits long is distinguished from one that stands still.
#include "testbench/tests/run_text.h"

namespace hca::testbench {
// 1 KiB are 8192 bits: a message each 8.192 s. With timeout 21 a lost one is sent again 8.6 s (2^21
// times 4.096 us) later, if no later one reports it.
TEST_CASE("slow messages and long timers are no standstill", "[run]") {
  const RunResult slow =
      run_text("workload: [{operation: write, size: 1 KiB, messages: 3, rate: 1 kb/s}]\n");
  CHECK(all(slow.failures) == "");
  const RunResult late = run_text(
      "connection: {timeout: 21}\nworkload: [{operation: write, size: 64 B, messages: 1}]\n"
      "faults: [{action: drop, from: 0}]\n");
  CHECK(all(late.failures) == "");
}
}  // namespace hca::testbench
