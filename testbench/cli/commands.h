// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace hca::cli {
// Exit codes of every subcommand.
enum ExitCode : int { kSucceeded = 0, kCheckFailed = 1, kBadInput = 2 };

// Each subcommand registers itself and, when chosen, leaves its exit code in `exit_code`. One file
// each, of that name.
void add_calibrate(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_decode(CLI::App& app, int& exit_code);
void add_docs(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_sweep(CLI::App& app, int& exit_code);
void add_vectors(CLI::App& app, int& exit_code);
void add_rtl(CLI::App& app, int& exit_code);  // with HCA_BUILD_RTL
}  // namespace hca::cli
