// SPDX-License-Identifier: Apache-2.0
#include <model/hca.h>

#include <cstring>

static_assert(SC_CPLUSPLUS == 201703L, "the exported target carries the define");

// A platform of one HCA whose wire leads back to itself, a memory of zeros, and a processor that
// does nothing.
struct Platform : sc_core::sc_module {
  hca::Hca hca;
  tlm_utils::simple_initiator_socket<Platform> processor{"processor"};
  tlm_utils::simple_target_socket<Platform> memory{"memory"};

  explicit Platform(const sc_core::sc_module_name& name)
      : sc_module(name), hca("hca", {}, std::make_unique<hca::blocks::FixedHostTiming>(100)) {
    processor.bind(hca.mmio_target);
    hca.dma_initiator.bind(memory);
    hca.wire_initiator.bind(hca.wire_target);
    memory.register_b_transport(this, &Platform::access);
  }
  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    if (payload.is_read()) std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

int sc_main(int, char**) {
  Platform platform("platform");
  sc_core::sc_start(1, sc_core::SC_US);
  const bool ended_in_time = sc_core::sc_time_stamp() == sc_core::sc_time(1, sc_core::SC_US);
  return ended_in_time && !platform.hca.blocks().empty() ? 0 : 1;
}
