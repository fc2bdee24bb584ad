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

std::string properties_of(const JunitCase& c) {
  std::string text;
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values)
      text += fmt::format("<property name=\"{}\" value=\"{}\"/>", name, xml_escaped(value));
  };
  add("statement", c.statements);
  add("ibta", c.ibta);
  return text.empty() ? text : "<properties>" + text + "</properties>";
}

std::string text_of(const JunitCase& c) {
  std::string inside = properties_of(c);
  if (!c.error.empty())
    inside += fmt::format("<error>{}</error>", xml_escaped(c.error));
  else if (!c.failure.empty())
    inside += fmt::format("<failure>{}</failure>", xml_escaped(c.failure));
  const std::string head = fmt::format("<testcase classname=\"{}\" name=\"{}\"",
                                       xml_escaped(c.suite), xml_escaped(c.name));
  return inside.empty() ? head + "/>\n" : head + ">" + inside + "</testcase>\n";
}
}  // namespace

std::string junit_of(const std::vector<JunitCase>& cases) {
  std::map<std::string, std::vector<const JunitCase*>> suites;
  for (const JunitCase& c : cases) suites[c.suite].push_back(&c);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const auto& [suite, members] : suites) {
    std::size_t failures = 0, errors = 0;
    for (const JunitCase* c : members) {
      errors += !c->error.empty();
      failures += c->error.empty() && !c->failure.empty();
    }
    text += fmt::format("<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                        xml_escaped(suite), members.size(), failures, errors);
    for (const JunitCase* c : members) {
      text += text_of(*c);
    }
    text += "</testsuite>\n";
  }
  return text + "</testsuites>\n";
}
}  // namespace hca::testbench
