// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace hca::testbench {
// A mistake in a text, printed as "line 3: what is wrong".
struct TextMistake {
  int line;  // from 1
  std::string problem;
};

// The first byte that a scenario must not contain: a control character or invalid UTF-8.
std::optional<TextMistake> first_bad_byte(std::string_view text);
// True if a text contains more than blanks, comments and document markers.
bool has_content(std::string_view text);
// True if a key consists of words of letters, digits and underscores, joined by dots.
bool is_key(std::string_view text);
// The user's explanation of an error message of the YAML library.
std::string_view sentence_of_yaml_error(std::string_view message);
}  // namespace hca::testbench
