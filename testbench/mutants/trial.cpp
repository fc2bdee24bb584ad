// SPDX-License-Identifier: Apache-2.0
#include "testbench/mutants/trial.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>

#include "model/proto/mutant.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
namespace {
constexpr unsigned kSecondsAVector = 5;
constexpr std::size_t kRunners =
    2;  // functional, and cycle with store: the others share their rules

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

// One line a vector and runner, as soon as it is known: the last one may never come.
[[noreturn]] void run_child(const nlohmann::json& pair, int to) {
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
  proto::Mutant::choose(pair.at("mutant").get<std::string>());
  for (const auto& path : pair.at("vectors")) {
    const Vector vector = load_vector(path.get<std::string>());
    for (std::size_t i = 0; i < kRunners; ++i) {
      alarm(kSecondsAVector);
      write_line(to, nlohmann::json::array(
                         {path, vector_runners()[i].name, run_one(vector, vector_runners()[i])})
                         .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    }
  }
  _exit(0);
}

// ---- In the parent
struct Child {
  int from = -1;
  nlohmann::json pair;
};

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part;
  lseek(from, 0, SEEK_SET);
  for (ssize_t n; (n = read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), std::size_t(n));
  close(from);
  return text;
}

// What a child wrote, and how it ended where something is missing.
void finish(Child& child, int status) {
  nlohmann::json& results = child.pair["results"] = nlohmann::json::object();
  const std::string text = read_all(child.from);
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const nlohmann::json line = nlohmann::json::parse(text.substr(at, end - at));
    results[line[0].get<std::string>()][line[1].get<std::string>()] = line[2];
  }
  const char* ending = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hung" : "died";
  for (const auto& path : child.pair.at("vectors"))
    for (std::size_t i = 0; i < kRunners; ++i) {
      auto& result = results[path.get<std::string>()][std::string(vector_runners()[i].name)];
      if (result.is_null()) result = ending;
    }
}
}  // namespace

nlohmann::json try_mutants(const nlohmann::json& pairs, unsigned jobs) {
  nlohmann::json done = nlohmann::json::array();
  std::map<pid_t, Child> children;
  const auto reap = [&] {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, 0);
    const auto found = children.find(pid);
    if (found == children.end()) throw std::runtime_error("a process that is not ours ended");
    finish(found->second, status);
    done.push_back(std::move(found->second.pair));
    children.erase(found);
  };
  for (const auto& pair : pairs) {
    if (!proto::Mutant::choose(pair.at("mutant").get<std::string>())) {
      done.push_back(pair);
      done.back()["unknown"] = true;
      continue;
    }
    proto::Mutant::choose("");
    if (children.size() == jobs) reap();
    const int results = memfd_create("results", MFD_CLOEXEC);
    const pid_t pid = results < 0 ? -1 : fork();
    if (pid < 0) throw std::runtime_error("no more processes");
    if (!pid) run_child(pair, results);
    children[pid] = {results, pair};
  }
  while (!children.empty()) reap();
  return done;
}
}  // namespace hca::testbench
