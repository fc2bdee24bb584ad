// SPDX-License-Identifier: Apache-2.0
// hca compare: two results side by side.
#include "testbench/run/compare.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "testbench/cli/commands.h"

namespace hca::cli {
namespace {
struct CompareArguments {
  std::string a, b;
};
}  // namespace

void add_compare(CLI::App& command, int& exit_code) {
  auto options = std::make_shared<CompareArguments>();
  command.add_option("a", options->a, "folder of --out, or its summary.json")->required();
  command.add_option("b", options->b, "the other one")->required();
  command.callback([options, &exit_code] {
    const std::string text = testbench::compared(testbench::read_summary(options->a),
                                                 testbench::read_summary(options->b));
    std::fputs(text.c_str(), stdout);
    exit_code = kSucceeded;
  });
}
}  // namespace hca::cli
