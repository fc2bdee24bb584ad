// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/json_line.h"

#include <fmt/format.h>

#include <string>

namespace hca::testbench {
namespace {
// Walks over a text that is known to be JSON.
class Walk {
 public:
  Walk(std::string_view text, std::string_view path) : text_(text), path_(path) {}
  u64 run() {
    value("");
    return found_;
  }

 private:
  char next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) take();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char take() {
    line_ += text_[at_] == '\n';
    return text_[at_++];
  }
  std::string_view string() {
    const std::size_t from = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return text_.substr(from, at_++ - from);
  }
  // True: the path is this one or lies below it.
  bool leads_to(std::string_view here) const {
    const std::string_view rest = path_.substr(std::min(here.size(), path_.size()));
    return path_.starts_with(here) &&
           (here.empty() || rest.empty() || rest[0] == '.' || rest[0] == '[');
  }
  void value(const std::string& here) {
    const char first = next();
    if (leads_to(here)) found_ = line_;
    if (first == '{' || first == '[') return entries(here, first == '{');
    if (first == '"') return void(string());
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == text_.npos)
      ++at_;
  }
  void entries(const std::string& here, bool named) {
    take();
    for (u64 i = 0; next() != (named ? '}' : ']') && at_ < text_.size(); ++i) {
      if (named) {
        const std::string name(string());
        next(), take();  // the colon
        value(here.empty() ? name : fmt::format("{}.{}", here, name));
      } else {
        value(fmt::format("{}[{}]", here, i));
      }
      if (next() == ',') take();
    }
    if (at_ < text_.size()) take();
  }
  std::string_view text_, path_;
  std::size_t at_ = 0;
  u64 line_ = 1, found_ = 1;
};
}  // namespace

u64 line_of_json(std::string_view text, std::string_view path) { return Walk(text, path).run(); }
}  // namespace hca::testbench
