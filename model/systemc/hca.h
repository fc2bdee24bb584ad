// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm_utils/simple_initiator_socket.h>

#include <functional>
#include <memory>
#include <systemc>
#include <tlm>

#include "model/blocks/chip_config.h"
#include "model/blocks/memory/host_timing.h"
#include "model/blocks/memory/outside.h"
#include "model/systemc/access_extension.h"
#include "model/systemc/direct_socket.h"
#include "model/systemc/sc_host.h"
#include "model/systemc/wire_extension.h"

namespace hca::engine {
class ProbeHub;
}
namespace hca::device {
struct Contexts;
}
namespace hca::blocks {
class Chip;
class HostPages;
class PacketPool;
class PortReceive;
struct StandIns;
}  // namespace hca::blocks

namespace hca {
// A block of the pipeline in the module hierarchy. It has a name, and its knobs and counters can be
// read.
class BlockModule : public sc_core::sc_module {
 public:
  struct Value {
    std::string name;
    std::string_view unit, sentence;
    const u64* counter = nullptr;  // a counter
    std::string knob;              // or a knob's value as text
  };
  explicit BlockModule(const sc_core::sc_module_name& name) : sc_module(name) {}
  std::vector<Value> values;
};

// An RDMA host channel adapter. The clock of the chip is `config.core.clock`, or the nearest one
// with a period of whole picoseconds.
//
// mmio_target: the BAR, 64-bit doorbell writes (proto/interface/device.h). Returns at once; the
// delay gives the arrival time of the write.
//
// dma_initiator: host memory. One b_transport moves the bytes of one request in the cycle in which
// it reaches memory; the delay is that cycle's distance from the kernel's time. With
// `config.payload` Timed an access of payload has an AccessExtension, and moves its first bytes.
//
// wire_initiator: outgoing frames, one socket a port (`config.core.ports`). The delay is the
// distance to the first bit; a WireExtension may be attached, and is with `config.payload` Timed.
//
// wire_target: incoming frames, one socket a port. The delay is the distance to the arrival of the
// first bit.
class Hca : private blocks::Outside, public sc_core::sc_module {
  void mmio(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void arrive(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

 public:
  DirectTargetSocket<Hca, &Hca::mmio> mmio_target{"mmio_target"};
  tlm_utils::simple_initiator_socket<Hca> dma_initiator{"dma_initiator"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket<Hca>> wire_initiator;
  sc_core::sc_vector<DirectTargetSocketTagged<Hca, &Hca::arrive>> wire_target;

  Hca(const sc_core::sc_module_name& name, const blocks::ChipConfig& config,
      std::unique_ptr<blocks::HostTiming> timing, engine::Domain::Options options = {});
  ~Hca() override;

  // Replaces units of the path by other implementations. Call it before the simulation begins.
  void replace(const blocks::StandIns& stand_ins);

  // Sets the smallest latency, in cycles, from an action of the chip to its earliest visible
  // reaction from outside: its own egress, the wire's latency and the peer's ingress. The chip runs
  // that far ahead of the kernel in one activation. Host software that is not a block of `domain()`
  // needs 1, the default.
  void set_quantum(Cycle cycles) { host_.set_ahead(cycles); }
  Cycle quantum() const { return host_.ahead_cycles(); }
  // Egress: cycles from handing a packet to the wire to its first bit. Ingress: from a first bit to
  // its first effect.
  Cycle egress(unsigned port = 0) const {
    return config_.icrc_unit.latency + config_.port[port].latency;
  }
  Cycle ingress(unsigned port = 0) const { return config_.port[port].latency; }
  unsigned ports() const { return config_.core.ports; }

  // The cable of a port breaks, and the port is Down, or it is repaired (T15), at `delay` from the
  // kernel's time. Call it from outside the simulation, or like a socket call.
  void change_cable(unsigned port, bool is_broken, const sc_core::sc_time& delay);

  // A host that counts the credits of its MMIO writes is told of each one that leaves the queue of
  // the BAR: the cycle of the chip, the present one or a later one, and the bytes of the write.
  void set_doorbell_taken(std::function<void(engine::Cycle at, u32 bytes)> taken);

  // From now on all accesses of regions are also judged by these pages.
  void set_host_pages(const blocks::HostPages& pages);

  // For host software that is a block on the chip's clock: add it with add_last(), and wake it with
  // wake_from_outside() if no block of this chip does.
  engine::Domain& domain() { return domain_; }
  engine::ProbeHub& probes();
  const blocks::ChipConfig& config() const { return config_; }
  // The earliest transport timer; kNever if none runs. If the domain's next due cycle is later, or
  // never, the chip is idle.
  Cycle next_timer() const;
  Cycle timer_of(u32 qpn) const;
  std::string standstill(u32 qpn, u32 rung) const;
  sc_core::sc_time period() const { return host_.period(); }
  // The distance from the kernel's time to a cycle of the chip: the delay argument of a transport.
  sc_core::sc_time delay_to(Cycle at) const { return host_.delay_to(at); }
  u64 activations() const { return host_.activations(); }
  const std::vector<std::unique_ptr<BlockModule>>& blocks() const { return modules_; }
  // Its blocks, with their counters, look-ups and engines: model/blocks/chip.h.
  const blocks::Chip& chip() const { return *chip_; }
  // For tests: an idle queue pair may be put into a state that no command reaches.
  device::Contexts& contexts();

 private:
  bool read_memory(u64 address, std::span<u8> to, u32 bytes, Cycle at) override;
  bool write_memory(u64 address, std::span<const u8> from, u32 bytes, Cycle at) override;
  void transmit(blocks::Packet* packet, Cycle at) override;
  void end_of_elaboration() final;
  // nullptr: the frame is too long.
  blocks::Packet* copy_of(const proto::FrameView& frame);
  bool transport_dma(tlm::tlm_command command, u64 address, std::span<u8> data, u32 bytes,
                     Cycle at);
  void add_modules();

  std::unique_ptr<blocks::HostTiming> timing_;
  const std::unique_ptr<blocks::Chip> chip_;
  const blocks::ChipConfig& config_;  // the chip's
  engine::Domain& domain_;
  DomainHost host_;
  std::vector<std::unique_ptr<BlockModule>> modules_;
  const std::unique_ptr<blocks::PacketPool> pool_;  // for frames that arrive without a packet
  // Members that each packet needs lie side by side.
  // The bound targets of the initiators, from end_of_elaboration() on:
  alignas(64) BlockingTransport* dma_ = nullptr;
  blocks::PerPort<BlockingTransport*> wires_{};
  // The receiver of frames, and the delay from their first bit to their earliest effect:
  struct Arrivals {
    blocks::PortReceive* receive = nullptr;
    Cycle ingress = 0;
  };
  blocks::PerPort<Arrivals> arrivals_{};
  WireExtension wire_extension_;
  AccessExtension access_extension_;  // attached if payload is cut
  // The fields of a payload that are set lie in its first cache line.
  alignas(64) tlm::tlm_generic_payload dma_payload_;
  alignas(64) tlm::tlm_generic_payload wire_payload_;
};
}  // namespace hca
