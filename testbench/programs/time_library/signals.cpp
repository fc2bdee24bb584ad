// SPDX-License-Identifier: Apache-2.0
// SIGSEGV reports a trapped time stamp counter: it cannot be blocked, and the program's own handler
// is called after ours.
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
namespace {
struct sigaction g_of_program;  // for SIGSEGV
void (*g_ours)(int, siginfo_t*, void*) = nullptr;

int set_really(int signal, const struct sigaction* action, struct sigaction* before) {
  // The structure of this name hides the function.
  using Function = int(int, const struct sigaction*, struct sigaction*);
  static constinit std::atomic<void*> found{nullptr};
  return attach::next<Function>(found, "sigaction")(signal, action, before);
}
int mask_really(int how, const sigset_t* set, sigset_t* before) {
  return HCA_NEXT(pthread_sigmask)(how, set, before);
}

// A handler that the program wants on a stack of its own gets it.
int install() {
  struct sigaction action {};
  action.sa_sigaction = g_ours;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | (g_of_program.sa_flags & SA_ONSTACK);
  return set_really(SIGSEGV, &action, nullptr);
}

// While the program's handler runs faults would be blocked. Instead a signal of the C library's own
// is, which no program can block by itself: what saves and restores masks goes for that as well.
constexpr int kHandles = 33;
constexpr u64 bit_of(int signal) { return u64{1} << (signal - 1); }
void mark_handling(int how) {
  const u64 set = bit_of(kHandles);
  attach::kernel_call(SYS_rt_sigprocmask, how, &set, nullptr, sizeof set);
}
bool was_handling(const void* context) {
  u64 blocked;
  std::memcpy(&blocked, &static_cast<const ucontext_t*>(context)->uc_sigmask, sizeof blocked);
  return blocked & bit_of(kHandles);
}

bool is_sent(const siginfo_t& info) { return info.si_code <= 0; }

std::atomic<u64> g_handled{0};
void note_handler(int signal, sighandler_t handler) {
  if (signal < 1 || signal >= NSIG) return;
  if (handler == SIG_DFL || handler == SIG_IGN)
    g_handled &= ~bit_of(signal);
  else
    g_handled |= bit_of(signal);
}

// Takes the kernel's action without a handler: the fault is repeated, or the signal is sent again.
void end_by(const siginfo_t& info) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  set_really(SIGSEGV, &plain, nullptr);
  if (is_sent(info)) attach::kernel_call(SYS_tgkill, getpid(), gettid(), SIGSEGV);
}
}  // namespace

u64 handled_signals() { return g_handled.load(std::memory_order_relaxed); }

sigset_t without_faults(const sigset_t& wanted) {
  sigset_t set = wanted;
  sigdelset(&set, SIGSEGV);
  sigdelset(&set, attach::kExamine);
  return set;
}

void take_faults(void (*handler)(int, siginfo_t*, void*)) {
  if (!std::exchange(g_ours, handler)) set_really(SIGSEGV, nullptr, &g_of_program);
  install();
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  mask_really(SIG_UNBLOCK, &faults, nullptr);
}

void pass_fault_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction wanted = g_of_program;
  if (wanted.sa_handler == SIG_IGN && is_sent(*info)) return;
  if (wanted.sa_handler == SIG_DFL || wanted.sa_handler == SIG_IGN) return end_by(*info);
  if (was_handling(context) && !is_sent(*info)) return end_by(*info);
  if (wanted.sa_flags & SA_RESETHAND) g_of_program.sa_handler = SIG_DFL;
  const sigset_t set = without_faults(wanted.sa_mask);
  mask_really(SIG_BLOCK, &set, nullptr);  // until the handler returns
  if (!(wanted.sa_flags & SA_NODEFER)) mark_handling(SIG_BLOCK);
  if (wanted.sa_flags & SA_SIGINFO)
    wanted.sa_sigaction(signal, info, context);
  else
    wanted.sa_handler(signal);
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

u64 hca_time_handled_signals() { return handled_signals(); }

HCA_INSTEAD int sigaction(int signal, const struct sigaction* action,
                          struct sigaction* before) noexcept {
  struct sigaction wanted {};
  if (action) {
    wanted = *action;
    wanted.sa_mask = without_faults(action->sa_mask);
  }
  if (signal != SIGSEGV || !g_ours) {
    const int error = set_really(signal, action ? &wanted : nullptr, before);
    if (!error && action) note_handler(signal, action->sa_handler);
    return error;
  }
  if (before) *before = g_of_program;
  if (action) g_of_program = wanted;
  return action ? install() : 0;
}
HCA_INSTEAD sighandler_t signal(int signal, sighandler_t handler) noexcept {
  if (signal != SIGSEGV || !g_ours) {
    note_handler(signal, handler);
    return HCA_NEXT(signal)(signal, handler);
  }
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(signal, &action, &before) ? SIG_ERR : before.sa_handler;
}
HCA_INSTEAD int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  if (!set) return mask_really(how, set, before);
  if (how == SIG_UNBLOCK) {
    const int error = mask_really(how, set, before);
    if (sigismember(set, SIGSEGV) == 1) mark_handling(SIG_UNBLOCK);
    return error;
  }
  const sigset_t wanted = without_faults(*set);
  return mask_really(how, &wanted, before);
}
HCA_INSTEAD int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  const int error = pthread_sigmask(how, set, before);
  return error ? (errno = error, -1) : 0;
}

// ---- Older names
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
namespace {
bool is_kept(int signal) { return signal == SIGSEGV && g_ours; }
int set_simply(sighandler_t handler, int flags, struct sigaction* before) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return sigaction(SIGSEGV, &action, before);
}
int without_faults(int mask) { return mask & ~int(bit_of(SIGSEGV) | bit_of(attach::kExamine)); }
}  // namespace
// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
extern "C" sighandler_t bsd_signal(int, sighandler_t) noexcept;
HCA_INSTEAD sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  note_handler(signal, handler);
  if (!is_kept(signal)) return HCA_NEXT(__sysv_signal)(signal, handler);
  struct sigaction before {};
  const bool fails = set_simply(handler, int(SA_RESETHAND) | SA_NODEFER, &before) != 0;
  return fails ? SIG_ERR : before.sa_handler;
}
// NOLINTEND(bugprone-reserved-identifier)
HCA_INSTEAD sighandler_t sysv_signal(int which, sighandler_t handler) noexcept {
  return __sysv_signal(which, handler);
}
HCA_INSTEAD sighandler_t bsd_signal(int which, sighandler_t handler) noexcept {
  return signal(which, handler);
}
HCA_INSTEAD sighandler_t ssignal(int which, sighandler_t handler) noexcept {
  return signal(which, handler);
}
HCA_INSTEAD sighandler_t sigset(int which, sighandler_t handler) noexcept {
  if (handler != SIG_HOLD) note_handler(which, handler);
  if (!is_kept(which)) return HCA_NEXT(sigset)(which, handler);
  struct sigaction before {};
  const bool holds = handler == SIG_HOLD;  // it is not blocked for that
  if (holds ? sigaction(which, nullptr, &before) : set_simply(handler, 0, &before)) return SIG_ERR;
  return before.sa_handler;
}
HCA_INSTEAD int sighold(int which) noexcept {
  return is_kept(which) ? 0 : HCA_NEXT(sighold)(which);
}
HCA_INSTEAD int sigignore(int which) noexcept {
  note_handler(which, SIG_IGN);
  return is_kept(which) ? set_simply(SIG_IGN, 0, nullptr) : HCA_NEXT(sigignore)(which);
}
HCA_INSTEAD int siginterrupt(int which, int interrupts) noexcept {
  if (!is_kept(which)) return HCA_NEXT(siginterrupt)(which, interrupts);
  struct sigaction action {};
  sigaction(which, nullptr, &action);
  action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return sigaction(which, &action, nullptr);
}
HCA_INSTEAD int sigblock(int mask) noexcept { return HCA_NEXT(sigblock)(without_faults(mask)); }
HCA_INSTEAD int sigsetmask(int mask) noexcept { return HCA_NEXT(sigsetmask)(without_faults(mask)); }
HCA_INSTEAD int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* mask) {
  if (!mask) return HCA_NEXT(pthread_attr_setsigmask_np)(attributes, mask);
  const sigset_t wanted = without_faults(*mask);
  return HCA_NEXT(pthread_attr_setsigmask_np)(attributes, &wanted);
}
