// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "model/systemc/hca.h"
#include "testbench/host/endpoint.h"
#include "testbench/host/host_writes.h"
#include "testbench/scenario/traffic_of.h"
#include "tlm/host_memory/memory_target.h"
#include "tlm/pcie/pcie_tlp_link.h"
#include "tlm/wire/wire.h"

namespace hca::testbench {
// One host with its HCA: memory, core, PCIe. Host software reaches the HCA only through
// mmio_initiator and memory.
class Node : public sc_core::sc_module {
 public:
  Node(sc_core::sc_module_name name, const Scenario& scenario, unsigned index);

  // The cycle of a call by host software: while the core's program acts, the current one; from
  // outside the simulation, the first cycle that no quantum has reached.
  Cycle now() const;
  // The kernel's time is past this cycle of the chip.
  bool is_past(Cycle at) const;
  // Simulates until a command is done at the kernel's time; false: it takes too long.
  bool wait_for_command();
  // `longest`: the longest exact quantum; `wanted`: 0 or a shorter one, with the same results.
  void set_quantum(Cycle longest, Cycle wanted);
  // The chip runs no cycle ahead of the kernel; `now()` is exact once no chip is ahead any more.
  void begin_steps() { hca.set_quantum(1); }
  void know_steps() { ahead_ = 1; }
  // A core runs `program` from the next cycle on; nullptr: it stops.
  void run(Program* program, u32 core = 0) { this->core(core).run(program, now() + 1); }
  // Core 0 is `cpu`; the others are created on first use, before the simulation.
  HostCpu& core(u32 index);
  u32 cores() const { return 1 + u32(more_.cores.size()); }

  // A write by host software, with its travel time to the BAR.
  void mmio_write(u32 offset, std::span<const u8> data, Cycle later = 0);
  HostWrites& writes() { return writes_; }
  // In a metered scenario it reports its activity.
  tlm_::PcieLink& pcie() { return pcie_; }

 private:
  tlm_::PcieLink& pcie_;  // the HCA's

 public:
  tlm_utils::simple_initiator_socket<Node> mmio_initiator{"mmio_initiator"};
  tlm_::HostMemory memory;
  tlm_::MemoryTarget memory_target;
  const std::shared_ptr<const blocks::StandIns> rtl;  // nullptr: none
  Hca hca;
  HostCpu cpu;
  VerbsContext verbs;
  CompChannel* events = nullptr;  // of its completion queues, if programs wait for events

 private:
  Node(sc_core::sc_module_name name, const Scenario& scenario, unsigned index,
       std::unique_ptr<tlm_::PcieLink> pcie);  // becomes the HCA's
  void send_mmio(Cycle rung, Cycle leaves, u32 offset, std::span<const u8> data);
  HostWrites writes_;
  const HostConfig host_;  // of the cores after the first
  const u64 hertz_;
  HostCores more_;
  BlockingTransport* mmio_ = nullptr;  // the bound target of mmio_initiator
  tlm::tlm_generic_payload mmio_payload_;
  Cycle ahead_ = 1;
  Cycle command_done_ = engine::kNever;  // when the HCA last wrote to a command block
};

// The queue pairs of a BundleKey: client and server.
using Bundle = std::array<Endpoint, kEnds>;

struct NamedWire {
  std::string name;
  tlm_::Wire* wire;
};

// The nodes and cables of a scenario, and the queue pairs of its connections.
class Testbed {
 public:
  // Throws std::runtime_error if a port has no cable, or two.
  explicit Testbed(const Scenario& scenario);

  // Creates objects and connections by commands. Throws std::runtime_error with the command that
  // failed.
  void connect();
  // Replaces the queue pairs and SRQs of a bundle by new ones with the same numbers, without posted
  // receive WQEs. Nothing of the old ones may be in flight.
  void renew(const BundleKey& bundle);
  const std::map<BundleKey, Bundle>& bundles() const { return bundles_; }
  const Endpoint& end(unsigned which, const BundleKey& bundle = {}) const {
    return bundles_.at(bundle)[which];
  }
  // The ends of connections at a node.
  std::vector<const Endpoint*> ends_at(unsigned node) const;
  unsigned ports() const { return scenario_.ports(); }  // of the node with the most ports
  unsigned nodes() const { return unsigned(nodes_.size()); }
  Node& node(unsigned index) { return *nodes_[index]; }
  // The attributes of a port.
  proto::PortAttributes port_of(const NodePort& at) const;
  u32 cores() const;           // of each host that the workloads use
  bool shares_queues() const;  // threads of a workload do
  bool waits_for_events() const { return scenario_.waits_for_events(); }
  // The wire of a cable; its ends are those of the cable.
  unsigned wires() const { return unsigned(wires_.size()); }
  tlm_::Wire& wire(unsigned number = 0) { return *wires_[number]; }
  const Ends& ends_of_wire(unsigned number) const { return cables_[number].ends; }
  // "wire", or "wire2" if there are several.
  std::string name_of_wire(unsigned number) const;
  // For a capture: "port 2" of a pair, "hca0 port 1, hca1 port 2" of more nodes.
  std::vector<NamedWire> named_wires();
  // ", port 2" for an end whose node has several ports.
  std::string name_of_port(const NodePort& at) const;
  // The time of a frame of this many bytes on a link, with overhead, from an end, in picoseconds.
  u64 time_on_link(unsigned wire, unsigned end, std::size_t bytes) const;
  proto::LinkLayer link() const { return proto::framing_row(scenario_.connection.framing).link; }
  // Simulates until all chips have run exactly to the kernel's time: the state is then independent
  // of the quantum.
  void meet();
  // For host software that uses several HCAs at once: no chip runs ahead, so it sees them at the
  // same time. Simulates until that is so.
  void keep_in_step(bool in_step);
  // Something happened that may lose a packet: a fault on a wire, or a request without a receive
  // WQE.
  bool may_have_lost() const;
  // Delivers frames that a fault reorders and that no other frame followed; false: there are none.
  bool release_held();
  // No event is left.
  bool is_asleep() const;
  // The kernel's time is past the last cycle that a chip has run ahead of it.
  bool has_caught_up() const;
  // For a person: who waits for what, the progress of the queue pairs, and the block that should
  // have acted.
  std::string stuck_report();
  // Programs that wait for an interrupt, and the entries of their completion queues.
  std::string sleep_report() const;
  // Unpolled completions that are neither successful nor flushed: the reason why a queue pair
  // failed.
  std::string causes_report();

 private:
  // The block that holds up a queue pair, and the reason.
  std::string standstill_of(unsigned index, const Qp& qp) const;
  std::string progress_of(unsigned index, const Qp& qp);
  void check_cables() const;
  void add_wire(const Cable& cable);
  void plan_breaks(const Cable& cable);
  Cycle quantum_of(unsigned index) const;
  void let_run_ahead();
  void wait_in_step();
  void check(unsigned index, bool good, std::string_view command);
  void create(Endpoint& end, const NodePort& place, const Need& need);
  void create_working_set(Endpoint& end, const WorkingSetNeed& need);
  void create_queues(Endpoint& end, const Need& need);
  void connect(Bundle& bundle, const BundleKey& key, const Need& need);
  void give_alternate(proto::QpAttributes& attributes, const NodePort& peer) const;
  using Numbers = std::vector<std::optional<u32>>;
  Numbers destroy(unsigned index, std::vector<Qp*>& qps, u32 count);
  void create(unsigned index, std::vector<Qp*>& qps, const QpInitAttr& attributes,
              const Numbers& numbers);
  void create_srqs(Endpoint& end, const Need& need);
  void modify(Endpoint& end, const NodePort& peer, bool is_client, const QpPair& pair,
              u32 service_level);
  // RD: the EE context of an end.
  void create_context(Endpoint& end);
  void connect_context(Endpoint& end, const NodePort& peer, bool is_client, u32 service_level);
  proto::QpAttributes attributes_of(const Endpoint& end, const NodePort& peer, bool is_client,
                                    u32 service_level) const;

  const Scenario scenario_;
  std::vector<std::unique_ptr<Node>> nodes_;
  const std::vector<Cable> cables_;
  std::vector<std::unique_ptr<tlm_::Wire>> wires_;  // in the cables
  std::map<BundleKey, Bundle> bundles_;
  bool in_step_ = false;
};
}  // namespace hca::testbench
