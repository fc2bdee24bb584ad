// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/vector.h"

#include <filesystem>
#include <stdexcept>

#include "testbench/text/json_at.h"
#include "testbench/text/text_file.h"
#include "testbench/vectors/format.h"

namespace hca::testbench {
bool is_vector(const nlohmann::json& document) {
  return document.is_object() && (document.contains("vector") || document.contains("steps"));
}

Vector load_vector(const std::string& path) try {
  Vector v;
  v.path = path;
  const std::filesystem::path file(path);
  v.name = (file.parent_path().filename() / file.stem()).string();
  const auto text = read_text_file(path);
  if (!text) throw std::runtime_error("(top): cannot be read; allowed: a readable file");
  v.document = parse_json(*text);
  const JsonAt top(v.document);
  if (!v.document.is_object()) top.refuse("is no object", "a vector");
  if (top["vector"].value() != kVectorSchema)
    top["vector"].refuse("is no vector of this version", std::string("\"") + kVectorSchema + "\"");
  check_vector(top);
  v.statements = v.document["for"].get<std::vector<std::string>>();
  v.says = top["says"].text();
  v.because = top["because"].text();
  return v;
} catch (const std::exception& error) {
  throw std::runtime_error(path + ": " + error.what());
}
}  // namespace hca::testbench
