// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <systemc>

#include "model/proto/types.h"

namespace hca::testbench {
// The kernel's time, whatever its resolution.
inline u64 kernel_picoseconds() {
  return sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}
}  // namespace hca::testbench
