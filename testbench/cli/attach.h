// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hca::cli {
// hca run --attach SOCKET -- PROGRAM ARGS
struct AttachArguments {
  std::string socket, device, time = "sim", library = "preload";
  std::vector<std::string> arguments;  // of the program
};
void add_attach_options(CLI::App& command, AttachArguments& options);
// Becomes the program, with the verbs library in front of the system's: it comes back only when
// the program cannot be started.
int run_attached(const std::string& program, const AttachArguments& options);
}  // namespace hca::cli
