// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/coverage.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace fs = std::filesystem;

namespace {
constexpr std::array<std::string_view, 7> kVerdictNames{
    "none", "failing", "no mutant", "not tried", "unknown mutant", "survived", "passing"};
constexpr std::array<std::string_view, 5> kMutantVerdictNames{"not tried", "unknown", "survived",
                                                              "died", "killed"};

// A folder that goes with its owner.
struct Scratch {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "hca-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    return fs::path(name);
  }();
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string mutants_program(const CoverageOptions& options) {
  const std::string path =
      options.mutants_program.empty()
          ? (fs::read_symlink("/proc/self/exe").parent_path() / "hca_mutants").string()
          : options.mutants_program;
  if (!fs::exists(path))
    throw std::runtime_error(
        path +
        ": is missing; `cmake --preset release && cmake --build --preset release --target "
        "hca_mutants` makes it");
  return path;
}

nlohmann::json run_mutants(const nlohmann::json& pairs, const CoverageOptions& options) {
  const Scratch scratch;
  const std::string program = mutants_program(options), in = scratch.path / "pairs.json",
                    out = scratch.path / "answers.json", jobs = std::to_string(options.jobs);
  if (!(std::ofstream(in) << pairs).flush()) throw std::runtime_error(in + ": cannot be written");
  std::array<std::string, 7> words{program, "--pairs", in, "--json", out, "--jobs", jobs};
  std::array<char*, 8> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t pid = 0;
  int status = 0;
  if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments.data(), environ) ||
      waitpid(pid, &status, 0) != pid || status)
    throw std::runtime_error(program + ": did not end well");
  return nlohmann::json::parse(read_text_file(out).value_or(""));
}

u64 hash_of(std::string_view text) {
  u64 hash = 1469598103934665603u;
  for (const char c : text) hash = (hash ^ u8(c)) * 1099511628211u;
  return hash ^ hash >> 29;
}

using ReportsById = std::map<std::string, std::vector<const VectorReport*>>;

// Checks that on each runner some vector of the statement fails.
void judge(const nlohmann::json& answer, MutantRow& row,
           std::span<const VectorReport* const> vectors) {
  if (answer.contains("unknown")) {
    row.verdict = MutantVerdict::Unknown;
    row.how = "the model has no such switch";
    return;
  }
  std::map<std::string, MutantVerdict> by_runner;
  for (const VectorReport* report : vectors)
    for (const auto& [runner, text] : answer.at("results").at(report->vector.path).items()) {
      MutantVerdict& best = by_runner.try_emplace(runner, MutantVerdict::Survived).first->second;
      const std::string what = text.get<std::string>();
      if (what == "passed") continue;
      row.noticed[report->vector.name][runner] = what;
      best =
          std::max(best, what.starts_with("failed") ? MutantVerdict::Killed : MutantVerdict::Died);
      if (row.how.empty()) row.how = what;
    }
  row.verdict = MutantVerdict::Killed;
  for (const auto& [runner, best] : by_runner) {
    if (best >= row.verdict) continue;
    row.verdict = best;
    row.how =
        best == MutantVerdict::Survived ? "passes on " + runner : "only dies or hangs on " + runner;
  }
}

// A row is as good as the worst of its mistakes.
Verdict verdict_of(MutantVerdict mutant) {
  switch (mutant) {
    case MutantVerdict::NotTried:
      return Verdict::NotTried;
    case MutantVerdict::Unknown:
      return Verdict::UnknownMutant;
    case MutantVerdict::Survived:
      return Verdict::Survived;
    case MutantVerdict::Died:
    case MutantVerdict::Killed:
      return Verdict::Passing;
  }
  return Verdict::None;
}
void judge_row(CoverageRow& row) {
  row.verdict = Verdict::Passing;
  for (const MutantRow& m : row.mutants) {
    const Verdict verdict = verdict_of(m.verdict);
    if (verdict == Verdict::Passing) continue;
    if (row.verdict == Verdict::Passing || verdict == Verdict::Survived) row.verdict = verdict;
    row.how += fmt::format("{}{}: {}{}{}", row.how.empty() ? "" : "; ", m.name, name_of(m.verdict),
                           m.how.empty() ? "" : ", ", m.how);
  }
}
}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdictNames[std::size_t(verdict)]; }
std::string_view name_of(MutantVerdict verdict) {
  return kMutantVerdictNames[std::size_t(verdict)];
}

std::size_t Coverage::count(Verdict verdict) const {
  return std::size_t(std::count_if(rows.begin(), rows.end(),
                                   [&](const CoverageRow& row) { return row.verdict == verdict; }));
}

Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options) {
  return cover(statements, reports, options,
               [&options](const nlohmann::json& pairs) { return run_mutants(pairs, options); });
}

Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options, const AskMutants& ask) {
  ReportsById by_id;
  for (const VectorReport& report : reports)
    for (const std::string& id : report.vector.statements) by_id[id].push_back(&report);
  Coverage all;
  all.listed = statements.size();
  std::map<std::string, std::set<std::string>> wanted;  // mutant: paths of vectors
  for (const Statement& s : statements) {
    if (!s.is_active() || !s.concerns_hca()) {
      ++(s.is_active() ? all.of_tcas : all.obsolete);
      continue;
    }
    CoverageRow& row = all.rows.emplace_back();
    row.statement = s;
    for (const std::string& name : s.mutants) row.mutants.push_back({name, {}, {}, {}});
    const auto found = by_id.find(s.id);
    if (found == by_id.end()) continue;
    row.verdict = row.mutants.empty() ? Verdict::NoMutant : Verdict::NotTried;
    for (const VectorReport* report : found->second) {
      row.vectors.push_back(report->vector.name);
      if (!report->passed()) {
        row.verdict = Verdict::Failing;
        row.how = report->vector.name;
      }
    }
    if (row.verdict == Verdict::NotTried)
      for (const std::string& name : s.mutants)
        for (const VectorReport* report : found->second) wanted[name].insert(report->vector.path);
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [mutant, paths] : wanted)
    if (hash_of(mutant + options.seed) % options.share == 0)
      pairs.push_back({{"mutant", mutant}, {"vectors", paths}});
    else
      all.left_out.push_back(mutant);
  std::map<std::string, nlohmann::json> answers;
  if (!pairs.empty())
    for (nlohmann::json& answer : ask(pairs))
      answers[answer.at("mutant").get<std::string>()] = answer;
  all.mutants = answers.size();
  for (CoverageRow& row : all.rows) {
    if (row.verdict != Verdict::NotTried) continue;
    for (MutantRow& m : row.mutants) {
      const auto answer = answers.find(m.name);
      if (answer == answers.end()) continue;
      judge(answer->second, m, by_id.at(row.statement.id));
      if (m.verdict < MutantVerdict::Died)
        all.survivors[m.name].push_back(row.statement.id);
      else if (m.verdict == MutantVerdict::Died)
        all.died[m.name].push_back(row.statement.id);
    }
    judge_row(row);
  }
  all.killed = all.mutants - all.survivors.size();
  return all;
}

nlohmann::json json_of(const Coverage& coverage) {
  nlohmann::json json{{"listed", coverage.listed},
                      {"obsolete", coverage.obsolete},
                      {"of_tcas", coverage.of_tcas},
                      {"active", coverage.rows.size()},
                      {"passing", coverage.count(Verdict::Passing)},
                      {"mutants", coverage.mutants},
                      {"killed", coverage.killed},
                      {"survivors", coverage.survivors},
                      {"died", coverage.died}};
  const auto add = [](nlohmann::json& at, bool passing) {
    if (at.is_null()) at = {{"active", 0}, {"passing", 0}};
    at["active"] = at["active"].get<int>() + 1;
    at["passing"] = at["passing"].get<int>() + passing;
  };
  json["statements"] = nlohmann::json::array();
  for (const CoverageRow& row : coverage.rows) {
    const bool passing = row.verdict == Verdict::Passing;
    add(json["groups"][row.statement.group], passing);
    std::istringstream services(row.statement.services);
    for (std::string service; std::getline(services, service, ';');)
      add(json["services"][service], passing);
    nlohmann::json mutants = nlohmann::json::array();
    for (const MutantRow& m : row.mutants)
      mutants.push_back({{"name", m.name},
                         {"verdict", name_of(m.verdict)},
                         {"noticed", m.noticed},
                         {"how", m.how}});
    json["statements"].push_back({{"id", row.statement.id},
                                  {"ibta", row.statement.ibta_numbers},
                                  {"verdict", name_of(row.verdict)},
                                  {"vectors", row.vectors},
                                  {"mutants", mutants},
                                  {"how", row.how}});
  }
  return json;
}
}  // namespace hca::testbench
