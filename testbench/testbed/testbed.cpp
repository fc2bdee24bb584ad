// SPDX-License-Identifier: Apache-2.0
#include "testbench/testbed/testbed.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/blocks/chip.h"
#include "testbench/scenario/link_defaults.h"

namespace hca::testbench {

namespace {
engine::Domain::Options domain_options(const RunOptions& run) {
  engine::Domain::Options options;
  options.mode = run.every_cycle ? engine::Mode::EveryCycle : engine::Mode::Sleep;
  options.shuffle_seed = run.shuffle_seed;
  options.stall_per_256 = run.stall_per_256;
  options.stall_seed = run.seed;
  options.never_stalled = "writes host cores";
  return options;
}

sc_core::sc_time slice() { return {1, sc_core::SC_US}; }
sc_core::sc_time command_patience() { return {100, sc_core::SC_MS}; }
constexpr u64 kSlicesAhead = 1000;
}  // namespace

Node::Node(sc_core::sc_module_name name, const Scenario& scenario, unsigned index)
    : Node(name, scenario, index,
           tlm_::make_pcie_link(scenario.nodes[index].pcie, scenario.nodes[index].hca.core.hertz(),
                                scenario.run.seed * scenario.nodes.size() + index,
                                scenario.metered)) {}

Node::Node(sc_core::sc_module_name name, const Scenario& scenario, unsigned index,
           std::unique_ptr<tlm_::PcieLink> pcie)
    : sc_module(name),
      pcie_(*pcie),
      memory_target("memory", memory),
      rtl(make_rtl_path(scenario.rtl, scenario.nodes[index].hca)),
      hca("hca", chip_of(scenario, index), std::move(pcie), domain_options(scenario.run)),
      cpu(scenario.nodes[index].host, scenario.nodes[index].hca.core.hertz()),
      verbs(memory, [this](u32 offset, std::span<const u8> data) { mmio_write(offset, data); }),
      writes_(scenario.nodes[index].host, scenario.nodes[index].hca.core.hertz(),
              {scenario.nodes[index].pcie.device_posted_headers,
               scenario.nodes[index].pcie.device_posted_data}),
      host_(scenario.nodes[index].host),
      hertz_(scenario.nodes[index].hca.core.hertz()) {
  if (rtl) hca.replace(*rtl);
  mmio_initiator.bind(hca.mmio_target);
  hca.dma_initiator.bind(memory_target.dma_target);
  memory.watch(verbs.command_blocks(), VerbsContext::kCommandBlockBytes,
               [this](u64, u64) { command_done_ = cpu.self.now(); });
  cpu.probe = hca.probes().add("host", kHostStepNames);
  writes_.send = [this](const HostWrites::Kept& write) {
    send_mmio(write.rung, hca.domain().now(), write.offset, write.data);
  };
  hca.set_doorbell_taken([this](Cycle at, u32 bytes) {
    writes_.give_credits(std::max(pcie_.returned(at), hca.domain().now() + 1), bytes);
  });
  writes_.self = {&hca.domain(), hca.domain().add_last(writes_, "writes")};
  writes_.connect();
  cpu.self = {&hca.domain(), hca.domain().add_last(cpu, "host")};
}

HostCpu& Node::core(u32 index) {
  if (index && more_.cores.empty())
    more_.self = {&hca.domain(), hca.domain().add_last(more_, "cores")};
  for (u32 i = cores(); i <= index; ++i) {
    HostCpu& made = *more_.cores.emplace_back(std::make_unique<HostCpu>(host_, hertz_, &cpu));
    made.probe = hca.probes().add(fmt::format("host.{}", i + 1), kHostStepNames);
    made.self = more_.self, made.number = i;
  }
  return index ? *more_.cores[index - 1] : cpu;
}

bool Node::is_past(Cycle at) const {
  return sc_core::sc_time_stamp().value() / hca.period().value() > at;
}

bool Node::wait_for_command() {
  // Software that is no block of the chip's clock acts where the chip may have run to: the answer
  // comes as much later, on a long wire by far the most of the time.
  const auto ahead = sc_core::sc_time::from_value(ahead_ * hca.period().value());
  const auto each = std::max(slice(), sc_core::sc_time::from_value(ahead.value() / kSlicesAhead));
  const sc_core::sc_time end = sc_core::sc_time_stamp() + ahead + command_patience();
  while (sc_core::sc_time_stamp() < end) {
    run_for(each);
    if (is_past(command_done_)) return true;
  }
  return false;
}

void Node::set_quantum(Cycle longest, Cycle wanted) {
  hca.set_quantum(wanted ? std::min(wanted, longest) : longest);
  ahead_ = longest;
}

Cycle Node::now() const {
  if (cpu.is_acting()) return cpu.self.now();
  return sc_core::sc_time_stamp().value() / hca.period().value() + ahead_;
}

void Node::mmio_write(u32 offset, std::span<const u8> data, Cycle later) {
  if (proto::BarOffset(offset % proto::kUserPageBytes) == proto::BarOffset::CommandDoorbell)
    command_done_ = engine::kNever;
  const Cycle rung = now();
  const Cycle leaves = writes_.leaves(cpu.acting(), rung + later, offset, data.size());
  cpu.probe.event(rung, HostStep::Rung, offset);
  if (leaves > hca.domain().now() || !writes_.take_credits(cpu.acting(), data.size()))
    writes_.keep({rung, leaves, offset, {data.begin(), data.end()}, cpu.acting()});
  else
    send_mmio(rung, leaves, offset, data);
}

// In the cycle in which it leaves.
void Node::send_mmio(Cycle rung, Cycle leaves, u32 offset, std::span<const u8> data) {
  mmio_payload_.set_command(tlm::TLM_WRITE_COMMAND);
  mmio_payload_.set_address(offset);
  mmio_payload_.set_data_ptr(const_cast<u8*>(data.data()));
  mmio_payload_.set_data_length(unsigned(data.size()));
  mmio_payload_.set_streaming_width(unsigned(data.size()));
  mmio_payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const Cycle at = pcie_.mmio_write(leaves, u32(data.size()));
  cpu.probe.event(at, HostStep::AtBar, offset);
  cpu.tell([&](HostMeter& meter) { meter.rang(rung, at, offset, data); });
  sc_core::sc_time delay = hca.delay_to(at);
  if (!mmio_) mmio_ = shortest_way(mmio_initiator.operator->());
  mmio_->b_transport(mmio_payload_, delay);
  if (mmio_payload_.is_response_error()) throw std::runtime_error("the HCA refused an MMIO write");
}

Testbed::Testbed(const Scenario& scenario) : scenario_(scenario), cables_(scenario_.laid_cables()) {
  check_cables();
  for (unsigned i = 0; i < scenario_.nodes.size(); ++i)
    nodes_.push_back(std::make_unique<Node>(fmt::format("node{}", i).c_str(), scenario_, i));
  for (const Cable& cable : cables_) add_wire(cable);
  let_run_ahead();
  for (auto& node : nodes_)
    node->verbs.set_step([at = node.get()] { return at->wait_for_command(); });
}

void Testbed::check_cables() const {
  for (unsigned node = 0; node < scenario_.nodes.size(); ++node)
    for (unsigned port = 0; scenario_.has({node, port}); ++port) {
      std::size_t count = 0;
      for (const Cable& cable : cables_)
        count += std::size_t(std::ranges::count(cable.ends, NodePort{node, port}));
      if (count != 1)
        throw std::runtime_error(
            fmt::format("port {} of hca{} has {} cables; allowed: one", port + 1, node, count));
    }
}

std::string Testbed::name_of_wire(unsigned number) const {
  return cables_.size() == 1 ? "wire" : fmt::format("wire{}", number + 1);
}

std::vector<NamedWire> Testbed::named_wires() {
  std::vector<NamedWire> named;
  for (unsigned i = 0; i < wires(); ++i) {
    const auto& [a, b] = cables_[i].ends;
    named.push_back({nodes() == 2 ? fmt::format("port {}", a.port + 1)
                                  : fmt::format("hca{} port {}, hca{} port {}", a.node, a.port + 1,
                                                b.node, b.port + 1),
                     wires_[i].get()});
  }
  return named;
}

std::string Testbed::name_of_port(const NodePort& at) const {
  return nodes_[at.node]->hca.ports() == 1 ? "" : fmt::format(", port {}", at.port + 1);
}

u64 Testbed::time_on_link(unsigned number, unsigned end, std::size_t bytes) const {
  const NodePort& at = cables_[number].ends[end];
  const u64 bits = u64{8} * proto::bytes_on_link(u32(bytes), link());
  const u64 rate = scenario_.nodes[at.node].hca.port[at.port].link_rate;
  return u64(engine::u128{bits} * engine::kPicosecondsPerSecond / rate);
}

void Testbed::add_wire(const Cable& cable) {
  const auto& [a, b] = cable.ends;
  const unsigned number = wires();
  tlm_::WireConfig config = cable.wire;
  config.rate = scenario_.nodes[a.node].hca.port[a.port].link_rate;
  const u64 seed = scenario_.run.seed + (u64{number} << 32);
  tlm_::Wire& wire = *wires_.emplace_back(std::make_unique<tlm_::Wire>(
      name_of_wire(number).c_str(), config,
      tlm_::FaultScript(scenario_.fault_rules(cable.ends), link(), seed), seed));
  Hca &hca_a = nodes_[a.node]->hca, &hca_b = nodes_[b.node]->hca;
  hca_a.wire_initiator[a.port].bind(wire.from_a);
  hca_b.wire_initiator[b.port].bind(wire.from_b);
  wire.to_a.bind(hca_a.wire_target[a.port]);
  wire.to_b.bind(hca_b.wire_target[b.port]);
  plan_breaks(cable);
}

// Both ends of a cable see it break at the same time.
void Testbed::plan_breaks(const Cable& cable) {
  const tlm_::WireConfig& wire = cable.wire;
  const auto at = [](u64 ps) { return sc_core::sc_time(double(ps), sc_core::SC_PS); };
  for (u32 i = 0; wire.breaks() && i < wire.down_times; ++i)
    for (const NodePort& end : cable.ends) {
      const u64 from = wire.down_from + i * wire.down_every;
      nodes_[end.node]->hca.change_cable(end.port, true, at(from));
      nodes_[end.node]->hca.change_cable(end.port, false, at(from + wire.down_for));
    }
}

// The least time of a packet from the far end of a cable into this chip; the egress there is in
// cycles of that chip.
Cycle Testbed::quantum_of(unsigned i) const {
  const Hca& hca = nodes_[i]->hca;
  const u64 period = hca.period().value();
  Cycle shortest = engine::kNever;
  for (const Cable& cable : cables_)
    for (unsigned end = 0; end < kEnds; ++end) {
      const NodePort &own = cable.ends[end], &far = cable.ends[other_end(end)];
      if (own.node != i) continue;
      const Hca& peer = nodes_[far.node]->hca;
      const u64 latency = sc_core::sc_time(double(cable.wire.one_way()), sc_core::SC_PS).value();
      const u64 egress = peer.egress(far.port) * peer.period().value();
      shortest = std::min(shortest, (egress + latency) / period + hca.ingress(own.port));
    }
  return shortest;
}

void Testbed::let_run_ahead() {
  for (unsigned i = 0; i < nodes(); ++i)
    nodes_[i]->set_quantum(quantum_of(i), scenario_.run.quantum);
}

void Testbed::wait_in_step() {
  u64 ahead = 0;
  for (unsigned i = 0; i < nodes(); ++i) {
    ahead = std::max<u64>(ahead, quantum_of(i) * nodes_[i]->hca.period().value());
    nodes_[i]->begin_steps();
  }
  run_for(sc_core::sc_time::from_value(ahead));
}

void Testbed::meet() {
  if (in_step_) return;
  wait_in_step();
  let_run_ahead();
}

void Testbed::keep_in_step(bool in_step) {
  if (std::exchange(in_step_, in_step) == in_step) return;
  if (!in_step) return let_run_ahead();
  wait_in_step();
  for (const auto& node : nodes_) node->know_steps();
}

u32 Testbed::cores() const {
  u32 cores = 1;
  for (const WorkloadConfig& w : scenario_.workload) cores = std::max(cores, w.threads);
  return cores;
}

bool Testbed::shares_queues() const {
  return std::ranges::any_of(scenario_.workload, &WorkloadConfig::share_qps);
}

bool Testbed::may_have_lost() const {
  bool lost = std::any_of(wires_.begin(), wires_.end(), [](const auto& wire) {
    return !wire->faults().records().empty() || wire->damaged(0) || wire->damaged(1) ||
           wire->has_broken();
  });
  for (const auto& node : nodes_)
    node->hca.chip().for_each_counters([&](std::string_view, const auto& counters) {
      engine::for_each_counter(counters, [&](const auto& row, u64 value) {
        lost |= value && (row.name == "no_receive_wqe" || row.name == "abandoned" ||
                          row.name == "no_room" || row.name == "rx_given_up");
      });
    });
  return lost;
}

bool Testbed::release_held() {
  bool released = false;
  for (const auto& wire : wires_) released |= wire->release_held(slice());
  return released;
}

bool Testbed::is_asleep() const {
  for (const auto& node : nodes_)
    if (!node->hca.domain().asleep()) return false;
  return true;
}

bool Testbed::has_caught_up() const {
  return std::ranges::all_of(
      nodes_, [](const auto& node) { return node->is_past(node->hca.domain().worked_at()); });
}

std::vector<const Endpoint*> Testbed::ends_at(unsigned node) const {
  std::vector<const Endpoint*> ends;
  for (const auto& [key, bundle] : bundles_)
    for (const Endpoint& end : bundle)
      if (end.node == node) ends.push_back(&end);
  return ends;
}
}  // namespace hca::testbench
