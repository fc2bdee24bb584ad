// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/catch_session.h"

int main(int argc, char** argv) { return run_catch_session(argc, argv); }
