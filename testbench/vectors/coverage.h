// SPDX-License-Identifier: Apache-2.0
// Which statements the vectors show: each by vectors that pass, of which one fails whenever the
// model makes one of the statement's mistakes.
#pragma once
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/requirements.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
enum class Verdict { None, Failing, NoMutant, NotTried, UnknownMutant, Survived, Passing };
std::string_view name_of(Verdict verdict);

// Died: noticed, on some runner only because the model crashed or did not come back.
enum class MutantVerdict { NotTried, Unknown, Survived, Died, Killed };
std::string_view name_of(MutantVerdict verdict);

// One mistake of a statement, judged by the statement's vectors.
struct MutantRow {
  std::string name;
  MutantVerdict verdict = MutantVerdict::NotTried;
  // Vectors that noticed it: by name and runner "failed: where: what", "died" or "hung".
  std::map<std::string, std::map<std::string, std::string>> noticed;
  std::string how;  // the first thing that it drew, or the runner where it draws nothing
};

struct CoverageRow {
  Statement statement;
  Verdict verdict = Verdict::None;
  std::vector<std::string> vectors;  // names
  std::vector<MutantRow> mutants;
  std::string how;  // why it is no better
};

struct CoverageOptions {
  std::string mutants_program;  // beside this program, if empty
  unsigned jobs = 2;
  // Only mutants whose name and `seed` hash to 0 modulo `share`.
  unsigned share = 1;
  std::string seed;
};

struct Coverage {
  std::vector<CoverageRow> rows;      // active statements of an HCA
  std::size_t listed = 0;             // rows of the list: these, and
  std::size_t obsolete = 0;           // replaced by others,
  std::size_t of_tcas = 0;            // active, of TCAs alone
  std::vector<std::string> left_out;  // mutants that the share leaves out
  std::size_t count(Verdict verdict) const;
  // Names of mutants that were tried; those that survived with the statements that name them.
  std::size_t mutants = 0, killed = 0;
  std::map<std::string, std::vector<std::string>> survivors;
  // Those that were noticed only by a crash or a hang, with the statements.
  std::map<std::string, std::vector<std::string>> died;
};

// Asks of pairs of mutant and vectors, answers as hca_mutants (testbench/mutants/trial.h).
using AskMutants = std::function<nlohmann::json(const nlohmann::json& pairs)>;

// Runs all that it reports. `reports`: of all vectors, as they pass without a mistake.
Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options);
// The same with answers from elsewhere.
Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options, const AskMutants& ask);
nlohmann::json json_of(const Coverage& coverage);
// One self-contained page.
std::string html_of(const Coverage& coverage);
}  // namespace hca::testbench
