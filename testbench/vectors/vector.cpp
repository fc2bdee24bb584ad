// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/vector.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "testbench/json_at.h"
#include "testbench/text_file.h"
#include "testbench/vectors/names.h"

namespace hca::testbench {
namespace {
void check(const JsonAt& top, Vector& v) {
  top.check_keys({"vector", "for", "says", "setup", "steps", "because"});
  for (const JsonAt& id : top["for"].entries()) {
    if (std::count(v.statements.begin(), v.statements.end(), id.text()))
      id.refuse("names '" + id.text() + "' again", "each statement once");
    v.statements.push_back(id.text());
  }
  if (v.statements.empty() || v.statements.size() > kMaxStatements)
    top["for"].refuse(fmt::format("names {} statements", v.statements.size()), "1 .. 5");
  v.says = top["says"].text(), v.because = top["because"].text();
  if (v.says.empty()) top["says"].refuse("is empty", "a sentence");
  if (v.because.empty()) top["because"].refuse("is empty", "where the numbers come from");
  if (top["steps"].entries().empty()) top["steps"].refuse("is empty", "one step or more");
  check_names(top);
}
}  // namespace

bool is_vector(const nlohmann::json& document) {
  return document.is_object() && document.contains("vector") && document["vector"] == kVectorSchema;
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
  if (!is_vector(v.document))
    top["vector"].refuse("is no vector of this version", std::string("\"") + kVectorSchema + "\"");
  check(top, v);
  return v;
} catch (const std::exception& error) {
  throw std::runtime_error(path + ": " + error.what());
}
}  // namespace hca::testbench
