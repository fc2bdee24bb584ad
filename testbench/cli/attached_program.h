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

// Runs it: signals that are sent to this process go to the program, and it ends with this process.
// After `seconds` (0: never) it gets SIGTERM, 5 s later SIGKILL, with all that it has started.
// Its exit code, or kTimedOut; a signal that ends the program
// ends this process as well, after `ended`, which gives 0 or the exit code in place of that. Throws
// std::runtime_error: it cannot be started.
int run_program(const std::vector<std::string>& command, double seconds,
                const std::function<int()>& ended);
}  // namespace hca::cli
