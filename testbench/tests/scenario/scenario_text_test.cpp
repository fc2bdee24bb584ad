// SPDX-License-Identifier: Apache-2.0
// Text that is no scenario: each error is "file:line: key: what; allowed: ...".
#include <array>
#include <catch2/catch.hpp>

#include "testbench/scenario/scenario.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
using namespace std::string_literals;

struct BadText {
  std::string text, error;  // `error`: how it begins
};

}  // namespace

TEST_CASE("each kind of wrong scenario text is told with line, key and what is allowed",
          "[scenario]") {
  const std::array bad{
      // Brackets are no part of a key.
      BadText{"workload[4000000000]: 1\n", "s.yaml:1: workload[4000000000]: is a key that is no"},
      BadText{"\nworkload[x]: 1\n", "s.yaml:2: workload[x]: is a key that is no word"},
      BadText{"workload[0].depth: 1\n", "s.yaml:1: workload[0].depth: is a key that is no word"},
      BadText{"run: {a b: 1}\n", "s.yaml:1: run.a b: is a key that is no word"},
      BadText{"run..seed: 1\n", "s.yaml:1: run..seed: is a key that is no word"},
      BadText{"\"a\\x07b\": 1\n", "s.yaml:1: a\\x07b: is a key that is no word"},
      // Bytes that are no text. The YAML library ends at 04 without a word.
      BadText{"run.seed: 1\n\x04garbage", "s.yaml:2: (top): holds the byte 0x04, which is a con"},
      BadText{"\0\0x"s, "s.yaml:1: (top): holds the byte 0x00, which is a control character"},
      BadText{"\xFF\xFE\x01", "s.yaml:1: (top): holds the byte 0xff, which is no UTF-8"},
      BadText{"# \xC0\x80\n", "s.yaml:1: (top): holds the byte 0xc0, which is no UTF-8"},
      BadText{"a: \xE2\x82", "s.yaml:1: (top): holds the byte 0xe2, which is no UTF-8"},
      BadText{"# \xED\xA0\x80", "s.yaml:1: (top): holds the byte 0xed, which is no UTF-8"},
      // Empty things.
      BadText{"workload: []\n", "s.yaml:1: workload: is empty; allowed: one entry or more"},
      BadText{"workload: {}\n", "s.yaml:1: workload: is no entry of a list"},
      BadText{"workload:\n", "s.yaml:1: workload: is no entry of a list"},
      BadText{"workload: {depth: 1}\n", "s.yaml:1: workload.depth: is no entry of a list"},
      BadText{"workload: [{}]\n", "s.yaml:1: workload[0]: is no map of keys; allowed: operation"},
      BadText{"workload: [[1]]\n", "s.yaml:1: workload[0][0]: is no map of keys"},
      BadText{"workload:\n  - \n", "s.yaml:2: workload[0]: is no map of keys"},
      BadText{"faults: {}\n", "s.yaml:1: faults: is no entry of a list"},
      BadText{"pcie: {}\n", "s.yaml:1: pcie: is a group of keys; allowed: pcie.generation, "},
      BadText{"pcie.lanes: {}\n", "s.yaml:1: pcie.lanes: \"{}\" is not a number"},
      BadText{"{}\n", "s.yaml:1: (top): is no map of keys and values"},
      BadText{"~\n", "s.yaml:1: (top): is no map of keys and values"},
      BadText{"word\n", "s.yaml:1: (top): is no map of keys and values"},
      BadText{"run.seed: 1\n---\nrun.seed: 2\n", "s.yaml:3: (top): more than one document"},
      // In which the YAML library finds documents without end.
      BadText{"{run.seed: 1}\n, run.seed\n", "s.yaml:2: (top): more than one document"},
      BadText{"run.seed: |\n  1\n  2\n", "s.yaml:1: run.seed: has a value of several lines"},
      // What does nothing.
      BadText{"faults:\n  - psn: 3\n    action: delay\n",
              "s.yaml:3: faults[0].action: is delay, without a delay"},
      // What the YAML library does not understand.
      BadText{"run.seed: \"12\n", "s.yaml:1: (top): column 14 has a quote without its end"},
      BadText{"\nrun.seed: '12\n\n", "s.yaml:2: (top): column 14 has a quote without its end"},
      BadText{"run.seed: 1\nrun.jobs: \"1", "s.yaml:2: (top): column 13 has a quote without its"},
      BadText{"a: [1, 2\nb: }\n", "s.yaml:2: (top): column "},
      BadText{"run: {seed: 1\n", "s.yaml:2: (top): column 1 has a \"{\" without its \"}\""},
      BadText{"run: [\n", "s.yaml:2: (top): column 1 has a \"[\" without its \"]\""},
      BadText{"a: b: c\n", "s.yaml:1: (top): column 5 has a second \": \""},
      BadText{"a: *b\n", "s.yaml:1: (top): column 4 has a \"*\" and a name that no \"&\" gives"},
      BadText{"a: \"\\q\"\n", "s.yaml:1: (top): column "},
      BadText{"a:\n\t- b\n", "s.yaml:2: (top): column "},
  };
  for (const BadText& b : bad) {
    INFO(b.text);
    const std::string error = error_of(b.text);
    CHECK(error.substr(0, b.error.size()) == b.error);
    CHECK(error.find("; allowed: ") != error.npos);
    CHECK(error.find('\n') == error.npos);
  }
}

TEST_CASE("text without content, and an empty fault list, are scenarios", "[scenario]") {
  for (const char* text : {"", "\n", "# nothing\n", "---\n# nothing\n", "\xEF\xBB\xBF# mark\n",
                           "faults: []\n", "run: {seed: 1}  # \xC3\xA9 \xE2\x82\xAC\n"}) {
    INFO(text);
    CHECK(error_of(text) == "(none)");
  }
}
}  // namespace hca::testbench
