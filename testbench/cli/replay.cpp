// SPDX-License-Identifier: Apache-2.0
// hca replay: conformance vectors, and recorded conversations from each end that was a real device.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "testbench/cli/commands.h"
#include "testbench/replay/replay_pairs.h"
#include "testbench/replay/replay_report.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/text/missing_part.h"
#include "testbench/text/text_file.h"
#include "testbench/vectors/coverage.h"
#include "testbench/vectors/filter.h"
#include "testbench/vectors/inputs.h"
#include "testbench/vectors/junit.h"
#include "testbench/vectors/report.h"
#include "testbench/vectors/requirements.h"

namespace hca::cli {
using namespace testbench;

namespace {
struct ReplayArguments {
  std::vector<std::string> paths;
  std::string json_path, junit_path, filter, runner, end, profile;
  bool mutants = false;
  RtlChoice rtl;
  CoverageOptions coverage;
};

// From each end that was a device; false: there is none.
bool replay_ends(const ReplayArguments& options, const Capture& capture, ReplayRun& run) {
  bool any = false;
  for (ReplayRunner runner : replay_runners()) {
    runner.rtl = options.rtl;
    if (!options.runner.empty() && options.runner != runner.name) continue;
    for (const End end : {End::A, End::B}) {
      if (!capture.has_device(end) || (!options.end.empty() && options.end[0] != name_of(end)))
        continue;
      any = true;
      run.reports.push_back(replay(capture, end, runner));
    }
  }
  return any;
}

// Judges by the packets, then with the model in place of each end whose state they show.
void judge_packets(const ReplayArguments& options, const std::string& file, ReplayRun& run) {
  JudgedCapture judged = judge_capture(file, options.profile);
  for (Capture& capture : pairs_of(file, judged)) {
    capture.profile = options.profile;
    if (capture.events.empty())
      judged.not_replayed.push_back(capture.name + ": " + capture.left_out_reason);
    else
      try {
        replay_ends(options, capture, run);
      } catch (const std::exception& error) {
        judged.not_replayed.push_back(capture.name + ": " + error.what());
      }
  }
  run.judged.push_back(std::move(judged));
}

void replay_capture(const ReplayArguments& options, const std::string& file, ReplayRun& run) {
  if (!has_json(file)) return judge_packets(options, file, run);
  Capture capture = load_capture(file);
  if (!options.profile.empty()) capture.profile = options.profile;
  if (capture.learned) run.judged.push_back(judge_capture(capture, options.profile));
  if (const std::string needs = waits_for(capture); !needs.empty())
    return run.waiting.push_back({capture.name, needs});
  if (!replay_ends(options, capture, run)) throw std::runtime_error("no device at this end");
}

// Captures that cannot be read are added to the inputs' list of them; the others are replayed.
ReplayRun replay_captures(const ReplayArguments& options, ReplayInputs& in) {
  ReplayRun run;
  for (const std::string& file : in.captures) try {
      replay_capture(options, file, run);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      const bool names_it = what.starts_with(file) || what.starts_with(json_beside(file));
      in.unreadable.push_back({file, names_it ? what : with_line(json_beside(file), what), true});
    }
  return run;
}

// Every input that cannot be read, for people; true: there was one.
bool tell_unreadable(const ReplayInputs& in) {
  for (const Unreadable& u : in.unreadable) fmt::print(stderr, "hca: {}\n", u.what);
  return !in.unreadable.empty();
}

// Checks only the vectors that can be read.
void must_take_one(const VectorFilter& filter, const ReplayInputs& in) try {
  filter.must_take_one(in.vectors);
} catch (const std::exception&) {
  tell_unreadable(in);  // what it is for may be among these
  throw;
}

nlohmann::json json_of_all(const ReplayRun& run, std::span<const VectorReport> vectors,
                           std::span<const Unreadable> unreadable) {
  nlohmann::json json = json_of(run);
  json["errors"] = nlohmann::json::array();
  for (const Unreadable& u : unreadable)
    json["errors"].push_back({{"path", u.path}, {"what", u.what}});
  json["vectors"] = nlohmann::json::array();
  for (const VectorReport& report : vectors) json["vectors"].push_back(json_of(report));
  return json;
}

std::string junit_of_all(const ReplayRun& run, std::span<const VectorReport> vectors,
                         std::span<const Unreadable> unreadable) {
  std::vector<JunitCase> cases;
  for (const ReplayReport& r : run.reports)
    cases.push_back({"captures", fmt::format("{} {} {}", r.capture, r.runner, name_of(r.end)),
                     !r.is_breach() ? "" : r.difference->where + ": " + r.difference->what});
  for (const JudgedCapture& j : run.judged)
    cases.push_back(
        {"captures", j.capture + " conversations", j.judgement.is_legal() ? "" : text_of(j)});
  for (const VectorReport& r : vectors) {
    const VectorReport one[] = {r};
    const std::string text = r.passed() ? "" : text_of(std::span(one));
    cases.push_back({"vectors", r.vector.name, text, is_broken(r) ? text : "", r.vector.statements,
                     r.vector.ibta});
  }
  for (const Unreadable& u : unreadable)
    cases.push_back({u.is_capture ? "captures" : "vectors", u.path, "", u.what});
  return junit_of(cases);
}

// Mistakes that no vector notices, with the reason: `statement,mutant,reason` in survivors.csv.
bool is_explained(const std::vector<Survivor>& known, const std::string& mutant,
                  const std::string& id) {
  return std::any_of(known.begin(), known.end(),
                     [&](const Survivor& s) { return s.mutant == mutant && s.statement == id; });
}

// A row that excuses what was tried and noticed, or what the model cannot do, is out of date.
void check_survivors(const std::string& path, std::span<const Survivor> known,
                     const Coverage& coverage) {
  for (const Survivor& s : known)
    for (const CoverageRow& row : coverage.rows)
      for (const MutantRow& m : row.mutants) {
        const bool survives = m.verdict == MutantVerdict::Survived;
        if (row.statement.id != s.statement || m.name != s.mutant || survives ||
            m.verdict == MutantVerdict::NotTried)
          continue;
        throw std::runtime_error(fmt::format(
            "{}:{}: '{}' of {} does not survive: {}{}; allowed: mistakes that survive", path,
            s.line, s.mutant, s.statement, name_of(m.verdict), m.how.empty() ? "" : ", " + m.how));
      }
}

// Statements that vectors outside of `in` show as well.
std::set<std::string> shown_elsewhere(const ReplayInputs& in, const std::string& list) {
  namespace fs = std::filesystem;
  std::set<fs::path> here;
  for (const Vector& v : in.vectors) here.insert(fs::weakly_canonical(v.path));
  const std::string folder = fs::path(list).parent_path().string();
  std::set<std::string> ids;
  for (const Vector& v : find_inputs(std::span(&folder, 1)).vectors)
    if (!here.contains(fs::weakly_canonical(v.path)))
      ids.insert(v.statements.begin(), v.statements.end());
  return ids;
}

// The statements that the wanted vectors are for, each with all of its vectors in the paths. A
// mistake that these do not notice is no failure if the statement has others.
int try_mutants(const ReplayArguments& options) {
  for (const auto& [name, text] : {std::pair{"--junit", &options.junit_path},
                                   {"--end", &options.end},
                                   {"--runner", &options.runner}})
    if (!text->empty())
      throw std::runtime_error(fmt::format(
          "{}: is not for --mutants; allowed: --json, --filter, --share, --seed, --jobs", name));
  const auto list = find_beside(options.paths, "requirements.csv");
  if (!list)
    throw std::runtime_error(
        "--mutants: no path holds requirements.csv, and no folder above it; allowed: the folder of "
        "it, and those in it");
  ReplayInputs in = find_inputs(options.paths);
  std::vector<Statement> statements = load_statements(*list);
  check_statements(in, statements);
  const auto survivors = find_beside(options.paths, "survivors.csv");
  const std::vector<Survivor> known =
      survivors ? load_survivors(*survivors, statements) : std::vector<Survivor>{};
  if (tell_unreadable(in)) return kBadInput;
  const VectorFilter filter(options.filter);
  filter.must_take_one(in.vectors);
  std::set<std::string, std::less<>> wanted;
  for (const Vector& v : in.vectors)
    if (filter.takes(v)) wanted.insert(v.statements.begin(), v.statements.end());
  std::erase_if(statements, [&](const Statement& s) { return !wanted.contains(s.id); });
  std::vector<VectorReport> reports;
  for (const Vector& v : in.vectors)
    if (std::any_of(v.statements.begin(), v.statements.end(),
                    [&](const std::string& id) { return wanted.contains(id); }))
      reports.push_back(run_vector(v));
  const Coverage coverage = cover(statements, reports, options.coverage);
  if (survivors) check_survivors(*survivors, known, coverage);
  const std::set<std::string> elsewhere = shown_elsewhere(in, *list);
  bool good = true;
  for (const VectorReport& r : reports)
    if (!r.passed()) {
      fmt::print("{}: does not pass without a mistake\n", r.vector.name);
      good = false;
    }
  for (const auto& [mutant, ids] : coverage.survivors)
    for (const std::string& id : ids) {
      const bool explained = is_explained(known, mutant, id), more = elsewhere.contains(id);
      good &= explained || more;
      fmt::print("survived: {} ({}){}\n", mutant, id,
                 explained ? ", as listed"
                 : more    ? ", which has vectors in other folders"
                           : "");
    }
  for (const auto& [mutant, ids] : coverage.died)
    fmt::print("noticed only by a crash or hang: {} ({})\n", mutant, fmt::join(ids, ", "));
  fmt::print("{} mistakes tried, {} noticed\n", coverage.mutants, coverage.killed);
  if (!options.json_path.empty())
    write_text_file(options.json_path, json_of(coverage).dump(1) + '\n');
  if (!coverage.mutants && good)
    throw std::runtime_error(
        "--mutants: no mistake was tried; allowed: a wider --filter or --share");
  return good ? kSucceeded : kCheckFailed;
}

int replay_all(const ReplayArguments& options) {
  ReplayInputs in = find_inputs(options.paths);
  if (!in.vectors.empty()) {
    if (const auto list = find_beside(options.paths, "requirements.csv"))
      check_statements(in, load_statements(*list));
    else
      fmt::print(stderr,
                 "hca: no requirements.csv beside or above {}: whether the statements of vectors "
                 "exist is not checked\n",
                 fmt::join(options.paths, ", "));
  }
  const VectorFilter filter(options.filter);
  must_take_one(filter, in);
  const bool captures = options.filter.empty() && !in.captures.empty();
  const ReplayRun run = captures ? replay_captures(options, in) : ReplayRun{};
  std::vector<VectorReport> vectors;
  for (const Vector& v : in.vectors)
    if (filter.takes(v)) vectors.push_back(run_vector(v, options.rtl));
  if (run.reports.empty() && run.waiting.empty() && run.judged.empty() && vectors.empty() &&
      in.unreadable.empty())
    throw std::runtime_error(
        fmt::format("{}: nothing to replay; allowed: captures, vectors, or folders that hold some",
                    fmt::join(options.paths, ", ")));
  if (options.rtl.any()) fmt::print("RTL in the path of the cycle model: {}\n", options.rtl.text());
  if (captures) std::fputs(text_of(run).c_str(), stdout);
  if (!vectors.empty()) std::fputs(text_of(vectors).c_str(), stdout);
  if (in.passed_over) fmt::print("{} other files passed over\n", in.passed_over);
  if (!options.json_path.empty())
    write_text_file(options.json_path, json_of_all(run, vectors, in.unreadable).dump(1) + '\n');
  if (!options.junit_path.empty())
    write_text_file(options.junit_path, junit_of_all(run, vectors, in.unreadable));
  if (tell_unreadable(in) || std::any_of(vectors.begin(), vectors.end(), is_broken))
    return kBadInput;
  const auto failed = [](const auto& all, auto good) {
    return !std::all_of(all.begin(), all.end(), good);
  };
  return failed(run.reports, [](const auto& r) { return !r.is_breach(); }) ||
                 failed(run.judged, [](const auto& j) { return j.judgement.is_legal(); }) ||
                 failed(vectors, [](const auto& r) { return r.passed(); })
             ? kCheckFailed
             : kSucceeded;
}
}  // namespace

void add_replay(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<ReplayArguments>();
  command
      .add_option("paths", options->paths,
                  "captures (with or without a JSON beside each), vectors, and folders of them")
      ->required()
      ->check(CLI::ExistingPath);
  command.add_option(
      "--filter", options->filter,
      "only vectors for this statement (by our id or IBTA's number), of this theme or of this "
      "case; with *, ? or []: "
      "as a glob");
  CLI::Option* mutants =
      command.add_flag("--mutants", options->mutants,
                       "run the vectors on the model with one deliberate mistake at a time");
  command.add_option("--share", options->coverage.share, "only one mistake in this many")
      ->needs(mutants)
      ->check(CLI::Range(1, 1000));
  command.add_option("--seed", options->coverage.seed, "which of them: any text")->needs(mutants);
  command.add_option("--jobs", options->coverage.jobs, "mistakes at once")
      ->needs(mutants)
      ->check(CLI::Range(1, 256));
  command.add_option("--json", options->json_path, "write the reports there");
  command.add_option("--junit", options->junit_path, "write them there as JUnit XML");
  command.add_option("--end", options->end, "only this end of captures")
      ->check(CLI::IsMember({"A", "B"}));
  command
      .add_option("--profile", options->profile,
                  "excuse the deviations of this device, and report them")
      ->check(CLI::IsMember(profile_names()));
  std::vector<std::string> names;
  for (const ReplayRunner& runner : replay_runners()) names.emplace_back(runner.name);
  command.add_option("--runner", options->runner, "captures only on this runner")
      ->check(CLI::IsMember(names));
  command
      .add_option_function<std::string>(
          "--rtl",
          [options](const std::string& blocks) {
            if (const std::string problem = options->rtl.add(blocks); !problem.empty())
              throw CLI::ValidationError("--rtl", problem);
            if (!has_rtl()) throw MissingPart("rtl", "--rtl");
          },
          "these RTL blocks in the path of the cycle model, or all of them")
      ->excludes(mutants);
  command.callback([options, &exit_code] {
    if (const int code = options->mutants ? try_mutants(*options) : replay_all(*options);
        code != kSucceeded)
      exit_code = code;
  });
}
}  // namespace hca::cli
