// SPDX-License-Identifier: Apache-2.0
// Headers of successive packets that differ in little more than their PSN: the middle packets of a
// message, ACKs, messages of one packet.
#pragma once
#include <cstring>

#include "model/proto/transport/psn.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
class RepeatedHeaders {
 public:
  static constexpr u32 kBytes = 84;  // of any path, and a BTH

  // `version`: version of the context from which the headers come.
  bool hold(u64 version) const { return shape_.payload_offset && version_ == version; }
  const FrameShape& shape() const { return shape_; }
  void forget() { shape_.payload_offset = 0; }
  // The caller writes the extension headers, if there are any.
  void keep(const u8* frame, const FrameShape& shape, u64 version) {
    std::memcpy(head_.data(), frame, end_of_bth(shape));
    shape_ = shape;
    version_ = version;
    front_ = u32(frame[shape.transport_offset + kPsnAt - 1]) << 24;
  }
  // Writes to a frame with room for kBytes; write the bytes after the BTH only after this call.
  void write(u8* frame, Psn psn) const {
    std::memcpy(frame, head_.data(), kMost);
    if (end_of_bth(shape_) > kMost) [[unlikely]]
      std::memcpy(frame + kMost, head_.data() + kMost, kBytes - kMost);
    store_be<4>(frame + shape_.transport_offset + kPsnAt - 1, front_ | psn);
  }

 private:
  static constexpr u32 end_of_bth(const FrameShape& shape) {
    return shape.transport_offset + bytes_of<Bth>();
  }
  static constexpr u32 kMost = 64;  // of most paths, and a BTH
  static constexpr unsigned kPsnAt = byte_of<Bth>("PSN");
  FrameShape shape_{};
  u32 front_ = 0;  // the byte before the PSN
  u64 version_ = 0;
  std::array<u8, kBytes> head_{};
};
static_assert(sizeof(Path::head) + bytes_of<Bth>() <= RepeatedHeaders::kBytes);
}  // namespace hca::proto
