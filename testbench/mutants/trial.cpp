// SPDX-License-Identifier: Apache-2.0
#include "testbench/mutants/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "testbench/mutants/mistake.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
namespace {
// ---- In the child
std::string run_one(const Vector& vector, const ReplayRunner& runner) try {
  const VectorResult result = run_vector(vector, runner);
  return result.passed() ? "passed"
                         : "failed: " + result.failure->where + ": " + result.failure->what;
} catch (const std::exception& error) {
  return std::string("failed: ") + error.what();
}

void write_line(int to, const std::string& text) {
  const std::string line = text + '\n';
  if (write(to, line.data(), line.size()) != ssize_t(line.size())) _exit(1);
}

// Processor time: a busy machine makes nothing hang.
void limit_time(unsigned milliseconds) {
  const itimerval timer{{0, 0}, {milliseconds / 1000, suseconds_t(milliseconds % 1000) * 1000}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

// A trial is a vector on a runner; they are numbered vector by vector.
std::size_t count_trials(const nlohmann::json& pair) {
  return pair.at("vectors").size() * trial_runners().size();
}

// From trial `first` on, one line each as soon as it is known: the last one may never come.
[[noreturn]] void run_child(const nlohmann::json& pair, std::size_t first, int to,
                            unsigned milliseconds) {
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  mutants::Mutant::choose(pair.at("mutant").get<std::string>());
  for (std::size_t trial = first; trial < count_trials(pair); ++trial) {
    const Vector vector =
        load_vector(pair.at("vectors")[trial / trial_runners().size()].get<std::string>());
    limit_time(milliseconds);
    mutants::Mutant::begin_run();
    const std::string result = run_one(vector, trial_runners()[trial % trial_runners().size()]);
    limit_time(0);
    write_line(
        to, nlohmann::json(result).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (result != "passed" && pair.contains("until_noticed")) break;
  }
  _exit(0);
}

// ---- In the parent
struct Trials {
  nlohmann::json pair;
  int from = -1;  // what the child writes
  std::vector<std::string> results{};
};

pid_t start_child(Trials& trials, unsigned milliseconds) {
  trials.from = memfd_create("results", MFD_CLOEXEC);
  const pid_t pid = trials.from < 0 ? -1 : fork();
  if (pid < 0) throw std::runtime_error("no more processes");
  if (!pid) run_child(trials.pair, trials.results.size(), trials.from, milliseconds);
  return pid;
}

bool is_over(const Trials& trials) {
  return trials.results.size() == count_trials(trials.pair) ||
         (trials.pair.contains("until_noticed") && !trials.results.empty() &&
          trials.results.back() != "passed");
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part;
  lseek(from, 0, SEEK_SET);
  for (ssize_t n; (n = read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), std::size_t(n));
  close(from);
  return text;
}

// Takes what a child wrote, and how it ended where something is missing: that is the result of the
// trial at hand.
void take_results(Trials& trials, int status) {
  const std::string text = read_all(trials.from);
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1)
    trials.results.push_back(nlohmann::json::parse(text.substr(at, end - at)).get<std::string>());
  if (!is_over(trials))
    trials.results.emplace_back(WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? "hung"
                                                                                   : "died");
}

nlohmann::json answer_of(Trials& trials) {
  nlohmann::json& results = trials.pair["results"] = nlohmann::json::object();
  for (std::size_t trial = 0; trial < trials.results.size(); ++trial)
    results[trials.pair.at("vectors")[trial / trial_runners().size()].get<std::string>()]
           [std::string(trial_runners()[trial % trial_runners().size()].name)] =
               trials.results[trial];
  return std::move(trials.pair);
}
}  // namespace

nlohmann::json try_mutants(const nlohmann::json& pairs, unsigned jobs, unsigned milliseconds) {
  nlohmann::json done = nlohmann::json::array();
  std::map<pid_t, Trials> running;
  const auto reap = [&] {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto found = running.find(pid);
    if (found == running.end()) throw std::runtime_error("a process that is not ours ended");
    Trials trials = std::move(found->second);
    running.erase(found);
    take_results(trials, status);
    if (!is_over(trials)) {
      const pid_t next = start_child(trials, milliseconds);
      running[next] = std::move(trials);
    } else {
      done.push_back(answer_of(trials));
    }
  };
  for (const auto& pair : pairs) {
    if (!mutants::Mutant::choose(pair.at("mutant").get<std::string>())) {
      done.push_back(pair);
      done.back()["unknown"] = true;
      continue;
    }
    mutants::Mutant::choose("");
    while (running.size() >= jobs) reap();
    Trials trials{pair};
    const pid_t pid = start_child(trials, milliseconds);
    running[pid] = std::move(trials);
  }
  while (!running.empty()) reap();
  return done;
}
}  // namespace hca::testbench
