// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

namespace hca {
using BlockingTransport = tlm::tlm_blocking_transport_if<>;

// An interface for binding whose b_transport is also a separate object. A call through virtual
// bases needs three dependent loads to find its target; a call through such an object needs one.
class HasBlockingTransport {
 public:
  virtual BlockingTransport& blocking_transport() = 0;

 protected:
  ~HasBlockingTransport() = default;
};
// The object that an initiator calls instead of its bound interface; valid from
// end_of_elaboration() on.
inline BlockingTransport* shortest_way(BlockingTransport* bound) {
  auto* const direct = dynamic_cast<HasBlockingTransport*>(bound);
  return direct ? &direct->blocking_transport() : bound;
}

// An initiator's proxy: b_transport goes directly to the module, all else through the utility
// socket.
template <class Transport>
class DirectTransport final : public tlm::tlm_fw_transport_if<>, public HasBlockingTransport {
  class Blocking final : public BlockingTransport {
   public:
    Transport transport;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
      transport(payload, delay);
    }
  };

 public:
  explicit DirectTransport(tlm::tlm_fw_transport_if<>& rest) : rest_(rest) {}
  void serve(const Transport& transport) { blocking_.transport = transport; }

  BlockingTransport& blocking_transport() override { return blocking_; }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    blocking_.transport(payload, delay);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return rest_.nb_transport_fw(payload, phase, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
    return rest_.get_direct_mem_ptr(payload, dmi);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
    return rest_.transport_dbg(payload);
  }

 private:
  Blocking blocking_;
  tlm::tlm_fw_transport_if<>& rest_;
};

// tlm_utils::simple_target_socket with a b_transport known at compile time, called directly.
template <class Module, void (Module::*kTransport)(tlm::tlm_generic_payload&, sc_core::sc_time&)>
class DirectTargetSocket : public tlm_utils::simple_target_socket<Module> {
  using Base = tlm_utils::simple_target_socket<Module>;
  struct Transport {
    Module* module = nullptr;
    void operator()(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) const {
      (module->*kTransport)(payload, delay);
    }
  };

 public:
  explicit DirectTargetSocket(const char* name) : Base(name) {}
  void serve(Module* module) {
    this->register_b_transport(module, kTransport);
    direct_.serve({module});
  }
  tlm::tlm_fw_transport_if<>& get_base_interface() override { return direct_; }
  const tlm::tlm_fw_transport_if<>& get_base_interface() const override { return direct_; }

 private:
  DirectTransport<Transport> direct_{Base::get_base_interface()};
};

// The same for tlm_utils::simple_target_socket_tagged.
template <class Module,
          void (Module::*kTransport)(int, tlm::tlm_generic_payload&, sc_core::sc_time&)>
class DirectTargetSocketTagged : public tlm_utils::simple_target_socket_tagged<Module> {
  using Base = tlm_utils::simple_target_socket_tagged<Module>;
  struct Transport {
    Module* module = nullptr;
    int tag = 0;
    void operator()(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) const {
      (module->*kTransport)(tag, payload, delay);
    }
  };

 public:
  explicit DirectTargetSocketTagged(const char* name) : Base(name) {}
  void serve(Module* module, int tag) {
    this->register_b_transport(module, kTransport, tag);
    direct_.serve({module, tag});
  }
  tlm::tlm_fw_transport_if<>& get_base_interface() override { return direct_; }
  const tlm::tlm_fw_transport_if<>& get_base_interface() const override { return direct_; }

 private:
  DirectTransport<Transport> direct_{Base::get_base_interface()};
};
}  // namespace hca
