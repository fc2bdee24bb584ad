// SPDX-License-Identifier: Apache-2.0
// Runs processes, a limited number at a time.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace hca::testbench {
struct Job {
  std::size_t point;
  std::vector<std::string> command;  // the program and its arguments
  std::string log;                   // file for its output
};
// Called when a job has ended, with its status from waitpid().
using JobEnded = std::function<void(const Job&, int status)>;

// Starts jobs from `next` until it returns nullptr. Returns false after SIGINT or SIGTERM: jobs
// running then were ended and not reported. A job dies with this process.
bool run_jobs(const std::function<const Job*()>& next, unsigned at_most, const JobEnded& ended);
// Runs a command on the terminal of this process; returns its exit code, or 128 plus the signal.
int run_command(const std::vector<std::string>& command);
// The words of a command for execv().
std::vector<char*> arguments_of(const std::vector<std::string>& command);
}  // namespace hca::testbench
