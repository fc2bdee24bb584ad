// SPDX-License-Identifier: Apache-2.0
// Starts a program for `hca run --attach` and waits for it.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace hca::cli {
// Exit codes as in timeout(1) and shells.
inline constexpr int kTimedOut = 124, kNotStrict = 125, kBySignal = 128;

// The reason why a program cannot load the libraries; "": it can. The file is searched in PATH; for
// a script its interpreter is checked.
std::string why_without_libraries(const std::string& program);

struct RunOptions {
  double seconds = 0;            // time limit: it then gets SIGTERM, with all its children; 0: none
  bool keeps_addresses = false;  // disables address space randomization, if the kernel permits
};

// Runs a program. Signals sent to this process are forwarded, and the program ends with this
// process. 5 s after SIGTERM it gets SIGKILL. Returns its exit code, or kTimedOut. If a signal ends
// the program, it also ends this process, after a call of `ended` with the status of waitpid() (0:
// the time limit ended it), which returns 0 or a replacement for the exit code. Throws
// std::runtime_error if the program cannot be started.
int run_program(const std::vector<std::string>& command, const RunOptions& options,
                const std::function<int(int)>& ended);
}  // namespace hca::cli
