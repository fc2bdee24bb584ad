// SPDX-License-Identifier: Apache-2.0
// Processes, at most so many at a time.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace hca::testbench {
struct Job {
  std::size_t point;
  std::vector<std::string> command;  // the program and its arguments
  std::string log;                   // what it prints goes there
};
// Told when a job has ended, with its status as waitpid() gives it.
using JobEnded = std::function<void(const Job&, int status)>;

// Starts each when its turn comes, by `next`, until that gives nothing. Returns false when SIGINT
// or SIGTERM has come: the jobs that ran then were ended and not told of. A job dies with this
// process.
bool run_jobs(const std::function<const Job*()>& next, unsigned at_most, const JobEnded& ended);
// Runs a command with the terminal of this process; its exit code, or 128 and the signal.
int run_command(const std::vector<std::string>& command);
// The words of a command for execv().
std::vector<char*> arguments_of(const std::vector<std::string>& command);
}  // namespace hca::testbench
