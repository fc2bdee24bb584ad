// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <systemc>

#include "model/systemc/access_extension.h"
#include "model/systemc/direct_socket.h"
#include "tlm/host_memory/host_memory.h"

namespace hca::tlm_ {
// The memory that an HCA reaches at addresses beyond the host memory. False: the bytes cannot be
// moved.
class MemoryBeyond {
 public:
  virtual ~MemoryBeyond() = default;
  virtual bool read(u64 address, u8* to, u64 bytes) = 0;
  virtual bool write(u64 address, const u8* from, u64 bytes) = 0;
};

// The TLM side of a host memory: moves the bytes of a DMA at once and adds no delay, because the
// HCA calls in the cycle in which its request reaches memory. A request beyond the memory gets
// TLM_ADDRESS_ERROR_RESPONSE, an unreadable or unwritable one TLM_GENERIC_ERROR_RESPONSE. Several HCAs may share
// one target. Of an access with an AccessExtension the first bytes move; all of them are judged,
// and watchers are told of all of them.
class MemoryTarget : public sc_core::sc_module {
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

 public:
  DirectTargetSocket<MemoryTarget, &MemoryTarget::b_transport> dma_target;

  MemoryTarget(sc_core::sc_module_name name, HostMemory& memory);
  u64 transactions() const { return transactions_; }
  MemoryBeyond* beyond = nullptr;  // nullptr: addresses beyond the memory are errors

 private:
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status move(tlm::tlm_generic_payload& payload);
  // `bytes`: of the whole access.
  tlm::tlm_response_status move_first(tlm::tlm_generic_payload& payload, u64 bytes);
  tlm::tlm_response_status move_beyond(const tlm::tlm_generic_payload& payload);

  HostMemory& memory_;
  u64 transactions_ = 0;
};
}  // namespace hca::tlm_
