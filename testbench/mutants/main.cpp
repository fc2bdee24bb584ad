// SPDX-License-Identifier: Apache-2.0
// hca_mutants: runs vectors on the model with one deliberate mistake at a time. `hca replay
// --mutants` and `hca vectors coverage` start it; requests and answers are JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <systemc>

#include "testbench/mutants/every.h"
#include "testbench/mutants/mistake.h"
#include "testbench/mutants/trial.h"
#include "testbench/text/text_file.h"
#include "testbench/vectors/inputs.h"

namespace {
using namespace hca::testbench;

int list_mutants() {
  std::set<std::string> names;
  for (const auto* m = hca::mutants::Mutant::first(); m; m = m->next()) names.insert(m->name());
  for (const std::string& name : names) fmt::print("{}\n", name);
  return 0;
}

int run_trials(const std::string& pairs, const std::string& out, unsigned jobs,
               unsigned milliseconds) {
  const auto text = read_text_file(pairs);
  if (!text) throw std::runtime_error(pairs + ": cannot be read");
  std::ofstream file(out);
  file << try_mutants(nlohmann::json::parse(*text), jobs, milliseconds).dump(1) << '\n';
  if (!file.flush()) throw std::runtime_error(out + ": cannot be written");
  return 0;
}

int run_every(const std::vector<std::string>& paths, const EveryMistake& which) {
  std::vector<std::string> vectors;
  for (const Vector& v : find_inputs(paths).vectors) vectors.push_back(v.path);
  if (vectors.empty())
    throw std::runtime_error(fmt::format("{}: no vectors", fmt::join(paths, ", ")));
  const Unnoticed unnoticed = try_every(vectors, which);
  for (const std::string& name : unnoticed.names) fmt::print("survived: {}\n", name);
  for (const std::string& name : unnoticed.reachable)
    fmt::print("never evaluated, though it could be: {}\n", name);
  const std::size_t survived = unnoticed.names.size();
  fmt::print("{} mistakes against {} vectors, {} noticed", unnoticed.tried, vectors.size(),
             unnoticed.tried - survived);
  if (!which.vary.empty())
    fmt::print(
        ", {} evaluated and changed nothing; {} more are never evaluated there, {} of them could "
        "be",
        survived, unnoticed.never_reached, unnoticed.reachable.size());
  fmt::print("\n");
  return unnoticed.names.empty() ? 0 : 1;
}
}  // namespace

int sc_main(int argc, char** argv) try {
  CLI::App app{"conformance vectors on the model with one deliberate mistake at a time"};
  bool list = false;
  std::string pairs, out;
  unsigned jobs = 2, milliseconds = 1000;
  app.add_flag("--list", list, "print the names of all mistakes");
  app.add_option("--pairs", pairs, R"(JSON: [{"mutant": name, "vectors": [path, ...]}, ...])");
  app.add_option("--json", out, "write the answers there");
  app.add_option("--jobs", jobs, "mistakes that are tried at once")->check(CLI::Range(1, 256));
  app.add_option("--milliseconds", milliseconds, "processor time after which a vector hangs")
      ->check(CLI::Range(10, 60000))
      ->capture_default_str();
  std::vector<std::string> every;
  EveryMistake which;
  app.add_option("--every", every, "each mistake against all vectors of these files and folders");
  app.add_option("--mistake", which.names, "with --every: those whose names match this glob");
  app.add_option("--vary", which.vary,
                 "with --every: each for one framing, service, operation or opcode at a time");
  CLI11_PARSE(app, argc, argv);
  which.jobs = jobs;
  which.milliseconds = milliseconds;
  if (!every.empty()) return run_every(every, which);
  if (list) return list_mutants();
  if (pairs.empty() || out.empty())
    throw std::runtime_error("--list, --every, or --pairs and --json");
  return run_trials(pairs, out, jobs, milliseconds);
} catch (const std::exception& error) {
  fmt::print(stderr, "hca_mutants: {}\n", error.what());
  return 2;
}
