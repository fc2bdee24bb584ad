// SPDX-License-Identifier: Apache-2.0
// Other programs are started with a time stamp counter: their first instructions read it.
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "testbench/time_library/library.h"

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
}  // namespace
}  // namespace hca::time_library

using namespace hca::time_library;

// Of a child that is named: others take their turns meanwhile.
HCA_INSTEAD pid_t waitpid(pid_t child, int* status, int options) {
  if (is_open() && child > 0 && !(options & (WNOHANG | WUNTRACED | WCONTINUED))) {
    pollfd end{int(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
    while (end.fd >= 0 && await(&end, 1, hca::attach::kForEver) < 0 && errno == EINTR)
      if (!calls_go_on()) return HCA_NEXT(close)(end.fd), errno = EINTR, -1;
    if (end.fd >= 0) HCA_NEXT(close)(end.fd);
  }
  return HCA_NEXT(waitpid)(child, status, options);
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
  return untrapped([&] { return HCA_NEXT(execve)(path, arguments, environment); });
}
HCA_INSTEAD int execv(const char* path, char* const* arguments) noexcept {
  return untrapped([&] { return HCA_NEXT(execv)(path, arguments); });
}
HCA_INSTEAD int execvp(const char* file, char* const* arguments) noexcept {
  return untrapped([&] { return HCA_NEXT(execvp)(file, arguments); });
}
HCA_INSTEAD int execvpe(const char* file, char* const* arguments,
                        char* const* environment) noexcept {
  return untrapped([&] { return HCA_NEXT(execvpe)(file, arguments, environment); });
}
HCA_INSTEAD int fexecve(int fd, char* const* arguments, char* const* environment) noexcept {
  return untrapped([&] { return HCA_NEXT(fexecve)(fd, arguments, environment); });
}
