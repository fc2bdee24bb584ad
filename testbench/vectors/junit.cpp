// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/junit.h"

#include <fmt/format.h>

#include <map>

namespace hca::testbench {
namespace {
std::string xml_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= ' ') out += c;
    }
  }
  return out;
}
}  // namespace

std::string junit_of(const std::vector<JunitCase>& cases) {
  std::map<std::string, std::vector<const JunitCase*>> suites;
  for (const JunitCase& c : cases) suites[c.suite].push_back(&c);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [suite, members] : suites) {
    std::size_t failures = 0, errors = 0;
    for (const JunitCase* c : members)
      errors += !c->error.empty(), failures += c->error.empty() && !c->failure.empty();
    text += fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                        xml_escaped(suite), members.size(), failures, errors);
    for (const JunitCase* c : members) {
      text += fmt::format("<testcase classname=\"{}\" name=\"{}\"", xml_escaped(suite),
                          xml_escaped(c->name));
      if (!c->error.empty())
        text += fmt::format("><error>{}</error></testcase>\n", xml_escaped(c->error));
      else if (!c->failure.empty())
        text += fmt::format("><failure>{}</failure></testcase>\n", xml_escaped(c->failure));
      else
        text += "/>\n";
    }
    text += "</testsuite>\n";
  }
  return text + "</testsuites>\n";
}
}  // namespace hca::testbench
