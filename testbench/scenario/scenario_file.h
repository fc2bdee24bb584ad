// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// One value of a YAML file: where it stands in the tree and in the text. "a.b[2].c" is key c of the
// third entry of the list b of the map a. The text of an empty map is "{}", of an empty list "[]".
struct Setting {
  std::string path, text;
  int line = 0;            // from 1
  bool overrides = false;  // it was given beside the text
  bool of_preset = false;  // the text of a preset has it
};

// All that is wrong with a scenario, one sentence a line, each "file:line: key: ...".
struct ScenarioError : std::runtime_error {
  explicit ScenarioError(const std::vector<std::string>& lines);
};

// The values of one YAML document in the order of the text; maps and lists disappear into paths.
// Takes what is written: no type is guessed. Duplicate keys, tags, keys that are no words, several
// documents, bytes that are no text and files that cannot be read throw ScenarioError. A text of
// blanks and comments alone has no values.
std::vector<Setting> read_yaml(const std::string& text, const std::string& file);
std::vector<Setting> read_yaml_file(const std::string& file);
// "key=value". Throws ScenarioError for anything else.
Setting setting_of(const std::string& text);
}  // namespace hca::testbench
