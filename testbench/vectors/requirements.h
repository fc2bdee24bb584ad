// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hca::testbench {
// A row of vectors/requirements.csv.
struct Statement {
  std::string id, group, section, services, role, applies, status, kind, text;
  std::string mutant;                // the column: names separated by ';'
  std::vector<std::string> mutants;  // these names
  bool is_active() const { return status == "active"; }
  bool concerns_hca() const { return applies != "TCA"; }
};
// Throws std::runtime_error "path:line: what".
std::vector<Statement> load_statements(const std::string& path);

// A mistake that its statement's vectors need not notice, and why.
struct Survivor {
  std::string statement, mutant, reason;
};
std::vector<Survivor> load_survivors(const std::string& path);
}  // namespace hca::testbench
