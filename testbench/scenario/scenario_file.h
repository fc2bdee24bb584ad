// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// One value of a YAML file: its position in the tree and in the text. "a.b[2].c" is key c of the
// third entry of the list b of the map a. The text of an empty map is "{}", of an empty list "[]".
struct Setting {
  std::string path, text;
  int line = 0;            // from 1
  bool overrides = false;  // given on the command line
  bool of_preset = false;  // from the text of a preset
  std::string file{};      // of the line; empty: that of the scenario
};

// All mistakes of a scenario, one sentence a line, each "file:line: key: ...".
struct ScenarioError : std::runtime_error {
  explicit ScenarioError(const std::vector<std::string>& lines);
};

// The values of one YAML document in the order of the text; maps and lists become paths. Values are
// kept as text, without guessing a type. Throws ScenarioError for duplicate keys, tags, keys that
// are not words, several documents, bytes that are not text, and unreadable files. A text of only
// blanks and comments has no values.
std::vector<Setting> read_yaml(const std::string& text, const std::string& file);
std::vector<Setting> read_yaml_file(const std::string& file);
// "key=value". Throws ScenarioError for anything else.
Setting setting_of(const std::string& text);
}  // namespace hca::testbench
