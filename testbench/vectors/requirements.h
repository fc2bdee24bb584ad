// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

namespace hca::testbench {
// A row of vectors/requirements.csv.
struct Statement {
  std::size_t line = 0;  // in the file
  std::string id;
  std::string ibta;  // the column: numbers in the standard, separated by ';'; empty: unknown
  std::vector<std::string> ibta_numbers;  // the same as a list
  std::string group, section, services, role, applies, framing, status, kind, text;
  std::string observable, source;
  std::string mutant;                // the column: names separated by ';'
  std::vector<std::string> mutants;  // the same as a list
  bool is_active() const { return status == "active"; }
  bool concerns_hca() const { return applies != "TCA"; }
};
// Throws std::runtime_error "path:line: what".
std::vector<Statement> load_statements(const std::string& path);

// A row of survivors.csv: a mistake that its statement's vectors need not notice, and the reason.
struct Survivor {
  std::size_t line = 0;  // in the file
  std::string statement, mutant, reason;
};
// `statements`: all. Refuses a row without a reason, of an unknown statement, or of a mistake that
// is not the statement's.
std::vector<Survivor> load_survivors(const std::string& path,
                                     std::span<const Statement> statements);

// A row of missing.csv: a statement without a vector, and what is missing.
struct Missing {
  std::size_t line = 0;  // in the file
  std::string statement, what;
};
// Refuses a row of an inactive statement, and duplicates.
std::vector<Missing> load_missing(const std::string& path, std::span<const Statement> statements);
}  // namespace hca::testbench
