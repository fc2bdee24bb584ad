// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the test cases that `argv` selects; the exit code of the program.
int run_catch_session(int argc, char** argv);
