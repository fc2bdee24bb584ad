// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ctime>

namespace hca::bench {
// Processor time of this process: other users of a shared machine are not counted.
inline double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}
}  // namespace hca::bench
