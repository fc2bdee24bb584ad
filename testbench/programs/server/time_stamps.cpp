// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/time_stamps.h"

#include <sys/prctl.h>
#include <csignal>

namespace hca::attach {
namespace {
thread_local volatile std::sig_atomic_t t_traps = 0;
struct sigaction g_before;

bool set_trap(bool traps) {
  t_traps = traps;
  return !prctl(PR_SET_TSC, traps ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}
// The instruction is executed again; a fault of another kind is for whom it was before.
void on_fault(int, siginfo_t*, void*) {
  if (t_traps)
    set_trap(false);
  else
    sigaction(SIGSEGV, &g_before, nullptr);
}
bool set_up() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return !sigaction(SIGSEGV, &action, &g_before);
}
}  // namespace

void trap_time_stamps() {
  static const bool can = set_up() && set_trap(true);
  if (can && !t_traps) set_trap(true);
}
bool can_trap_time_stamps() {
  trap_time_stamps();
  __builtin_ia32_rdtsc();
  const bool trapped = !t_traps;
  set_trap(false);
  return trapped;
}
}  // namespace hca::attach
