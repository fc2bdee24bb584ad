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
  std::vector<std::string> arguments;  // for the program
};
void add_attach_options(CLI::App& command, AttachArguments& options);
// Runs the program with the verbs library loaded before the system's; returns its exit code. Throws
// std::runtime_error if it cannot be started or cannot load the library.
int run_attached(const std::string& program, const AttachArguments& options);
}  // namespace hca::cli
