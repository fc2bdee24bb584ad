// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm>

#include "model/proto/wire/frame_view.h"

namespace hca::blocks {
struct Packet;
}

namespace hca {
// Passes a packet with a frame's generic payload between two HCAs: the receiver may take the packet
// itself instead of copying its bytes, and then clears the pointer. Other modules see the frame as
// data. A frame that is changed on the way has no packet.
//
// Of a frame whose payload is cut (proto::FrameView) the data are what it holds, and the extension
// has its size on the link and the state of its CRCs.
struct WireExtension : tlm::tlm_extension<WireExtension> {
  blocks::Packet* packet = nullptr;
  u32 frame_bytes = 0;  // 0: as many as there are data
  proto::FrameCrcs crcs{};

  tlm::tlm_extension_base* clone() const override {
    auto* const made = new WireExtension;
    made->copy_from(*this);
    return made;
  }
  void copy_from(const tlm::tlm_extension_base& other) override {
    const auto& from = static_cast<const WireExtension&>(other);
    packet = nullptr;
    frame_bytes = from.frame_bytes;
    crcs = from.crcs;
  }
};

// The frame of a payload of `wire_initiator`.
inline proto::FrameView frame_of(const tlm::tlm_generic_payload& payload) {
  const u32 held = payload.get_data_length();
  const auto* const extension = payload.get_extension<WireExtension>();
  if (!extension || !extension->frame_bytes) return {payload.get_data_ptr(), held};
  return proto::FrameView::cut({payload.get_data_ptr(), held}, extension->frame_bytes,
                               extension->crcs);
}
}  // namespace hca
