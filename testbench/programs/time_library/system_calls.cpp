// SPDX-License-Identifier: Apache-2.0
// syscall(), and which system calls are what a function of this library is.
#include "testbench/programs/time_library/system_calls.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <utility>

#include "testbench/programs/server/interposed.h"
#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"

namespace hca::time_library {
namespace {
template <class To>
To argument_as(long value) {
  if constexpr (std::is_pointer_v<To>)
    return reinterpret_cast<To>(value);
  else
    return static_cast<To>(value);
}
// As the function with the same arguments.
template <class Result, class... To, std::size_t... I>
long pass(Result (*function)(To...), const CallArguments& a, std::index_sequence<I...>) {
  return long(function(argument_as<To>(a[I])...));
}
template <class Result, class... To>
long pass(Result (*function)(To...), const CallArguments& a) {
  return pass(function, a, std::index_sequence_for<To...>());
}
template <auto Function>
long same(const CallArguments& a) {
  return pass(Function, a);
}

// It returns its error.
long clock_nanosleep_by_number(const CallArguments& a) {
  const int error = clock_nanosleep(clockid_t(a[0]), int(a[1]), argument_as<const timespec*>(a[2]),
                                    argument_as<timespec*>(a[3]));
  return error ? (errno = error, -1) : 0;
}
// The mask is passed by a pointer, with its size.
long pselect_by_number(const CallArguments& a) {
  struct Mask {
    const sigset_t* set;
    std::size_t bytes;
  };
  const auto* const mask = argument_as<const Mask*>(a[5]);
  return pselect(int(a[0]), argument_as<fd_set*>(a[1]), argument_as<fd_set*>(a[2]),
                 argument_as<fd_set*>(a[3]), argument_as<const timespec*>(a[4]),
                 mask ? mask->set : nullptr);
}
long gettimeofday_by_number(const CallArguments& a) {
  return gettimeofday(argument_as<timeval*>(a[0]), argument_as<void*>(a[1]));
}

struct CallRow {
  long number;
  long (*call)(const CallArguments&);
};
constexpr std::array kCalls{CallRow{SYS_read, same<&read>},
                            CallRow{SYS_write, same<&write>},
                            CallRow{SYS_close, same<&close>},
                            CallRow{SYS_poll, same<&poll>},
                            CallRow{SYS_readv, same<&readv>},
                            CallRow{SYS_writev, same<&writev>},
                            CallRow{SYS_select, same<&select>},
                            CallRow{SYS_sched_yield, same<&sched_yield>},
                            CallRow{SYS_pause, same<&pause>},
                            CallRow{SYS_nanosleep, same<&nanosleep>},
                            CallRow{SYS_getitimer, same<&getitimer>},
                            CallRow{SYS_alarm, same<&alarm>},
                            CallRow{SYS_setitimer, same<&setitimer>},
                            CallRow{SYS_connect, same<&connect>},
                            CallRow{SYS_accept, same<&accept>},
                            CallRow{SYS_sendto, same<&sendto>},
                            CallRow{SYS_recvfrom, same<&recvfrom>},
                            CallRow{SYS_sendmsg, same<&sendmsg>},
                            CallRow{SYS_recvmsg, same<&recvmsg>},
                            CallRow{SYS_shutdown, same<&shutdown>},
                            CallRow{SYS_wait4, same<&wait4>},
                            CallRow{SYS_kill, same<&kill>},
                            CallRow{SYS_gettimeofday, gettimeofday_by_number},
                            CallRow{SYS_times, same<&times>},
                            CallRow{SYS_time, same<&time>},
                            CallRow{SYS_futex, timed_futex},
                            CallRow{SYS_clock_gettime, same<&clock_gettime>},
                            CallRow{SYS_clock_nanosleep, clock_nanosleep_by_number},
                            CallRow{SYS_epoll_wait, same<&epoll_wait>},
                            CallRow{SYS_pselect6, pselect_by_number},
                            CallRow{SYS_ppoll, same<&ppoll>},
                            CallRow{SYS_epoll_pwait, same<&epoll_pwait>},
                            CallRow{SYS_timerfd_create, same<&timerfd_create>},
                            CallRow{SYS_timerfd_settime, same<&timerfd_settime>},
                            CallRow{SYS_timerfd_gettime, same<&timerfd_gettime>},
                            CallRow{SYS_accept4, same<&accept4>},
                            CallRow{SYS_epoll_pwait2, same<&epoll_pwait2>}};
static_assert(std::ranges::is_sorted(kCalls, {}, &CallRow::number));

const CallRow* row_of(long number) {
  const auto found = std::ranges::lower_bound(kCalls, number, {}, &CallRow::number);
  return found != kCalls.end() && found->number == number ? &*found : nullptr;
}
}  // namespace

bool is_timed(long number) { return row_of(number); }
long timed_call(long number, const CallArguments& arguments) {
  return row_of(number)->call(arguments);
}
}  // namespace hca::time_library

using namespace hca::time_library;

HCA_INSTEAD long syscall(long number, ...) noexcept {
  CallArguments arguments;
  std::va_list rest;
  va_start(rest, number);
  for (long& argument : arguments) argument = va_arg(rest, long);
  va_end(rest);
  if (is_open() && is_timed(number)) return timed_call(number, arguments);
  return hca::attach::returned(hca::attach::ask_kernel(
      number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]));
}
