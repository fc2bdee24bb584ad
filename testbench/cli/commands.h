// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <CLI/CLI.hpp>

namespace hca::cli {
// Exit codes of every subcommand.
enum ExitCode : int { kSucceeded = 0, kCheckFailed = 1, kBadInput = 2 };

// Each function adds the options of its command; when the command is chosen, it stores its exit
// code in `exit_code`. One file each, of that name; main.cpp has the table of all.
void add_calibrate(CLI::App& command, int& exit_code);
void add_compare(CLI::App& command, int& exit_code);
void add_config(CLI::App& command, int& exit_code);
void add_decode(CLI::App& command, int& exit_code);
void add_docs(CLI::App& command, int& exit_code);
void add_faults(CLI::App& command, int& exit_code);
void add_replay(CLI::App& command, int& exit_code);
void add_run(CLI::App& command, int& exit_code);
void add_serve(CLI::App& command, int& exit_code);
void add_sweep(CLI::App& command, int& exit_code);
void add_vectors(CLI::App& command, int& exit_code);
void add_rtl(CLI::App& command, int& exit_code);
}  // namespace hca::cli
