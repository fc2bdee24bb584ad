// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/whereabouts.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace hca::attach {
namespace {
// Calls in which programs wait.
struct CallRow {
  long number;
  std::string_view name;
};
constexpr std::array kCalls{
    CallRow{SYS_futex, "futex"},
    CallRow{SYS_read, "read"},
    CallRow{SYS_write, "write"},
    CallRow{SYS_readv, "readv"},
    CallRow{SYS_writev, "writev"},
    CallRow{SYS_recvfrom, "recvfrom"},
    CallRow{SYS_recvmsg, "recvmsg"},
    CallRow{SYS_sendto, "sendto"},
    CallRow{SYS_sendmsg, "sendmsg"},
    CallRow{SYS_accept4, "accept4"},
    CallRow{SYS_connect, "connect"},
    CallRow{SYS_ppoll, "ppoll"},
    CallRow{SYS_pselect6, "pselect6"},
    CallRow{SYS_epoll_pwait, "epoll_pwait"},
    CallRow{SYS_clock_nanosleep, "clock_nanosleep"},
    CallRow{SYS_wait4, "wait4"},
    CallRow{SYS_waitid, "waitid"},
    CallRow{SYS_fsync, "fsync"},
    CallRow{SYS_fcntl, "fcntl"},
    CallRow{SYS_flock, "flock"},
    CallRow{SYS_rt_sigtimedwait, "rt_sigtimedwait"},
    CallRow{SYS_io_uring_enter, "io_uring_enter"},
#ifdef SYS_poll
    CallRow{SYS_poll, "poll"},
    CallRow{SYS_select, "select"},
    CallRow{SYS_epoll_wait, "epoll_wait"},
    CallRow{SYS_pause, "pause"},
#endif
};

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The call that the thread is in, and the instruction after it.
std::string call_of(const std::string& task, u64& instruction) {
  const std::string line = first_line(task + "/syscall");
  long number = -1;
  if (std::sscanf(line.c_str(), "%ld", &number) != 1 || number < 0) return "";
  if (const auto last = line.rfind(' '); last != line.npos)
    std::sscanf(line.c_str() + last, " %" SCNx64, &instruction);
  const auto row = std::ranges::find(kCalls, number, &CallRow::number);
  return row == kCalls.end() ? fmt::format("system call {}", number)
                             : fmt::format("{}()", row->name);
}

// "libfoo.so.1+0x1234"
std::string place_of(int pid, u64 instruction) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(maps, line);) {
    u64 from = 0, to = 0, offset = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &from, &to,
                    &offset, &path) != 3 ||
        instruction < from || instruction >= to)
      continue;
    const std::string file = path ? line.substr(std::size_t(path)) : "";
    if (file.empty()) break;
    return fmt::format("{}+{:#x}", file.substr(file.rfind('/') + 1), instruction - from + offset);
  }
  return fmt::format("{:#x}", instruction);
}
}  // namespace

std::string whereabouts(int pid, u32 tid, u64 instruction) {
  const std::string task = fmt::format("/proc/{}/task/{}", pid, tid);
  const std::string call = instruction ? "" : call_of(task, instruction);
  const std::string place = instruction ? place_of(pid, instruction) : "";
  return fmt::format("thread {} ({}) of process {}{}{}{}{}", tid, first_line(task + "/comm"), pid,
                     call.empty() ? "" : " in ", call, place.empty() ? "" : " at ", place);
}
}  // namespace hca::attach
