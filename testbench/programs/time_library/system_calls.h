// SPDX-License-Identifier: Apache-2.0
// System calls that programs execute by number.
#pragma once
#include <array>

#include "model/proto/types.h"

namespace hca::time_library {
using CallArguments = std::array<long, 6>;
// True if simulated time changes the behaviour of the call.
bool is_timed(long number);
// Executes such a call; returns its result, with errno.
long timed_call(long number, const CallArguments& arguments);

// futex(): a waiter gives up its turn.
long timed_futex(const CallArguments& arguments);
void forget_futexes();  // in a child process
}  // namespace hca::time_library
