// SPDX-License-Identifier: Apache-2.0
#include "tlm/host_memory/memory_target.h"

namespace hca::tlm_ {
MemoryTarget::MemoryTarget(sc_core::sc_module_name name, HostMemory& memory)
    : sc_module(name), dma_target("dma_target"), memory_(memory) {
  dma_target.serve(this);
  dma_target.register_transport_dbg(this, &MemoryTarget::transport_dbg);
}

[[gnu::hot]] void MemoryTarget::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  ++transactions_;
  const u64 address = payload.get_address(), bytes = payload.get_data_length();
  u8* const data = payload.get_data_ptr();
  if (payload.get_byte_enable_ptr() || payload.get_streaming_width() < bytes) [[unlikely]]
    return payload.set_response_status(move(payload));
  const auto* const access = payload.get_extension<AccessExtension>();
  if (access && access->bytes > bytes)
    return payload.set_response_status(move_first(payload, access->bytes));
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_read()) {
    if (const u8* from = memory_.to_read(address, bytes)) [[likely]]
      return HostMemory::copy(data, from, bytes);
  } else if (payload.is_write()) {
    if (u8* to = memory_.to_write(address, bytes)) [[likely]]
      return HostMemory::copy(to, data, bytes);
  }
  payload.set_response_status(move(payload));
}

unsigned MemoryTarget::transport_dbg(tlm::tlm_generic_payload& payload) {
  payload.set_response_status(move(payload));
  return payload.is_response_ok() ? payload.get_data_length() : 0;
}

[[gnu::noinline]] tlm::tlm_response_status MemoryTarget::move(tlm::tlm_generic_payload& payload) {
  const u64 address = payload.get_address(), bytes = payload.get_data_length();
  if (!HostMemory::holds(address, bytes)) return move_beyond(payload);
  if (payload.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.is_read() && !memory_.is_readable(address, bytes))
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (payload.is_write() && !memory_.is_writable(address, bytes))
    return tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (payload.is_read())
    memory_.read(address, payload.get_data_ptr(), bytes);
  else if (payload.is_write())
    memory_.write(address, payload.get_data_ptr(), bytes);
  return tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status MemoryTarget::move_first(tlm::tlm_generic_payload& payload, u64 bytes) {
  const u64 address = payload.get_address(), moved = payload.get_data_length();
  if (!HostMemory::holds(address, bytes)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.is_read()) {
    if (!memory_.is_readable(address, bytes)) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    memory_.read(address, payload.get_data_ptr(), moved);
  } else if (payload.is_write()) {
    if (!memory_.is_writable(address, bytes)) return tlm::TLM_GENERIC_ERROR_RESPONSE;
    memory_.write_first(address, {payload.get_data_ptr(), moved}, bytes);
  }
  return tlm::TLM_OK_RESPONSE;
}

[[gnu::noinline]] tlm::tlm_response_status MemoryTarget::move_beyond(
    const tlm::tlm_generic_payload& payload) {
  if (!beyond) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const u64 address = payload.get_address(), bytes = payload.get_data_length();
  u8* const data = payload.get_data_ptr();
  const bool moved =
      payload.is_read() ? beyond->read(address, data, bytes) : beyond->write(address, data, bytes);
  return moved ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
}
}  // namespace hca::tlm_
