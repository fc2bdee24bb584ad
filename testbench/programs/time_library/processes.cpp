// SPDX-License-Identifier: Apache-2.0
// Other programs are started with a time stamp counter: their first instructions read it.
#include <dirent.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/spin.h"

namespace hca::time_library {
namespace {
template <class Call>
auto untrapped(Call call) {
  if (!is_open()) return call();
  settle();
  trap_time_stamps(false);
  const auto result = call();
  const int error = errno;
  trap_time_stamps(true);
  errno = error;
  return result;
}

// The same for a call that makes another program of this one, which does not know the server's
// question and would end by its signal.
template <class Call>
auto becoming(Call call) {
  if (!is_open()) return call();
  return untrapped([&] {
    ignore_examination();
    const auto result = call();
    const int error = errno;
    set_up_examination();
    errno = error;
    return result;
  });
}

// Descriptors that become ready when a child ends: of one, or of all (-1) of each thread. Empty:
// the system does not offer them.
std::vector<pollfd> ends_of(pid_t which) {
  std::vector<pollfd> ends;
  const auto add = [&](pid_t child) {
    const int end = int(attach::kernel_call(SYS_pidfd_open, child, 0));
    if (end >= 0) ends.push_back({end, POLLIN, 0});
  };
  if (which > 0) {
    add(which);
    return ends;
  }
  DIR* const threads = opendir("/proc/self/task");
  if (!threads) return ends;
  while (const dirent* thread = readdir(threads)) {
    const std::string path = std::string("/proc/self/task/") + thread->d_name + "/children";
    std::FILE* const children = std::fopen(path.c_str(), "re");
    if (!children) continue;
    for (pid_t child; std::fscanf(children, "%d", &child) == 1;) add(child);
    std::fclose(children);
  }
  closedir(threads);
  return ends;
}

// A call that waits until one child, or any (-1), has ended: others take their turns meanwhile.
// `call` adds to its options; it gives what the call does, 0: none has ended.
template <class Call>
pid_t waiting(pid_t which, int options, Call call) {
  const bool of_end = (which > 0 || which == -1) && !(options & (WNOHANG | WSTOPPED | WCONTINUED));
  if (!is_open() || !of_end) return call(0);
  while (true) {
    const pid_t ended = call(WNOHANG);
    if (ended) return ended;
    std::vector<pollfd> ends = ends_of(which);
    if (ends.empty()) return call(0);
    bool goes_on = true;
    while (goes_on && await(ends.data(), ends.size(), attach::kForEver) < 0 && errno == EINTR)
      goes_on = calls_go_on();
    for (const pollfd& end : ends) HCA_NEXT(close)(end.fd);
    if (!goes_on) {
      errno = EINTR;
      return -1;
    }
  }
}
}  // namespace
}  // namespace hca::time_library

using namespace hca::time_library;

HCA_INSTEAD pid_t waitpid(pid_t child, int* status, int options) {
  return waiting(child, options,
                 [&](int more) { return HCA_NEXT(waitpid)(child, status, options | more); });
}
HCA_INSTEAD pid_t wait(int* status) { return waitpid(-1, status, 0); }
HCA_INSTEAD pid_t wait4(pid_t child, int* status, int options, rusage* usage) noexcept {
  return waiting(child, options,
                 [&](int more) { return HCA_NEXT(wait4)(child, status, options | more, usage); });
}
HCA_INSTEAD pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return wait4(-1, status, options, usage);
}
HCA_INSTEAD int waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  const pid_t which = !(options & WEXITED) ? 0 : kind == P_PID ? pid_t(id) : kind == P_ALL ? -1 : 0;
  siginfo_t own{};
  siginfo_t& told = info ? *info : own;
  const pid_t child = waiting(which, options, [&](int more) {
    told.si_pid = 0;
    const int error = HCA_NEXT(waitid)(kind, id, &told, options | more);
    return error ? error : told.si_pid;
  });
  return child < 0 ? -1 : 0;
}

HCA_INSTEAD int system(const char* command) {
  return untrapped([&] { return HCA_NEXT(system)(command); });
}
HCA_INSTEAD FILE* popen(const char* command, const char* mode) {
  return untrapped([&] { return HCA_NEXT(popen)(command, mode); });
}
HCA_INSTEAD int posix_spawn(pid_t* child, const char* path,
                            const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const* arguments,
                            char* const* environment) {
  return untrapped([&] {
    return HCA_NEXT(posix_spawn)(child, path, actions, attributes, arguments, environment);
  });
}
HCA_INSTEAD int posix_spawnp(pid_t* child, const char* file,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const* arguments,
                             char* const* environment) {
  return untrapped([&] {
    return HCA_NEXT(posix_spawnp)(child, file, actions, attributes, arguments, environment);
  });
}
HCA_INSTEAD int execve(const char* path, char* const* arguments,
                       char* const* environment) noexcept {
  return becoming([&] { return HCA_NEXT(execve)(path, arguments, environment); });
}
HCA_INSTEAD int execv(const char* path, char* const* arguments) noexcept {
  return becoming([&] { return HCA_NEXT(execv)(path, arguments); });
}
HCA_INSTEAD int execvp(const char* file, char* const* arguments) noexcept {
  return becoming([&] { return HCA_NEXT(execvp)(file, arguments); });
}
HCA_INSTEAD int execvpe(const char* file, char* const* arguments,
                        char* const* environment) noexcept {
  return becoming([&] { return HCA_NEXT(execvpe)(file, arguments, environment); });
}
HCA_INSTEAD int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  return becoming([&] { return HCA_NEXT(fexecve)(fd, arguments, environment); });
}

// The variants with a list of arguments: the C library calls none of the above for them.
namespace {
constexpr std::size_t kMostArguments = 4096;
// On x86-64 the list is after them afterwards. False: there are more.
bool take(va_list list, const char* first, std::array<char*, kMostArguments>& all) {
  std::size_t count = 0;
  for (auto* next = const_cast<char*>(first); next; next = va_arg(list, char*)) {
    if (count + 1 == kMostArguments) return errno = E2BIG, false;
    all[count++] = next;
  }
  all[count] = nullptr;
  return true;
}
}  // namespace

HCA_INSTEAD int execl(const char* path, const char* first, ...) noexcept {
  std::array<char*, kMostArguments> all;
  va_list list;
  va_start(list, first);
  const int result = take(list, first, all) ? execv(path, all.data()) : -1;
  va_end(list);
  return result;
}
HCA_INSTEAD int execlp(const char* file, const char* first, ...) noexcept {
  std::array<char*, kMostArguments> all;
  va_list list;
  va_start(list, first);
  const int result = take(list, first, all) ? execvp(file, all.data()) : -1;
  va_end(list);
  return result;
}
HCA_INSTEAD int execle(const char* path, const char* first, ...) noexcept {
  std::array<char*, kMostArguments> all;
  va_list list;
  va_start(list, first);
  const bool taken = take(list, first, all);
  const int result = taken ? execve(path, all.data(), va_arg(list, char**)) : -1;
  va_end(list);
  return result;
}
