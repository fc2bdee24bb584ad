// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <concepts>
#include <span>

#include "model/proto/types.h"

namespace hca::proto {
// The results of checks of a frame's CRCs. vcrc_ok: native framings.
struct FrameCrcs {
  bool icrc_ok = false, vcrc_ok = false;
};

// A frame as it is at hand: its bytes, or, of a frame whose payload is cut, its first ones and its
// size on the link. A cut frame has all headers, no pad and no CRCs: `crcs` says whether these are
// right.
class FrameView {
 public:
  constexpr FrameView() = default;
  constexpr FrameView(const u8* all, std::size_t bytes) : held_(all, bytes), bytes_(u32(bytes)) {}
  template <std::convertible_to<std::span<const u8>> Bytes>
  constexpr FrameView(const Bytes& all) : held_(all), bytes_(u32(held_.size())) {}
  // The first `held` bytes of a frame of `bytes`.
  static constexpr FrameView cut(std::span<const u8> held, u32 bytes, FrameCrcs crcs) {
    FrameView frame(held);
    frame.bytes_ = bytes;
    frame.crcs_ = crcs;
    return frame;
  }

  const u8* data() const { return held_.data(); }
  u32 size() const { return bytes_; }  // on the link, without FCS
  bool is_cut() const { return held_.size() < bytes_; }
  std::span<const u8> held() const { return held_; }
  FrameCrcs crcs() const { return crcs_; }  // of a cut frame

 private:
  std::span<const u8> held_;
  u32 bytes_ = 0;
  FrameCrcs crcs_;
};
}  // namespace hca::proto
