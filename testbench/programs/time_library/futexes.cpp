// SPDX-License-Identifier: Apache-2.0
// Locks that call the kernel by themselves, those of C++ libraries say: a thread that waits for a
// word of memory gives its turn up, and goes on when another wakes it.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <climits>

#include "testbench/programs/server/interposed.h"
#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/system_calls.h"
#include "testbench/programs/time_library/wait_list.h"

namespace hca::time_library {
namespace {
constinit attach::Kept<WaitList> g_waiters;
WaitList& waiters() { return g_waiters.value; }

struct Call {
  explicit Call(const CallArguments& a)
      : word(reinterpret_cast<u32*>(a[0])),
        operation(int(a[1])),
        value(u32(a[2])),
        fourth(a[3]),
        other(reinterpret_cast<u32*>(a[4])),
        last(u32(a[5])) {}
  u32 now() const { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
  bool is_shared() const { return !(operation & FUTEX_PRIVATE_FLAG); }
  u32 number() const { return u32(fourth); }  // where it is no time

  u32* word;
  int operation;
  u32 value;
  long fourth;
  u32* other;
  u32 last;
};

u64 end_of_wait(const Call& call, bool is_absolute) {
  const auto* const time = reinterpret_cast<const timespec*>(call.fourth);
  if (!time) return attach::kForEver;
  if (!is_absolute) return end_after(time);
  return end_at(call.operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, *time);
}

// A word that has changed ends it as well: another program, or the kernel, may have woken it.
long wait(const Call& call, u32 bits, bool is_absolute) {
  const auto* const time = reinterpret_cast<const timespec*>(call.fourth);
  if (!bits || (time && !is_time(*time))) {
    errno = EINVAL;
    return -1;
  }
  WaitList::Waiter mine{call.word, bits};
  const std::function<bool()> may_go_on = [&] {
    return waiters().is_woken(mine) || call.now() != call.value;
  };
  const WaitList::Entry entry(waiters(), mine);
  const bool differs = call.now() != call.value;
  const bool goes_on =
      !differs && wait_until(may_go_on, end_of_wait(call, is_absolute),
                             call.is_shared() ? may_go_on : std::function<bool()>());
  if (differs) {
    errno = EAGAIN;
    return -1;
  }
  return goes_on ? 0 : (errno = is_open() ? ETIMEDOUT : EINTR, -1);
}

// Wakes kernel waiters, too: they came before simulated time began, or belong to another program.
long wake(const Call& call, u32 bits) {
  const u32 most = std::min(call.value, u32{INT_MAX});
  const u32 woken = waiters().wake(call.word, most, bits);
  if (woken || call.is_shared()) tell_waiting(call.is_shared());
  const long really = woken < most
                          ? attach::ask_kernel(SYS_futex, attach::word_of(call.word),
                                               call.operation, long(most - woken), 0, 0, long(bits))
                          : 0;
  return long(woken) + std::max(really, 0L);
}

long requeue(const Call& call, const CallArguments& arguments) {
  const bool compares = (call.operation & FUTEX_CMD_MASK) == FUTEX_CMP_REQUEUE;
  if (compares && call.now() != call.last) {
    errno = EAGAIN;
    return -1;
  }
  const u32 woken = waiters().wake(call.word, call.value);
  const u32 moved = waiters().move(call.word, call.other, call.number());
  if (woken) tell_waiting(call.is_shared());
  const long really =
      attach::ask_kernel(SYS_futex, arguments[0], arguments[1], long(call.value - woken),
                         long(call.number() - moved), arguments[4], arguments[5]);
  return long(woken + moved) + std::max(really, 0L);
}

// Waiters of the other word look again by themselves.
long wake_after_change(const Call& call, const CallArguments& arguments) {
  const long really = attach::ask_kernel(SYS_futex, arguments[0], arguments[1], arguments[2],
                                         arguments[3], arguments[4], arguments[5]);
  if (really < 0) return attach::returned(really);
  const u32 woken =
      waiters().wake(call.word, call.value) + waiters().wake(call.other, call.number());
  if (woken) tell_waiting(call.is_shared());
  return really + long(woken);
}
}  // namespace

void forget_futexes() { waiters().forget(); }

long timed_futex(const CallArguments& arguments) {
  const Call call(arguments);
  switch (call.operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      return wait(call, FUTEX_BITSET_MATCH_ANY, false);
    case FUTEX_WAIT_BITSET:
      return wait(call, call.last, true);
    case FUTEX_WAKE:
      return wake(call, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
      return wake(call, call.last);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
      return requeue(call, arguments);
    case FUTEX_WAKE_OP:
      return wake_after_change(call, arguments);
    default:  // locks that inherit priorities: the kernel's own
      return attach::returned(attach::ask_kernel(SYS_futex, arguments[0], arguments[1],
                                                 arguments[2], arguments[3], arguments[4],
                                                 arguments[5]));
  }
}
}  // namespace hca::time_library
