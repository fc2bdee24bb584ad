// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/scenario_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "testbench/text/shortened.h"
#include "testbench/text/text_file.h"
#include "testbench/text/yaml_text.h"

namespace hca::testbench {
namespace {
constexpr unsigned kMaxDepth = 16;
constexpr std::size_t kMaxSettings = 20'000;

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "\n") + line;
  return all;
}

[[noreturn]] void refuse(const std::string& file, int line, std::string_view key,
                         std::string_view problem) {
  throw ScenarioError({fmt::format("{}:{}: {}: {}", file, std::max(line, 1),
                                   key.empty() ? "(top)" : key, problem)});
}

class Flattener {
 public:
  explicit Flattener(const std::string& file) : file_(file) {}
  // `above`: the line of the key or list, for a value that is not there.
  void walk(const YAML::Node& node, const std::string& path, unsigned depth, int above) {
    const int line = node.IsNull() ? above : node.Mark().line + 1;
    if (depth > kMaxDepth || settings.size() >= kMaxSettings)
      refuse(file_, line, path,
             fmt::format("is nested too deeply or has too many values; allowed: {} levels, {} "
                         "values",
                         kMaxDepth, kMaxSettings));
    const std::string& tag = node.Tag();
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(file_, line, path, fmt::format("has the tag {}; allowed: no tag", shortened(tag)));
    switch (node.Type()) {
      case YAML::NodeType::Map:
        if (!node.size()) return add(path, "{}", line);
        return walk_map(node, path, depth);
      case YAML::NodeType::Sequence:
        if (!node.size()) return add(path, "[]", line);
        for (std::size_t i = 0; i < node.size(); ++i)
          walk(node[i], fmt::format("{}[{}]", path, i), depth + 1, line);
        return;
      case YAML::NodeType::Scalar:
        return add(path, node.Scalar(), line);
      default:
        return add(path, "", line);
    }
  }
  std::vector<Setting> settings;

 private:
  void add(const std::string& path, const std::string& text, int line) {
    for (const char c : text)
      if (u8(c) < 0x20)
        refuse(file_, line, path,
               "has a value of several lines or with control characters; "
               "allowed: one line");
    settings.push_back({path, text, line});
  }
  void walk_map(const YAML::Node& node, const std::string& path, unsigned depth) {
    for (const auto& pair : node) {
      const YAML::Node &key = pair.first, &value = pair.second;
      const int line = key.Mark().line + 1;
      if (!key.IsScalar())
        refuse(file_, line, path, std::string("has a key that is no word") + kKeys);
      if (!is_key(key.Scalar()))
        refuse(file_, line, (path.empty() ? "" : path + ".") + shortened(key.Scalar()),
               std::string("is a key that is no word") + kKeys);
      const std::string full = path.empty() ? key.Scalar() : path + "." + key.Scalar();
      const auto [at, is_new] = lines_.emplace(full, line);
      if (!is_new)
        refuse(file_, line, full,
               fmt::format("occurs twice, first in line {}; allowed: once", at->second));
      walk(value, full, depth + 1, line);
    }
  }
  static constexpr const char* kKeys = "; allowed: letters, digits and _, with dots between words";
  const std::string& file_;
  std::map<std::string, int> lines_;
};

constexpr const char* kAllowedText = "; allowed: lines of \"key: value\" as YAML has them";

// The positions of the roots of its documents, at most of the first two: the library finds endless
// documents in some texts.
class Documents : public YAML::EventHandler {
 public:
  explicit Documents(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (roots.size() < 2 && parser.HandleNextDocument(*this)) {
    }
  }
  std::vector<YAML::Mark> roots;

 private:
  void OnDocumentStart(const YAML::Mark& mark) override {
    roots.push_back(mark);
    begins_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    see(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnMapEnd() override {}
  void see(const YAML::Mark& mark) {
    if (std::exchange(begins_, false)) roots.back() = mark;
  }
  bool begins_ = false;
};
}  // namespace

ScenarioError::ScenarioError(const std::vector<std::string>& lines)
    : std::runtime_error(joined(lines)) {}

std::vector<Setting> read_yaml(const std::string& text, const std::string& file) {
  if (const auto bad = first_bad_byte(text))
    refuse(file, bad->line, "", bad->problem + "; allowed: UTF-8 text");
  if (!has_content(text)) return {};
  try {
    const std::vector<YAML::Mark> roots = Documents(text).roots;
    // Behind the last line break the library takes an open quote for a closed one.
    const Documents without_breaks(text.substr(0, text.find_last_not_of(" \r\n") + 1));
    if (roots.size() > 1)
      refuse(file, roots[1].line + 1, "", "more than one document; allowed: one");
    const YAML::Node document = YAML::Load(text);
    if (!document.IsMap() || !document.size())
      refuse(file, roots.empty() ? 1 : roots[0].line + 1, "",
             std::string("is no map of keys and values") + kAllowedText);
    Flattener flattener(file);
    flattener.walk(document, "", 0, 1);
    return flattener.settings;
  } catch (const YAML::Exception& error) {
    refuse(file, error.mark.line + 1, "",
           fmt::format("column {} has {}{}", error.mark.column + 1,
                       sentence_of_yaml_error(error.msg), kAllowedText));
  }
}

std::vector<Setting> read_yaml_file(const std::string& file) {
  const std::optional<std::string> text = read_text_file(file);
  if (!text) throw ScenarioError({file + ": cannot be read; allowed: a text file"});
  return read_yaml(*text, file);
}
}  // namespace hca::testbench
