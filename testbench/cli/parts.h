// SPDX-License-Identifier: Apache-2.0
// Parts of the program that a build may leave out, and what builds them when they are first used.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "testbench/text/missing_part.h"

namespace hca::cli {
// In the place of add_<command>(): whatever stands behind the command is left to the program with
// the part.
void leave_to_part(CLI::App& command, const std::string& part);
// Says so in one line, builds the part in the folder that this program was built in, and starts it
// again with the same arguments. It comes back, with an exit code, only when that cannot be done.
int build_and_start_again(const testbench::MissingPart& missing, char** arguments);
// Throws MissingPart("page") if this build has no page of a report and none was tried to be built.
void want_page(std::string_view page);
}  // namespace hca::cli
