// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "model/engine/domain.h"

namespace hca::engine::test {
// Records when it was ticked; does nothing else.
struct Watcher : Block {
  std::vector<Cycle> ticked;
  void tick() { ticked.push_back(now()); }
};

// A domain with a writer and a reader that only record: the test itself acts between two cycles, as
// they would in a tick.
struct Pair {
  explicit Pair(Domain::Options options = {}) : domain(options) {
    writer.self = {&domain, domain.add(writer, "writer")};
    reader.self = {&domain, domain.add(reader, "reader")};
  }
  // All of cycle `n` has been run, and now() is n.
  void go_to(Cycle n) { domain.run_until(n + 1); }
  Domain domain;
  Watcher writer, reader;
};

// The output of `act` before it aborts; "survived" if it does not abort.
template <class Act>
std::string last_words(Act act) {
  int ends[2];
  if (pipe(ends)) return "no pipe";
  const pid_t child = fork();
  if (!child) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, std::size_t(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && !WEXITSTATUS(status)) return "survived";
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : "ended otherwise";
}
}  // namespace hca::engine::test
