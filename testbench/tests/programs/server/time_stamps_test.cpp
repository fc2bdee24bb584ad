// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/time_stamps.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

using namespace hca;

namespace {
int state() {
  int is = 0;
  return prctl(PR_GET_TSC, &is) ? 0 : is;
}
// A child without a handler ends by the instruction, if that traps.
bool ends_a_child() {
  const pid_t child = fork();
  if (!child) {
    std::signal(SIGSEGV, SIG_DFL);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    __builtin_ia32_rdtsc();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}
}  // namespace

TEST_CASE("who reads the time stamp counter while it traps gets it", "[attach]") {
  const bool traps = ends_a_child();
  if (!traps) WARN("it does not trap on this machine");
  std::thread([=] {
    CHECK(attach::can_trap_time_stamps() == traps);
    const auto before = std::chrono::steady_clock::now();
    for (int i = 0; i < 2; ++i) {
      attach::trap_time_stamps();
      if (!state()) return;  // a processor of another kind
      CHECK(state() == PR_TSC_SIGSEGV);
      CHECK(std::chrono::steady_clock::now() > before);
      if (traps) CHECK(state() == PR_TSC_ENABLE);
    }
  }).join();
}
