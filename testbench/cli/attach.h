// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hca::cli {
// hca run --attach SOCKET -- PROGRAM ARGS
struct AttachArguments {
  std::string socket, device, time = "sim", library = "preload";
  double wait = 0, timeout = 0;  // seconds
  bool strict_time = false;
  std::vector<std::string> arguments;  // of the program
};
void add_attach_options(CLI::App& command, AttachArguments& options);
// Runs the program with the verbs library in front of the system's: its exit code. Throws
// std::runtime_error: it cannot be started, or cannot load the library.
int run_attached(const std::string& program, const AttachArguments& options);
}  // namespace hca::cli
