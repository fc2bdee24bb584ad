// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/time_stamps.h"

#include <sys/prctl.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace hca;

namespace {
int state() {
  int is = 0;
  return prctl(PR_GET_TSC, &is) ? 0 : is;
}
}  // namespace

TEST_CASE("who reads the time stamp counter while it traps gets it", "[attach]") {
  std::thread([] {
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i) {
      attach::trap_time_stamps();
      if (!state()) return;  // a processor of another kind
      CHECK(state() == PR_TSC_SIGSEGV);
      CHECK(std::chrono::steady_clock::now() > before);
      CHECK(state() == PR_TSC_ENABLE);
    }
  }).join();
}
