// SPDX-License-Identifier: Apache-2.0
// An Hca in a SystemC kernel of its own, with a host and a wire of no latency.
#include "testbench/testbed/cycle_device.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "model/systemc/hca.h"
#include "testbench/host/in_device.h"
#include "testbench/testbed/fresh_kernel.h"
#include "tlm/host_memory/memory_target.h"

namespace hca::testbench {
namespace {
using engine::Cycle;
using engine::kNever;

constexpr Cycle kHostLatency = 100;  // cycles, of a DMA one way
// No work pauses longer. An item due after such a pause is a timer that was set once and moved.
constexpr Cycle kLongestPause = 2'000;

// The modules at the other side of the sockets.
struct Surroundings : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Surroundings> mmio{"mmio"};
  sc_core::sc_vector<tlm_utils::simple_initiator_socket<Surroundings>> to_hca;  // by port
  sc_core::sc_vector<tlm_utils::simple_target_socket<Surroundings>> from_hca;
  std::vector<Frame> frames;

  Surroundings(const sc_core::sc_module_name& name, u32 ports)
      : sc_module(name), to_hca("to_hca", ports), from_hca("from_hca", ports) {
    for (u32 port = 0; port < ports; ++port)
      from_hca[port].register_b_transport(this, &Surroundings::take);
  }
  void take(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const u8* data = payload.get_data_ptr();
    frames.emplace_back(data, data + payload.get_data_length());
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  template <class Socket>
  static void write(Socket& socket, u64 address, std::span<const u8> bytes,
                    sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(const_cast<u8*>(bytes.data()));
    payload.set_data_length(unsigned(bytes.size()));
    payload.set_streaming_width(unsigned(bytes.size()));
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    socket->b_transport(payload, delay);
  }
};

class CycleDevice : public ReplayDevice {
 public:
  explicit CycleDevice(const DeviceOptions& options)
      : config_(config_of(options)),
        rtl_(make_rtl_path(options.rtl, config_)),
        memory_(options.pages) {
    if (rtl_) hca_.replace(*rtl_);
    hca_.dma_initiator.bind(target_.dma_target);
    outside_.mmio.bind(hca_.mmio_target);
    for (u32 port = 0; port < options.limits.ports; ++port) {
      hca_.wire_initiator[port].bind(outside_.from_hca[port]);
      outside_.to_hca[port].bind(hca_.wire_target[port]);
    }
    sc_core::sc_start(hca_.period());  // elaborates
  }
  tlm_::HostMemory& memory() override { return memory_; }
  void mmio_write(u32 offset, std::span<const u8> bytes) override {
    const InDevice inside;
    Surroundings::write(outside_.mmio, offset, bytes);
  }
  using ReplayDevice::inject;
  void inject(std::span<const u8> frame, u32 port) override {
    const InDevice inside;
    // Frames of one moment follow each other on the link.
    const sc_core::sc_time now = sc_core::sc_time_stamp(), start = std::max(now, link_free_);
    link_free_ = start + sc_core::sc_time(double(wire_time(frame.size())), sc_core::SC_PS);
    Surroundings::write(outside_.to_hca[port - 1], 0, frame, start - now);
  }
  void change_cable(bool is_broken, u32 port) override {
    const InDevice inside;
    hca_.change_cable(port - 1, is_broken, sc_core::SC_ZERO_TIME);
  }
  void run() override {
    while (due() != kNever && due() < hca_.next_timer() &&
           due() <= std::max(hca_.domain().now(), present()) + kLongestPause)
      run_cycle(due());
  }
  std::vector<Frame> take_frames() override { return std::exchange(outside_.frames, {}); }
  std::optional<u64> next_timer() override { return due_at(hca_.next_timer()); }
  std::optional<u64> timer_of(u32 qpn) override { return due_at(hca_.timer_of(qpn)); }
  u64 now() override { return nanoseconds(std::max(hca_.domain().now(), present())); }
  void advance_to_next_timer() override {
    const Cycle timer = hca_.next_timer();
    while (due() != kNever && hca_.next_timer() == timer) run_cycle(due());
  }
  void advance(u64 nanoseconds) override {
    const sc_core::sc_time end =
        sc_core::sc_time_stamp() + sc_core::sc_time(double(nanoseconds), sc_core::SC_NS);
    const Cycle last = end.value() / hca_.period().value();
    while (due() != kNever && due() < last) run_cycle(due());
    const InDevice inside;
    sc_core::sc_start(end - sc_core::sc_time_stamp());
  }
  device::Contexts& contexts() override { return hca_.contexts(); }
  bool cuts_through() const override {
    return config_.port[0].rx_forward == blocks::RxForward::CutThrough;
  }

 private:
  static blocks::ChipConfig config_of(const DeviceOptions& options) {
    blocks::ChipConfig config;
    config.transport = options.transport;
    // It is sent what it is sent: no sender of a recording heeds a pause.
    config.link_control.mode = blocks::FlowControl::Endless;
    const device::ObjectLimits& l = options.limits;
    blocks::CoreConfig& core = config.core;
    core.max_qps = l.qps;
    core.max_cqs = l.cqs;
    core.max_eqs = l.eqs;
    core.max_regions = l.regions;
    core.max_srqs = l.srqs;
    core.max_pds = l.pds;
    core.max_vectors = l.vectors;
    core.ports = l.ports;
    for (auto& port : config.port)
      port.rx_forward =
          options.cut_through ? blocks::RxForward::CutThrough : blocks::RxForward::Store;
    return config;
  }
  Cycle due() { return hca_.domain().next(); }
  std::optional<u64> due_at(Cycle timer) const {
    if (timer == kNever) return std::nullopt;
    return nanoseconds(timer);
  }
  Cycle present() const { return sc_core::sc_time_stamp().value() / hca_.period().value(); }
  u64 wire_time(std::size_t bytes) const {
    return bytes * 8 * engine::kPicosecondsPerSecond / config_.port[0].link_rate + 1;
  }
  void run_cycle(Cycle cycle) {
    const InDevice inside;
    sc_core::sc_start(hca_.delay_to(cycle + 1));
  }
  u64 nanoseconds(Cycle cycle) const { return cycle * hca_.period().value() / 1000; }

  blocks::ChipConfig config_;
  const std::shared_ptr<const blocks::StandIns> rtl_;
  FreshKernel kernel_;
  sc_core::sc_time link_free_;
  tlm_::HostMemory memory_;
  tlm_::MemoryTarget target_{"memory", memory_};
  Surroundings outside_{"outside", config_.core.ports};
  Hca hca_{"hca", config_, std::make_unique<blocks::FixedHostTiming>(kHostLatency)};
};
}  // namespace

std::unique_ptr<ReplayDevice> make_cycle_device(const DeviceOptions& options) {
  return std::make_unique<CycleDevice>(options);
}
}  // namespace hca::testbench
