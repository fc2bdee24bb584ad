// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/report_page.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "testbench/text/text_file.h"

namespace hca::testbench {
std::string page_with(std::string_view page, const nlohmann::json& data) {
  constexpr std::string_view kPlace = "@DATA@";
  const std::size_t at = page.find(kPlace);
  if (at == page.npos) throw std::runtime_error("the page has no place for its data");
  std::string text(page.substr(0, at));
  for (const char c : data.dump(-1, ' ', true))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text.append(page.substr(at + kPlace.size()));
}

void write_page(const std::string& path, std::string_view page, const nlohmann::json& data) {
  if (!page.empty()) return write_text_file(path, page_with(page, data));
  std::fprintf(stderr, "%s is not written: this program was built without the page\n",
               path.c_str());
}
}  // namespace hca::testbench
