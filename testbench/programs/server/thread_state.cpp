// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/thread_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "testbench/programs/server/packet_socket.h"

namespace hca::attach {
namespace {
// The kernel's view of a thread: its state, and flags. None: the thread is gone.
struct ThreadState {
  char state = 0;
  unsigned flags = 0;
};
std::optional<ThreadState> state_of(int pid, u32 tid) {
  const Descriptor file(
      open(fmt::format("/proc/{}/task/{}/stat", pid, tid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return std::nullopt;
  const char* name_end = std::strrchr(text.data(), ')');
  ThreadState is;
  if (!name_end ||
      std::sscanf(name_end + 1, " %c %*d %*d %*d %*d %*d %u", &is.state, &is.flags) != 2)
    return std::nullopt;
  return is;
}
// Sleeping until a wake-up: not for a page or a lock of the kernel. In a program that has ended
// meanwhile, all do.
bool all_sleep(int pid) {
  std::error_code gone;
  std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", pid), gone), end;
  for (; !gone && task != end; task.increment(gone))
    if (const auto is = state_of(pid, u32(std::atoi(task->path().filename().c_str())));
        is && is->state != 'S')
      return false;
  return true;
}
bool waits_for_lock(int pid, u32 tid) {
  const Descriptor file(
      open(fmt::format("/proc/{}/task/{}/syscall", pid, tid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16> text{};
  return file && ::read(file.get(), text.data(), text.size() - 1) > 0 &&
         std::atoi(text.data()) == SYS_futex;
}
}  // namespace

// By the kernel: to read the time stamp counter may trap here.
u64 nanoseconds_of(clockid_t clock) {
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return u64(now.tv_sec) * 1'000'000'000 + u64(now.tv_nsec);
}
u64 cpu_time_of(int pid) {
  clockid_t clock;
  return clock_getcpuclockid(pid, &clock) ? 0 : nanoseconds_of(clock);
}
bool sleeps_in_kernel(int pid, u32 tid) {
  const auto is = state_of(pid, tid);
  // A zombie: its program is about to end, with its last thread.
  return !is || (is->state != 'R' && is->state != 'Z');
}
bool is_ending(int pid) {
  constexpr unsigned kExiting = 4;  // PF_EXITING of the kernel
  const auto is = state_of(pid, u32(pid));
  return !is || (is->flags & kExiting);
}
bool is_traced(int pid) {
  const Descriptor file(open(fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text{};
  if (!file || ::read(file.get(), text.data(), text.size() - 1) <= 0) return false;
  constexpr std::string_view kTracer = "TracerPid:";
  const char* const found = std::strstr(text.data(), kTracer.data());
  return found && std::atoi(found + kTracer.size()) != 0;
}
bool is_parked(int pid, u32 tid) { return waits_for_lock(pid, tid) && all_sleep(pid); }
}  // namespace hca::attach
