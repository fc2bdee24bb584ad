// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>

#include <span>

#include "testbench/tests/programs/time_library/turns/rows.h"

namespace hca::explored {
std::span<const CallRow> call_rows();
// Creates all objects anew. `time_waits`: the thread that calls tell() is in simulated time and
// keeps its turns. `early`: the waiters are in simulated time from their beginning.
void set_up_calls(unsigned waiters, bool time_waits, bool early);
pthread_t& teller();
}  // namespace hca::explored
