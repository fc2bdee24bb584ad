// SPDX-License-Identifier: Apache-2.0
// Which statements the vectors show: each by a vector that passes, and that fails when the model
// makes the statement's mistake.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/requirements.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
enum class Verdict { None, Failing, NoMutant, UnknownMutant, Survived, Passing };
std::string_view name_of(Verdict verdict);

struct CoverageRow {
  Statement statement;
  Verdict verdict = Verdict::None;
  std::vector<std::string> vectors;  // names
  std::string how;                   // what the mistake drew, or what fails
};

struct CoverageOptions {
  std::string mutants_program;  // beside this program, if empty
  unsigned jobs = 2;
  // Only mutants whose name and `seed` hash to 0 modulo `share`.
  unsigned share = 1;
  std::string seed;
};

struct Coverage {
  std::vector<CoverageRow> rows;      // active statements
  std::vector<std::string> left_out;  // mutants that the share leaves out
  std::size_t count(Verdict verdict) const;
  // Names of mutants that were tried; those that survived with the statements that name them.
  std::size_t mutants = 0, killed = 0;
  std::map<std::string, std::vector<std::string>> survivors;
};

// Runs all that it reports. `reports`: of all vectors, as they pass without a mistake.
Coverage cover(std::span<const Statement> statements, std::span<const VectorReport> reports,
               const CoverageOptions& options);
nlohmann::json json_of(const Coverage& coverage);
// One self-contained page.
std::string html_of(const Coverage& coverage);
}  // namespace hca::testbench
