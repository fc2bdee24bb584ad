// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <systemc>

namespace hca::testbench {
// A separate SystemC kernel for the lifetime of this object: a process can elaborate several
// designs in sequence. The kernel made by static initialisation is parked, never deleted: static
// events of the library point into it.
class FreshKernel {
 public:
  FreshKernel() {
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
  }
  ~FreshKernel() {
    // Overridden notifications stay in the kernel's queue until their time and would leak with it.
    // Their owners no longer exist.
    if (sc_core::sc_get_status() == sc_core::SC_PAUSED && sc_core::sc_pending_activity())
      sc_core::sc_start();
    delete sc_core::sc_curr_simcontext;
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = parked_;
  }
  FreshKernel(const FreshKernel&) = delete;

 private:
  sc_core::sc_simcontext* parked_ = sc_core::sc_get_curr_simcontext();
};
}  // namespace hca::testbench
