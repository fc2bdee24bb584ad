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

#include "testbench/text_file.h"

namespace hca::testbench {
namespace fs = std::filesystem;

namespace {
constexpr std::array<std::string_view, 6> kVerdictNames{"none",           "failing",  "no mutant",
                                                        "unknown mutant", "survived", "passing"};

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
    throw std::runtime_error(path + ": is missing; it is built with HCA_BUILD_MUTANTS=ON");
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

// Whether the answers show that some vector of the statement fails on each runner.
Verdict judge(const nlohmann::json& answer, const CoverageRow& row, const ReportsById& by_id,
              std::string& how) {
  if (answer.contains("unknown")) return Verdict::UnknownMutant;
  std::map<std::string, std::string> failed;  // by runner
  std::set<std::string> runners;
  for (const VectorReport* report : by_id.at(row.statement.id))
    for (const auto& [runner, text] : answer.at("results").at(report->vector.path).items()) {
      runners.insert(runner);
      if (text != "passed") failed.try_emplace(runner, text.get<std::string>());
    }
  for (const std::string& runner : runners)
    if (!failed.contains(runner)) return how = "passes on " + runner, Verdict::Survived;
  how = failed.begin()->second;
  return Verdict::Passing;
}
}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdictNames[std::size_t(verdict)]; }

std::size_t Coverage::count(Verdict verdict) const {
  return std::size_t(std::count_if(rows.begin(), rows.end(),
                                   [&](const CoverageRow& row) { return row.verdict == verdict; }));
}

Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options) {
  ReportsById by_id;
  for (const VectorReport& report : reports)
    for (const std::string& id : report.vector.statements) by_id[id].push_back(&report);
  Coverage all;
  std::map<std::string, std::set<std::string>> wanted;  // mutant: paths of vectors
  for (const Statement& s : statements) {
    if (!s.is_active()) continue;
    CoverageRow& row = all.rows.emplace_back();
    row.statement = s;
    const auto found = by_id.find(s.id);
    if (found == by_id.end()) continue;
    row.verdict = s.mutant.empty() ? Verdict::NoMutant : Verdict::Survived;
    for (const VectorReport* report : found->second) {
      row.vectors.push_back(report->vector.name);
      if (!report->passed()) row.verdict = Verdict::Failing, row.how = report->vector.name;
    }
    if (row.verdict == Verdict::Survived)
      for (const VectorReport* report : found->second) wanted[s.mutant].insert(report->vector.path);
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [mutant, paths] : wanted)
    if (hash_of(mutant + options.seed) % options.share == 0)
      pairs.push_back({{"mutant", mutant}, {"vectors", paths}});
    else
      all.left_out.push_back(mutant);
  std::map<std::string, nlohmann::json> answers;
  if (!pairs.empty())
    for (nlohmann::json& answer : run_mutants(pairs, options))
      answers[answer.at("mutant").get<std::string>()] = answer;
  all.mutants = answers.size();
  for (CoverageRow& row : all.rows) {
    if (row.verdict != Verdict::Survived) continue;
    const auto answer = answers.find(row.statement.mutant);
    if (answer == answers.end()) {
      row.how = "not tried";
      continue;
    }
    row.verdict = judge(answer->second, row, by_id, row.how);
    if (row.verdict != Verdict::Passing)
      all.survivors[row.statement.mutant].push_back(row.statement.id);
  }
  all.killed = all.mutants - all.survivors.size();
  return all;
}

nlohmann::json json_of(const Coverage& coverage) {
  nlohmann::json json{{"active", coverage.rows.size()},
                      {"passing", coverage.count(Verdict::Passing)},
                      {"mutants", coverage.mutants},
                      {"killed", coverage.killed},
                      {"survivors", coverage.survivors}};
  const auto add = [](nlohmann::json& at, bool passing) {
    if (at.is_null()) at = {{"active", 0}, {"passing", 0}};
    at["active"] = at["active"].get<int>() + 1, at["passing"] = at["passing"].get<int>() + passing;
  };
  json["statements"] = nlohmann::json::array();
  for (const CoverageRow& row : coverage.rows) {
    const bool passing = row.verdict == Verdict::Passing;
    add(json["groups"][row.statement.group], passing);
    std::istringstream services(row.statement.services);
    for (std::string service; std::getline(services, service, ';');)
      add(json["services"][service], passing);
    json["statements"].push_back({{"id", row.statement.id},
                                  {"verdict", name_of(row.verdict)},
                                  {"vectors", row.vectors},
                                  {"mutant", row.statement.mutant},
                                  {"how", row.how}});
  }
  return json;
}
}  // namespace hca::testbench
