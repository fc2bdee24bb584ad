// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hca::testbench {
struct JunitCase {
  std::string suite, name;
  std::string failure;                            // empty: it passed
  std::string error{};                            // not empty: it could not be run
  std::vector<std::string> statements{}, ibta{};  // as properties
};
// The cases as JUnit XML, for continuous integration systems.
std::string junit_of(const std::vector<JunitCase>& cases);
}  // namespace hca::testbench
