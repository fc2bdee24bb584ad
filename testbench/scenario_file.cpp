// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <map>
#include <sstream>

namespace hca::testbench {
namespace {
constexpr unsigned kMaxDepth = 16;
constexpr std::size_t kMaxSettings = 20'000;

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return all;
}

class Flattener {
 public:
  explicit Flattener(const std::string& file) : file_(file) {}
  void walk(const YAML::Node& node, const std::string& path, unsigned depth) {
    const int line = node.Mark().line + 1;
    if (depth > kMaxDepth || settings.size() > kMaxSettings)
      refuse(line, path, "is nested too deeply or has too many values");
    const std::string& tag = node.Tag();
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(line, path, fmt::format("has the tag {}; tags have no meaning here", tag));
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return walk_map(node, path, depth);
      case YAML::NodeType::Sequence:
        for (std::size_t i = 0; i < node.size(); ++i)
          walk(node[i], fmt::format("{}[{}]", path, i), depth + 1);
        return;
      case YAML::NodeType::Scalar:
        settings.push_back({path, node.Scalar(), line});
        return;
      default:
        if (!path.empty()) settings.push_back({path, "", line});
    }
  }
  std::vector<Setting> settings;

 private:
  void walk_map(const YAML::Node& node, const std::string& path, unsigned depth) {
    for (const auto& pair : node) {
      const YAML::Node &key = pair.first, &value = pair.second;
      const int line = key.Mark().line + 1;
      if (!key.IsScalar() || key.Scalar().empty()) refuse(line, path, "has a key that is no word");
      const std::string full = path.empty() ? key.Scalar() : path + "." + key.Scalar();
      const auto [at, is_new] = lines_.emplace(full, line);
      if (!is_new)
        refuse(line, full, fmt::format("stands there twice, first in line {}", at->second));
      walk(value, full, depth + 1);
    }
  }
  [[noreturn]] void refuse(int line, const std::string& path, const std::string& problem) const {
    throw ScenarioError(
        {fmt::format("{}:{}: {}: {}", file_, line, path.empty() ? "(top)" : path, problem)});
  }
  const std::string& file_;
  std::map<std::string, int> lines_;
};
}  // namespace

ScenarioError::ScenarioError(const std::vector<std::string>& lines)
    : std::runtime_error(joined(lines)) {}

std::vector<Setting> read_yaml(const std::string& text, const std::string& file) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) throw ScenarioError({file + ": more than one document"});
    Flattener flattener(file);
    if (documents.empty()) return {};
    if (documents[0].IsScalar() || documents[0].IsSequence())
      throw ScenarioError({file + ":1: is no map of keys and values"});
    flattener.walk(documents[0], "", 0);
    return flattener.settings;
  } catch (const YAML::Exception& error) {
    throw ScenarioError({fmt::format("{}:{}: {}", file, error.mark.line + 1, error.msg)});
  }
}

std::vector<Setting> read_yaml_file(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw ScenarioError({file + ": cannot be read"});
  return read_yaml(text.str(), file);
}
}  // namespace hca::testbench
