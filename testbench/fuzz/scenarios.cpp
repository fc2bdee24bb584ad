// SPDX-License-Identifier: Apache-2.0
// The text of a scenario: it is refused in words, or it is one.
#include <cstddef>
#include <stdexcept>
#include <string>

#include "testbench/scenario/scenario.h"
#include "testbench/scenario/scenario_file.h"

using namespace hca;
using namespace hca::testbench;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  try {
    parse_scenario({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  } catch (const std::runtime_error&) {
  }
  return 0;
}
