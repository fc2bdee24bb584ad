// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hca::testbench {
// A place in a text, as "line 3: what is wrong".
struct TextMistake {
  int line;  // from 1
  std::string problem;
};

// The first byte of a text that no scenario holds: control characters and what is no UTF-8.
std::optional<TextMistake> first_bad_byte(std::string_view text);
// Whether anything but blanks, comments and document markers stands in a text.
bool has_content(std::string_view text);
// Whether a key is words of letters, digits and underscores with dots between them.
bool is_key(std::string_view text);
// What a message of the YAML library means for its reader.
std::string_view sentence_of_yaml_error(std::string_view message);
}  // namespace hca::testbench
