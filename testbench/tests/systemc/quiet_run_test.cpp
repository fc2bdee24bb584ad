// SPDX-License-Identifier: Apache-2.0
// run_quiet_for(): what chips call notifies no event of the kernel before the end.
#include <catch2/catch.hpp>

#include "testbench/scenario/scenario_file.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/testbed/testbed.h"
#include "testbench/tests/engine/engine_fixture.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

// Its third action notifies an event, which is due `after` it.
class Notifier : public Program {
 public:
  explicit Notifier(const sc_core::sc_time& after) : after_(after) {}
  Cycle act(Cycle) override {
    if (++acts_ == 3) event_.notify(after_);
    return finished() ? 0 : 100;
  }
  bool finished() const override { return acts_ > 5; }
  bool failed() const override { return false; }

 private:
  sc_core::sc_time after_;
  sc_core::sc_event event_{"notified"};
  unsigned acts_ = 0;
};

std::string notified(void (*pass)(const sc_core::sc_time&), const sc_core::sc_time& after) {
  return engine::test::last_words([&] {
    FreshKernel kernel;
    Testbed testbed(parse_scenario("workload: [{operation: write, size: 8 B}]\n", "test.yaml"));
    testbed.connect();
    Notifier notifier(after);
    testbed.node(0).run(&notifier);
    pass({50, sc_core::SC_US});
    testbed.node(0).run(nullptr);
    if (!notifier.finished()) std::abort();
  });
}
}  // namespace

TEST_CASE("a quiet run ends with an error if an event is due in it that somebody notified",
          "[run]") {
  CHECK_THAT(notified(run_quiet_for, {1, sc_core::SC_US}),
             Contains("an event was notified in a quiet run"));
  CHECK(notified(run_quiet_for, {70, sc_core::SC_US}) == "survived");
  CHECK(notified(run_for, {1, sc_core::SC_US}) == "survived");
}
}  // namespace hca::testbench
