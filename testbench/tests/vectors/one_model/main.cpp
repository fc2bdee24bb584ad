// SPDX-License-Identifier: Apache-2.0
// Vectors on one model alone, for the loop of editing: what a change reaches is compiled, not both
// models and the program hca.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "testbench/tests/vectors/one_model/one_model.h"
#include "testbench/vectors/run.h"

namespace hca::test {
using namespace testbench;
namespace {
// In the order of their paths.
std::vector<std::string> vectors_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}
}  // namespace

int run_vectors(int argc, char** argv) try {
  const ReplayRunner runner = the_runner();
  unsigned run = 0, failed = 0;
  for (int i = 1; i < argc; ++i)
    for (const std::string& path : vectors_in(argv[i])) {
      const VectorResult result = run_vector(load_vector(path), runner);
      ++run;
      if (result.passed()) continue;
      ++failed;
      std::printf("%s: %s: %s\n", path.c_str(), result.failure->where.c_str(),
                  result.failure->what.c_str());
    }
  std::printf("%u vectors on the model %s, %u failed\n", run, std::string(runner.name).c_str(),
              failed);
  return run && !failed ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
  return 2;
}
}  // namespace hca::test
