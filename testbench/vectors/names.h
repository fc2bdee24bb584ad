// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/json_at.h"

namespace hca::testbench {
// The names in a vector that need no set-up to be judged: verbs, events, completion statuses,
// errors, commands, states. Throws std::runtime_error "place: what; allowed: ...".
void check_names(const JsonAt& top);
}  // namespace hca::testbench
