// SPDX-License-Identifier: Apache-2.0
// System calls that programs make by number.
#pragma once
#include <array>

#include "model/proto/types.h"

namespace hca::time_library {
using CallArguments = std::array<long, 6>;
// Whether simulated time changes what the call does.
bool is_timed(long number);
// What such a call returns, with errno.
long timed_call(long number, const CallArguments& arguments);

// futex(): who waits gives its turn up.
long timed_futex(const CallArguments& arguments);
void forget_futexes();  // in a child
}  // namespace hca::time_library
