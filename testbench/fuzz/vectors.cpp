// SPDX-License-Identifier: Apache-2.0
// The text of a vector: it is refused in words, or run on the functional model.
#include <cstddef>
#include <stdexcept>
#include <string>

#include "testbench/vectors/format.h"
#include "testbench/vectors/run.h"

using namespace hca;
using namespace hca::testbench;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  Vector v;
  try {
    v.document = parse_json({reinterpret_cast<const char*>(data), size});
    const JsonAt top(v.document);
    if (!v.document.is_object()) return 0;
    check_vector(top);
  } catch (const std::runtime_error&) {
    return 0;
  }
  run_vector(v, vector_runners()[0]);
  return 0;
}
