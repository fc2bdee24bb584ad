// SPDX-License-Identifier: Apache-2.0
// The statements proven by the vectors: each by passing vectors, of which at least one fails for
// every mistake of the statement.
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

// Died: noticed, but on some runner only by a crash or a hang of the model.
enum class MutantVerdict { NotTried, Unknown, Survived, Died, Killed };
std::string_view name_of(MutantVerdict verdict);

// One mistake of a statement, judged by the statement's vectors.
struct MutantRow {
  std::string name;
  MutantVerdict verdict = MutantVerdict::NotTried;
  // Vectors that noticed it: by name and runner "failed: where: what", "died" or "hung".
  std::map<std::string, std::map<std::string, std::string>> noticed;
  std::string how;  // the first failure that it caused, or the runner without one
};

struct CoverageRow {
  Statement statement;
  Verdict verdict = Verdict::None;
  std::vector<std::string> vectors;  // names
  std::vector<MutantRow> mutants;
  std::string how;  // why it is not proven better
};

struct CoverageOptions {
  std::string mutants_program;  // empty: beside this program
  unsigned jobs = 2;
  // Only mutants whose name and `seed` hash to 0 modulo `share`.
  unsigned share = 1;
  std::string seed;
};

struct Coverage {
  std::vector<CoverageRow> rows;      // active statements of an HCA
  std::size_t listed = 0;             // rows of the list: these, and
  std::size_t obsolete = 0;           // replaced by others,
  std::size_t of_tcas = 0;            // active, only for TCAs
  std::vector<std::string> left_out;  // mutants outside the share
  std::size_t count(Verdict verdict) const;
  // Numbers of tried and killed mutants; and the survivors, with the statements that name them.
  std::size_t mutants = 0, killed = 0;
  std::map<std::string, std::vector<std::string>> survivors;
  // Mutants noticed only by a crash or a hang, with the statements.
  std::map<std::string, std::vector<std::string>> died;
};

// Judges pairs of mutant and vectors, with answers as from hca_mutants (testbench/mutants/trial.h).
using AskMutants = std::function<nlohmann::json(const nlohmann::json& pairs)>;

// Runs everything that it reports. `reports`: the results of all vectors without a mistake.
Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options);
// The same with another source of answers.
Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options, const AskMutants& ask);
nlohmann::json json_of(const Coverage& coverage);
// One self-contained page.
std::string html_of(const Coverage& coverage);
}  // namespace hca::testbench
