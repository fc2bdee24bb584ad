// SPDX-License-Identifier: Apache-2.0
// The interface of an HCA model for a replay: host memory, MMIO, frames, and time that passes only
// on request.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/device/contexts.h"
#include "model/device/object_limits.h"
#include "model/proto/transport/qp.h"
#include "model/proto/transport/transport_options.h"
#include "model/proto/wire/framing.h"
#include "testbench/rtl_path/rtl_choice.h"
#include "tlm/host_memory/host_memory.h"

namespace hca::testbench {
using Frame = std::vector<u8>;

class ReplayDevice {
 public:
  virtual ~ReplayDevice() = default;
  virtual tlm_::HostMemory& memory() = 0;
  virtual void mmio_write(u32 offset, std::span<const u8> bytes) = 0;
  void inject(std::span<const u8> frame) { inject(frame, 1); }
  virtual void inject(std::span<const u8> frame, u32 port) = 0;  // port: from 1 on
  // The cable of a port breaks or is repaired.
  virtual void change_cable(bool is_broken, u32 port) = 0;
  // Runs until only timers are left.
  virtual void run() = 0;
  // The frames sent since the last call, of all ports.
  virtual std::vector<Frame> take_frames() = 0;
  // When the next timer fires, when the timer of a queue pair fires, and the current time, in ns.
  virtual std::optional<u64> next_timer() = 0;
  virtual std::optional<u64> timer_of(u32 qpn) = 0;
  virtual u64 now() = 0;
  // Advances time to the next timer, which fires.
  virtual void advance_to_next_timer() = 0;
  // Advances time; the timers up to then fire.
  virtual void advance(u64 nanoseconds) = 0;
  // The device's objects. A vector may put idle queue pairs into states that no command reaches.
  virtual device::Contexts& contexts() = 0;
  // True if a payload may be written before its packet is known good.
  virtual bool cuts_through() const { return false; }
};

struct DeviceOptions {
  proto::LinkLayer link = proto::LinkLayer::Ethernet;
  proto::TransportOptions transport;
  bool cut_through = false;  // of the cycle model
  device::ObjectLimits limits;
  RtlChoice rtl;                     // in the path of the cycle model
  tlm_::PageStore* pages = nullptr;  // for its host memory, if many devices follow each other
};

// A runner that captures can be replayed on.
struct ReplayRunner {
  std::string_view name;
  std::unique_ptr<ReplayDevice> (*make)(const DeviceOptions&);
  bool cut_through = false;
  RtlChoice rtl{};
};
// The options that a runner adds to those of its input.
inline DeviceOptions options_for(const ReplayRunner& runner, DeviceOptions options = {}) {
  options.cut_through = runner.cut_through, options.rtl = runner.rtl;
  return options;
}
}  // namespace hca::testbench
