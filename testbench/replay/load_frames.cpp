// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/load_frames.h"

#include <fmt/format.h>

#include <stdexcept>

#include "testbench/host/functional_device.h"
#include "testbench/packets/opened_frame.h"
#include "testbench/vectors/inputs.h"
#include "testbench/vectors/run.h"

namespace hca::testbench {
namespace {
// Where the device that is made next puts its frames.
std::vector<GivenFrame>* recording = nullptr;

// A functional device whose frames are kept.
class RecordingDevice : public ReplayDevice {
 public:
  explicit RecordingDevice(const DeviceOptions& options)
      : link_(options.link), device_(make_functional_device(options)) {}
  tlm_::HostMemory& memory() override { return device_->memory(); }
  void mmio_write(u32 offset, std::span<const u8> bytes) override {
    device_->mmio_write(offset, bytes);
  }
  void inject(std::span<const u8> frame, u32 port) override {
    keep(frame);
    device_->inject(frame, port);
  }
  void change_cable(bool is_broken, u32 port) override { device_->change_cable(is_broken, port); }
  void run() override { device_->run(); }
  std::vector<Frame> take_frames() override {
    std::vector<Frame> frames = device_->take_frames();
    for (const Frame& frame : frames) keep(frame);
    return frames;
  }
  std::optional<u64> next_timer() override { return device_->next_timer(); }
  std::optional<u64> timer_of(u32 qpn) override { return device_->timer_of(qpn); }
  u64 now() override { return device_->now(); }
  void advance_to_next_timer() override { device_->advance_to_next_timer(); }
  void advance(u64 nanoseconds) override { device_->advance(nanoseconds); }
  device::Contexts& contexts() override { return device_->contexts(); }

 private:
  void keep(std::span<const u8> frame) {
    if (!frame.empty()) recording->push_back({{frame.begin(), frame.end()}, link_, {}});
  }
  proto::LinkLayer link_;
  std::unique_ptr<ReplayDevice> device_;
};
std::unique_ptr<ReplayDevice> make_recording_device(const DeviceOptions& options) {
  return std::make_unique<RecordingDevice>(options);
}

void add_vector(const Vector& vector, std::vector<GivenFrame>& frames) {
  const std::size_t before = frames.size();
  recording = &frames;
  const VectorResult result = run_vector(vector, {"functional", make_recording_device});
  recording = nullptr;
  if (result.is_broken())
    throw std::runtime_error(
        fmt::format("{}: {}: {}", vector.path, result.failure->where, result.failure->what));
  for (std::size_t i = before; i < frames.size(); ++i)
    frames[i].source = fmt::format("{}, frame {}", vector.path, i - before + 1);
}
void add_capture(const std::string& path, std::vector<GivenFrame>& frames) {
  u64 number = 0;
  for (CapturedFrame& frame : read_capture(path)) {
    ++number;
    if (!frame.note.empty() || frame.bytes.size() < frame.bytes_on_wire || frame.bytes.empty())
      continue;
    const std::string source = fmt::format("{}, frame {}", path, number);
    const bool as_on_the_wire =
        frame.begins == proto::Layer::Ethernet || frame.begins == proto::Layer::Lrh;
    if (as_on_the_wire) {
      frames.push_back({std::move(frame.bytes), frame.link, source});
    } else if (DeviceFrame opened = device_frame(frame); opened.other.empty()) {
      frames.push_back({std::move(opened.bytes), opened.link, source});
    }
  }
}
}  // namespace

std::vector<GivenFrame> load_frames(std::span<const std::string> paths) {
  const ReplayInputs in = find_inputs(paths);
  if (!in.unreadable.empty()) throw std::runtime_error(in.unreadable.front().what);
  std::vector<GivenFrame> frames;
  for (const std::string& path : in.captures) add_capture(path, frames);
  for (const Vector& vector : in.vectors) add_vector(vector, frames);
  if (frames.empty())
    throw std::runtime_error("--packets: no frames; allowed: captures and vectors that have some");
  return frames;
}
}  // namespace hca::testbench
