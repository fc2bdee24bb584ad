// SPDX-License-Identifier: Apache-2.0
// A program that `hca run --attach` starts and waits for.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace hca::cli {
// Exit codes as those of timeout(1) and of shells.
inline constexpr int kTimedOut = 124, kNotStrict = 125, kBySignal = 128;

// What keeps the libraries out of a program, or "": it can load them. The file is looked for in
// PATH, and of a script its interpreter is looked at.
std::string why_without_libraries(const std::string& program);

struct RunOptions {
  double seconds = 0;  // after which it gets SIGTERM, with all that it has started; 0: never
  bool keeps_addresses = false;  // without address space randomization, if the kernel lets it
};

// Runs it: signals that are sent to this process go to the program, and it ends with this process.
// 5 s after SIGTERM it gets SIGKILL. Its exit code, or kTimedOut; a signal that ends the program
// ends this process as well, after `ended`, which is given the status of waitpid() (0: it was ended
// by its time limit) and gives 0 or the exit code in place of that. Throws std::runtime_error: it
// cannot be started.
int run_program(const std::vector<std::string>& command, const RunOptions& options,
                const std::function<int(int)>& ended);
}  // namespace hca::cli
