// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/scenario/traffic.h"

namespace hca::testbench {
// How long the server's program works on message k of a queue pair, ps: fixed, exponential with its
// mean, or one of a weighted list, by the seed alone. Only integers, as in minus_log().
u64 service_time(const Traffic& traffic, u32 qp, u64 k);
}  // namespace hca::testbench
