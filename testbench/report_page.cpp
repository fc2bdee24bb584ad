// SPDX-License-Identifier: Apache-2.0
#include "testbench/report_page.h"

#include <stdexcept>

namespace hca::testbench {
std::string page_with(std::string_view page, const nlohmann::json& run) {
  constexpr std::string_view kPlace = "@RUN@";
  const std::size_t at = page.find(kPlace);
  if (at == page.npos) throw std::runtime_error("the page has no place for the data of a run");
  std::string text(page.substr(0, at));
  for (const char c : run.dump(-1, ' ', true))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text.append(page.substr(at + kPlace.size()));
}
}  // namespace hca::testbench
