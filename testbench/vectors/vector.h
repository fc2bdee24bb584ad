// SPDX-License-Identifier: Apache-2.0
// A conformance vector as its file has it. vectors/README.md documents the format.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hca::testbench {
inline constexpr const char* kVectorSchema = "hca-vector-1";
inline constexpr std::size_t kMaxStatements = 5;

struct Vector {
  std::string path, name;  // name: "psn/ahead_draws_one_nak"
  std::vector<std::string> statements;
  std::vector<std::string> ibta;  // their numbers in the standard; behind check_statements()
  std::string says, because;
  nlohmann::json document;
};

// Whether a JSON text means to be a vector, perhaps a broken one: it says so, or has steps.
bool is_vector(const nlohmann::json& document);
// Throws std::runtime_error "path: place: what; allowed: ...".
Vector load_vector(const std::string& path);
}  // namespace hca::testbench
