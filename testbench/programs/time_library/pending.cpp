// SPDX-License-Identifier: Apache-2.0
// Calls that wait only for a signal.
#include <signal.h>

#include <cerrno>

#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
namespace {
bool is_pending(const sigset_t& wanted) {
  sigset_t pending;
  if (sigpending(&pending)) return false;
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&wanted, signal) == 1 && sigismember(&pending, signal) == 1) return true;
  return false;
}
// Which has come, of those that are blocked; -1: errno says why.
int take_signal(const sigset_t& wanted, siginfo_t* info, u64 end) {
  constexpr timespec kNone{};
  int taken = -1, error = EAGAIN;
  wait_until(
      [&] {
        taken = HCA_NEXT(sigtimedwait)(&wanted, info, &kNone);
        error = errno;
        return taken >= 0 || error != EAGAIN;
      },
      end, [&] { return is_pending(wanted); });
  return taken < 0 ? errno = error, -1 : taken;
}
}  // namespace
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

// A thread that waits for the signal looks again.
HCA_INSTEAD int kill(pid_t to, int signal) noexcept {
  const int error = HCA_NEXT(kill)(to, signal);
  if (is_open()) tell(attach::kPipe);
  return error;
}
HCA_INSTEAD int pthread_kill(pthread_t to, int signal) noexcept {
  const int error = HCA_NEXT(pthread_kill)(to, signal);
  if (is_open()) tell(attach::kPipe);
  return error;
}

HCA_INSTEAD int sigsuspend(const sigset_t* mask) {
  const sigset_t wanted = without_faults(*mask);
  return is_open() ? await(nullptr, 0, attach::kForEver, &wanted) : HCA_NEXT(sigsuspend)(&wanted);
}
// NOLINTNEXTLINE(bugprone-reserved-identifier): a name of the C library
HCA_INSTEAD int __sigsuspend(const sigset_t* mask) { return sigsuspend(mask); }
HCA_INSTEAD int sigtimedwait(const sigset_t* wanted, siginfo_t* info, const timespec* longest) {
  if (!is_open() || (longest && (longest->tv_sec < 0 || !is_time(*longest))))
    return HCA_NEXT(sigtimedwait)(wanted, info, longest);
  const int taken = take_signal(*wanted, info, end_after(longest));
  return taken >= 0 || is_open() ? taken : HCA_NEXT(sigtimedwait)(wanted, info, longest);
}
HCA_INSTEAD int sigwaitinfo(const sigset_t* wanted, siginfo_t* info) {
  return is_open() ? sigtimedwait(wanted, info, nullptr) : HCA_NEXT(sigwaitinfo)(wanted, info);
}
HCA_INSTEAD int sigwait(const sigset_t* wanted, int* taken) {
  if (!is_open()) return HCA_NEXT(sigwait)(wanted, taken);
  int which;
  do which = sigwaitinfo(wanted, nullptr);
  while (which < 0 && errno == EINTR);
  return which < 0 ? errno : (*taken = which, 0);
}
