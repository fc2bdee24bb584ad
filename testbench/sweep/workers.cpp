// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/workers.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <stdexcept>

namespace hca::testbench {
namespace {
volatile std::sig_atomic_t g_stop = 0;

// Without SA_RESTART: waitpid() returns.
class StopOnSignal {
 public:
  StopOnSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) { g_stop = 1; };
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopOnSignal() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM};
  std::array<struct sigaction, kSignals.size()> before_{};
};

constexpr int kNotStarted = 127;

pid_t start(const Job& job) {
  std::vector<char*> arguments = arguments_of(job.command);
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) throw std::runtime_error("fork: no process can be started");
  if (pid) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotStarted);
  const int log = open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) _exit(kNotStarted);
  execv(arguments[0], arguments.data());
  _exit(kNotStarted);
}
}  // namespace

std::vector<char*> arguments_of(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return arguments;
}

bool run_jobs(const std::function<const Job*()>& next, unsigned at_most, const JobEnded& ended) {
  const StopOnSignal signals;
  std::map<pid_t, const Job*> running;
  bool more = true;
  while (!g_stop && (more || !running.empty())) {
    while (more && running.size() < at_most) {
      const Job* job = next();
      if (!job) {
        more = false;
        break;
      }
      running[start(*job)] = job;
    }
    if (running.empty()) break;
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno != EINTR) throw std::runtime_error("waitpid: a process is lost");
    if (const auto at = running.find(pid); at != running.end()) {
      const Job* job = at->second;
      running.erase(at);
      if (!g_stop) ended(*job, status);
    }
  }
  for (const auto& [pid, job] : running) kill(pid, SIGKILL);
  for (const auto& [pid, job] : running) waitpid(pid, nullptr, 0);
  return !g_stop;
}

int run_command(const std::vector<std::string>& command) {
  std::vector<char*> arguments = arguments_of(command);
  pid_t pid = 0;
  int status = 0;
  if (posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) ||
      waitpid(pid, &status, 0) != pid)
    return kNotStarted;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
}  // namespace hca::testbench
