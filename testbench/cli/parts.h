// SPDX-License-Identifier: Apache-2.0
// Optional parts of the program, built on first use.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "testbench/text/missing_part.h"

namespace hca::cli {
// Replaces add_<command>() in a build without the part: the arguments after the command are passed
// to the program with the part.
void leave_to_part(CLI::App& command, const std::string& part);
// Announces the build in one line, builds the part in the build folder of this program, and starts
// the program again with the same arguments. Returns only on failure, with an exit code.
int build_and_start_again(const testbench::MissingPart& missing, char** arguments);
// Throws MissingPart("page") if this build lacks the report page and has not tried to build it.
void want_page(std::string_view page);
}  // namespace hca::cli
