// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "model/proto/types.h"
#include "testbench/programs/server/kernel_call.h"

namespace hca::attach {
// During its lifetime no handler runs in the calling thread: signals stay pending, except faults
// and the C library's own.
class HeldSignals {
 public:
  // `held`: a bit for each signal, from 1 on.
  explicit HeldSignals(u64 held = ~u64{0}) {
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, kCancel, kSetUser})
      held &= ~(u64{1} << (signal - 1));
    kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before_, sizeof held);
  }
  ~HeldSignals() {
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  // The signals that the thread blocked before.
  sigset_t before() const {
    sigset_t set;
    sigemptyset(&set);
    std::memcpy(&set, &before_, sizeof before_);
    return set;
  }

 private:
  static constexpr int kCancel = 32, kSetUser = 33;
  u64 before_ = 0;
};
}  // namespace hca::attach
