// SPDX-License-Identifier: Apache-2.0
// A conformance vector as in its file. vectors/README.md documents the format.
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
  std::vector<std::string> ibta;  // numbers in the standard; set by check_statements()
  std::string says, because;
  nlohmann::json document;
};

// True if a JSON text is meant to be a vector, even a broken one: it has the mark, or steps.
bool is_vector(const nlohmann::json& document);
// Throws std::runtime_error "path: place: what; allowed: ...".
Vector load_vector(const std::string& path);
}  // namespace hca::testbench
