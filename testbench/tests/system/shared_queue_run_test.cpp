// SPDX-License-Identifier: Apache-2.0
// WQEs of SRQs that are read before messages take them.
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
RunResult run_with(const std::string& srq, const std::string& batches) {
  return run_workload("  - {operation: send, size: 64 B, qps: 8, depth: 8, messages: 4000}\n",
                      {"connection.srq=" + srq, "connection.min_rnr_timer=1",
                       "hca.responder_execute.shared_batches=" + batches});
}
double rate(const RunResult& r) { return r.streams.at(0).million_messages_per_second(); }
}  // namespace

// 4000 messages are 500 batches of 8, if so many WQEs are posted beyond those that were read; at
// the end fewer are left, and each that is posted may be a batch.
TEST_CASE("WQEs of an SRQ are read ahead in batches, and SENDs are as fast as without",
          "[shared_queue]") {
  const RunResult own = run_with("false", "8"), ahead = run_with("true", "8"),
                  each = run_with("true", "0");
  const char* const reads = "hca1.responder_execute.receive_fetches";
  CHECK(counter(each, reads) >= 4000);
  CHECK(counter(ahead, reads) >= 500);
  CHECK(counter(ahead, reads) < 700);
  CHECK(rate(ahead) > 0.97 * rate(own));
}

// Alone a message waits for its WQE: a read over PCIe, twice 100 ns of line and 90 ns of memory,
// and two TLPs of a few ns.
TEST_CASE("a message whose SRQ WQE is not read ahead waits for that read", "[shared_queue]") {
  const auto run = [](const std::string& srq, const std::string& batches) {
    return run_workload(
        "  - {operation: send, size: 64 B, message_rate: 100000, messages: 200}\n",
        {"connection.srq=" + srq, "hca.responder_execute.shared_batches=" + batches});
  };
  const auto median = [](const RunResult& r) {
    return double(r.streams.at(0).latency.percentile(50).value());  // ps
  };
  const RunResult ahead = run("true", "8"), alone = run("false", "8");
  const double own = median(alone);
  CHECK(median(ahead) == own);
  // The first message too: its WQE is read from the doorbell on.
  CHECK(ahead.streams.at(0).latency.max() == alone.streams.at(0).latency.max());
  const double read = median(run("true", "0")) - own;
  CHECK(read > 290'000);
  CHECK(read < 320'000);
}

TEST_CASE("what is read ahead of an SRQ gives one hash in all ways to run",
          "[shared_queue][hash]") {
  const auto run = [](const std::string& way) {
    return run_text(
        "faults: [{action: drop, per_million: 3000}]\n"
        "workload:\n"
        "  - {mix: {send: 3, write_immediate: 1}, sizes: [{size: 8 B}, {size: 4 KiB}], qps: 6, "
        "depth: 8, messages: 1000, direction: both}\n",
        {"connection.srq=true", "connection.min_rnr_timer=1", "connection.timeout=6",
         "run.hash=true", way});
  };
  const RunResult plain = run("run.seed=1");
  CHECK(plain.failures.empty());
  for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=3", "run.quantum=7 cycles"})
    CHECK(run(way).hash == plain.hash);
}
}  // namespace hca::testbench
