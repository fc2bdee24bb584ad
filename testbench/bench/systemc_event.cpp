// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <systemc>

#include "testbench/testbed/fresh_kernel.h"

namespace {
// One SC_METHOD that notifies itself: the price of an event of the kernel.
class SelfNotified : public sc_core::sc_module {
 public:
  explicit SelfNotified(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(SelfNotified);
    SC_METHOD(run);
    sensitive << event_;
  }
  // The event under way is the last.
  void stop() { stopped_ = true; }

 private:
  void run() {
    if (!stopped_) event_.notify(sc_core::sc_time(1, sc_core::SC_NS));
  }
  bool stopped_ = false;
  sc_core::sc_event event_{"event"};
};

void systemc_timed_event(benchmark::State& state) {
  hca::testbench::FreshKernel kernel;
  SelfNotified module("self_notified");
  constexpr int kEvents = 1000;
  for (auto _ : state) sc_core::sc_start(kEvents, sc_core::SC_NS);
  module.stop();
  sc_core::sc_start(2, sc_core::SC_NS);
  state.SetItemsProcessed(state.iterations() * kEvents);
}
BENCHMARK(systemc_timed_event);
}  // namespace
