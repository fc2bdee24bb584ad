// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/functional/functional_hca.h"
#include "testbench/host/in_device.h"
#include "testbench/host/replay_device.h"

namespace hca::testbench {
// The functional model with its host memory.
class FunctionalDevice : public ReplayDevice {
 public:
  using Judged = std::function<void(const proto::RequestVerdict&)>;
  explicit FunctionalDevice(const DeviceOptions& options, Judged judged = {})
      : options_(options), judged_(std::move(judged)) {}
  tlm_::HostMemory& memory() override { return memory_; }
  void mmio_write(u32 offset, std::span<const u8> bytes) override {
    const InDevice inside;
    hca_.mmio_write(offset, bytes);
  }
  using ReplayDevice::inject;
  void inject(std::span<const u8> frame, u32 port) override {
    const InDevice inside;
    hca_.receive(frame, port, std::exchange(at_once_, true));
  }
  void change_cable(bool is_broken, u32 port) override {
    const InDevice inside;
    hca_.change_cable(port, is_broken);
  }
  void run() override { at_once_ = false; }  // work takes no time: it is already done
  std::vector<Frame> take_frames() override {
    sent_ports_.clear();
    return std::exchange(sent_, {});
  }
  // Ports of the frames that take_frames() will return.
  const std::vector<u32>& sent_ports() const { return sent_ports_; }
  std::optional<u64> next_timer() override { return hca_.next_timer(); }
  std::optional<u64> timer_of(u32 qpn) override { return hca_.timer_of(qpn); }
  u64 now() override { return hca_.now(); }
  void advance_to_next_timer() override {
    const InDevice inside;
    if (const auto due = hca_.next_timer()) hca_.advance_to(*due);
  }
  void advance(u64 nanoseconds) override {
    const InDevice inside;
    hca_.advance_to(hca_.now() + nanoseconds);
  }

  device::Contexts& contexts() override { return hca_.contexts(); }

  const functional::FunctionalHca& hca() const { return hca_; }

 private:
  DeviceOptions options_;
  Judged judged_;
  bool at_once_ = false;  // the next frame directly follows the previous one
  tlm_::HostMemory memory_{options_.pages};
  std::vector<Frame> sent_;
  std::vector<u32> sent_ports_;
  functional::FunctionalHca hca_{
      {[this](u64 address, std::span<u8> to) {
         const bool readable =
             tlm_::HostMemory::holds(address, to.size()) && memory_.is_readable(address, to.size());
         if (readable)
           memory_.read(address, to.data(), to.size());
         else
           std::fill(to.begin(), to.end(), u8{0xff});
         return readable;
       },
       [this](u64 address, std::span<const u8> from) {
         const bool writable = tlm_::HostMemory::holds(address, from.size()) &&
                               memory_.is_writable(address, from.size());
         if (writable) memory_.write(address, from.data(), from.size());
         return writable;
       },
       [this](u32 port, std::span<const u8> frame) {
         sent_.emplace_back(frame.begin(), frame.end());
         sent_ports_.push_back(port);
       },
       judged_},
      options_.transport,
      options_.limits};
};

std::unique_ptr<ReplayDevice> make_functional_device(const DeviceOptions& options);
}  // namespace hca::testbench
