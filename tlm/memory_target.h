// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <systemc>

#include "tlm/host_memory.h"

namespace hca::tlm_ {
// The TLM side of a host memory: moves the bytes of a DMA at once and adds no delay, since the HCA
// calls in the cycle in which its request reaches memory. What reaches beyond the memory gets
// TLM_ADDRESS_ERROR_RESPONSE, what cannot be read TLM_GENERIC_ERROR_RESPONSE. Several HCAs may
// share one.
class MemoryTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<MemoryTarget> dma_target;

  MemoryTarget(sc_core::sc_module_name name, HostMemory& memory);
  u64 transactions() const { return transactions_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status move(tlm::tlm_generic_payload& payload);

  HostMemory& memory_;
  u64 transactions_ = 0;
};
}  // namespace hca::tlm_
