// SPDX-License-Identifier: Apache-2.0
// Frames from captures and vectors that a stimulus sends in turn instead of its own.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
struct GivenFrame {
  std::vector<u8> bytes;  // from the first header to the last CRC, then padding
  proto::LinkLayer link{};
  std::string source;  // for a person: the file, and the place in it
};
class GivenFrames {
 public:
  GivenFrames() = default;
  explicit GivenFrames(std::vector<GivenFrame> frames)
      : frames_(std::make_shared<const std::vector<GivenFrame>>(std::move(frames))) {}
  bool any() const { return frames_ && !frames_->empty(); }
  std::size_t size() const { return frames_ ? frames_->size() : 0; }
  // The frame of packet `number`, and how often all frames have been sent before.
  const GivenFrame& of(u64 number) const { return (*frames_)[number % frames_->size()]; }
  u64 round(u64 number) const { return number / frames_->size(); }

 private:
  std::shared_ptr<const std::vector<GivenFrame>> frames_;
};
}  // namespace hca::testbench
