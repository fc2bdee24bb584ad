// SPDX-License-Identifier: Apache-2.0
// SIGSEGV is what tells of a trapped time stamp counter: it cannot be blocked, and the program's
// own handler comes behind ours.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "testbench/time_library/library.h"

namespace hca::time_library {
namespace {
struct sigaction g_of_program;  // for SIGSEGV
void (*g_ours)(int, siginfo_t*, void*) = nullptr;

int set_really(int signal, const struct sigaction* action, struct sigaction* before) {
  static auto* const real = next<decltype(::sigaction)>("sigaction");
  return real(signal, action, before);
}
int mask_really(int how, const sigset_t* set, sigset_t* before) {
  static auto* const real = next<decltype(::pthread_sigmask)>("pthread_sigmask");
  return real(how, set, before);
}

// A handler that the program wants on a stack of its own gets it.
int install() {
  struct sigaction action {};
  action.sa_sigaction = g_ours;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | (g_of_program.sa_flags & SA_ONSTACK);
  return set_really(SIGSEGV, &action, nullptr);
}
bool is_sent(const siginfo_t& info) { return info.si_code <= 0; }

// What the kernel does without a handler: the fault comes again, or it is sent again.
void end_by(const siginfo_t& info) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  set_really(SIGSEGV, &plain, nullptr);
  if (is_sent(info)) syscall(SYS_tgkill, getpid(), gettid(), SIGSEGV);
}
}  // namespace

sigset_t without_faults(const sigset_t& wanted) {
  sigset_t set = wanted;
  sigdelset(&set, SIGSEGV);
  return set;
}

void take_faults(void (*handler)(int, siginfo_t*, void*)) {
  if (!std::exchange(g_ours, handler)) set_really(SIGSEGV, nullptr, &g_of_program);
  install();
  sigset_t faults;
  sigemptyset(&faults), sigaddset(&faults, SIGSEGV);
  mask_really(SIG_UNBLOCK, &faults, nullptr);
}

void pass_fault_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction wanted = g_of_program;
  if (wanted.sa_handler == SIG_IGN && is_sent(*info)) return;
  if (wanted.sa_handler == SIG_DFL || wanted.sa_handler == SIG_IGN) return end_by(*info);
  if (wanted.sa_flags & SA_RESETHAND) g_of_program.sa_handler = SIG_DFL;
  const sigset_t set = without_faults(wanted.sa_mask);
  mask_really(SIG_BLOCK, &set, nullptr);  // until the handler returns
  if (wanted.sa_flags & SA_SIGINFO)
    wanted.sa_sigaction(signal, info, context);
  else
    wanted.sa_handler(signal);
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

HCA_INSTEAD int sigaction(int signal, const struct sigaction* action,
                          struct sigaction* before) noexcept {
  struct sigaction wanted {};
  if (action) {
    wanted = *action;
    wanted.sa_mask = without_faults(action->sa_mask);
  }
  if (signal != SIGSEGV || !g_ours) return set_really(signal, action ? &wanted : nullptr, before);
  if (before) *before = g_of_program;
  if (action) g_of_program = wanted;
  return action ? install() : 0;
}
HCA_INSTEAD sighandler_t signal(int signal, sighandler_t handler) noexcept {
  if (signal != SIGSEGV || !g_ours) return HCA_NEXT(signal)(signal, handler);
  struct sigaction action {
  }, before{};
  action.sa_handler = handler, action.sa_flags = SA_RESTART;
  return sigaction(signal, &action, &before) ? SIG_ERR : before.sa_handler;
}
HCA_INSTEAD int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (!set || how == SIG_UNBLOCK) return mask_really(how, set, before);
  const sigset_t wanted = without_faults(*set);
  return mask_really(how, &wanted, before);
}
HCA_INSTEAD int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int error = pthread_sigmask(how, set, before);
  return error ? (errno = error, -1) : 0;
}
