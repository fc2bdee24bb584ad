// SPDX-License-Identifier: Apache-2.0
#include "model/systemc/hca.h"

#include <cstring>
#include <string>

#include "model/blocks/chip.h"

namespace hca {
namespace {
sc_core::sc_time period_of(const blocks::CoreConfig& core) {
  engine::check_knobs(core);
  return sc_core::sc_time(double(core.period()), sc_core::SC_PS);
}
}  // namespace

Hca::Hca(const sc_core::sc_module_name& name, const blocks::ChipConfig& config,
         std::unique_ptr<blocks::HostTiming> timing, engine::Domain::Options options)
    : sc_module(name),
      wire_initiator("wire_initiator", config.core.ports),
      wire_target("wire_target", config.core.ports),
      timing_(std::move(timing)),
      chip_(new blocks::Chip(config, options, *timing_, *this)),
      config_(chip_->config),
      domain_(chip_->domain),
      host_(domain_, period_of(config.core), 1),
      pool_(std::make_unique<blocks::PacketPool>(config.payload)) {
  mmio_target.serve(this);
  for (unsigned port = 0; port < ports(); ++port) {
    wire_target[port].serve(this, int(port));
    arrivals_[port] = {&chip_->ports[port]->receive, ingress(port)};
  }
  wire_payload_.set_extension(&wire_extension_);
  if (config.payload != blocks::Payload::Carried) dma_payload_.set_extension(&access_extension_);
  add_modules();
}

void Hca::end_of_elaboration() {
  dma_ = shortest_way(dma_initiator.operator->());
  for (unsigned port = 0; port < ports(); ++port)
    wires_[port] = shortest_way(wire_initiator[port].operator->());
}

void Hca::replace(const blocks::StandIns& stand_ins) { chip_->replace(stand_ins); }
void Hca::set_host_pages(const blocks::HostPages& pages) { chip_->protection.host_pages = &pages; }
engine::ProbeHub& Hca::probes() { return chip_->probes; }
device::Contexts& Hca::contexts() { return chip_->contexts; }
Cycle Hca::next_timer() const { return chip_->next_timer(); }
Cycle Hca::timer_of(u32 qpn) const { return chip_->timer_of(qpn); }
std::string Hca::standstill(u32 qpn, u32 rung) const { return chip_->standstill(qpn, rung); }

Hca::~Hca() {
  wire_payload_.clear_extension(&wire_extension_);
  dma_payload_.clear_extension(&access_extension_);
}

[[gnu::hot]] bool Hca::read_memory(u64 address, std::span<u8> to, u32 bytes, Cycle at) {
  if (transport_dma(tlm::TLM_READ_COMMAND, address, to, bytes, at)) return true;
  std::memset(to.data(), 0xff, to.size());  // as on PCIe
  return false;
}

[[gnu::hot]] bool Hca::write_memory(u64 address, std::span<const u8> from, u32 bytes, Cycle at) {
  return transport_dma(tlm::TLM_WRITE_COMMAND, address, {const_cast<u8*>(from.data()), from.size()},
                       bytes, at);
}

// False: it was answered with an error. A write is lost then.
bool Hca::transport_dma(tlm::tlm_command command, u64 address, std::span<u8> data, u32 bytes,
                        Cycle at) {
  dma_payload_.set_command(command);
  dma_payload_.set_address(address);
  dma_payload_.set_data_ptr(data.data());
  dma_payload_.set_data_length(unsigned(data.size()));
  dma_payload_.set_streaming_width(unsigned(data.size()));
  access_extension_.bytes = bytes;
  dma_payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = host_.delay_in_run(at);
  dma_->b_transport(dma_payload_, delay);
  return !dma_payload_.is_response_error();
}

[[gnu::hot]] void Hca::transmit(blocks::Packet* packet, Cycle at) {
  wire_payload_.set_command(tlm::TLM_WRITE_COMMAND);
  wire_payload_.set_address(0);
  const unsigned held = unsigned(packet->bytes().size());
  wire_payload_.set_data_ptr(packet->frame());
  wire_payload_.set_data_length(held);
  wire_payload_.set_streaming_width(held);
  wire_payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  wire_extension_.packet = packet;
  wire_extension_.frame_bytes = packet->frame_bytes;
  wire_extension_.crcs = packet->crcs;
  sc_core::sc_time delay = host_.delay_in_run(at);
  wires_[packet->port]->b_transport(wire_payload_, delay);
  if (wire_extension_.packet) blocks::PacketPool::give_back(wire_extension_.packet);
}

void Hca::set_doorbell_taken(std::function<void(Cycle at, u32 bytes)> taken) {
  chip_->doorbell.taken = std::move(taken);
}

void Hca::mmio(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (payload.get_command() != tlm::TLM_WRITE_COMMAND) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  const Cycle at = host_.cycle_behind(delay);
  chip_->doorbell.write(std::max(at, domain_.now() + 1), u32(payload.get_address()),
                        {payload.get_data_ptr(), payload.get_data_length()});
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

[[gnu::hot]] void Hca::arrive(int port, tlm::tlm_generic_payload& payload,
                              sc_core::sc_time& delay) {
  auto* extension = payload.get_extension<WireExtension>();
  blocks::Packet* packet = extension ? extension->packet : nullptr;
  if (packet) [[likely]]
    extension->packet = nullptr;
  else if (!(packet = copy_of(frame_of(payload))))
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  // The chip may have run past the first bit, but not past what it changes.
  const Arrivals& to = arrivals_[unsigned(port)];
  const Cycle at = host_.cycle_behind(delay) + to.ingress;
  to.receive->arrive(packet, std::max(at, domain_.now() + 1) - to.ingress);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

[[gnu::noinline]] blocks::Packet* Hca::copy_of(const proto::FrameView& frame) {
  if (frame.size() > blocks::PacketPool::kFrameCapacity) return nullptr;
  if (frame.held().size() > pool_->capacity()) return nullptr;
  blocks::Packet* const packet = pool_->take();
  packet->set_frame(frame);
  return packet;
}

void Hca::change_cable(unsigned port, bool is_broken, const sc_core::sc_time& delay) {
  const Cycle at = std::max(host_.cycle_behind(delay), domain_.now() + 1);
  chip_->command.cables_in.deliver(at, port, {port + 1, is_broken});
}

// One module for each block, named as in the block diagram, with its knobs and counters.
void Hca::add_modules() {
  const auto add_module = [&](const std::string& name, const auto& block) {
    modules_.push_back(std::make_unique<BlockModule>(name.c_str()));
    engine::for_each_knob(block, [&](const auto& knob) {
      modules_.back()->values.push_back(
          {std::string(knob.info.name), {}, knob.info.sentence, nullptr, knob.text()});
    });
  };
  blocks::for_each_block_config(config_, [&]<class Config>(const Config& block) {
    if constexpr (!blocks::kIsOfPort<std::remove_const_t<Config>>)
      add_module(std::string(engine::Knobs<Config>::block), block);
  });
  for (unsigned i = 0; i < ports(); ++i)
    blocks::for_each_port_config(config_, i, [&]<class Config>(const Config& block) {
      add_module(blocks::port_block_name(ports(), i, engine::Knobs<Config>::block), block);
    });
  chip_->for_each_counters([&](std::string_view name, const auto& counters) {
    for (auto& module : modules_)
      if (module->basename() == name)
        engine::for_each_counter(counters, [&](const auto& row, const u64& value) {
          module->values.push_back({std::string(row.name), row.unit, row.sentence, &value, {}});
        });
  });
}
}  // namespace hca
