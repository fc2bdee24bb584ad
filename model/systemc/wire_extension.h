// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm>

namespace hca::blocks {
struct Packet;
}

namespace hca {
// Passes a packet with a frame's generic payload between two HCAs: the receiver may take the packet
// itself instead of copying its bytes, and then clears the pointer. Other modules see the frame as
// data. A frame that is changed on the way travels without the extension.
struct WireExtension : tlm::tlm_extension<WireExtension> {
  blocks::Packet* packet = nullptr;

  tlm::tlm_extension_base* clone() const override { return new WireExtension; }
  void copy_from(const tlm::tlm_extension_base&) override { packet = nullptr; }
};
}  // namespace hca
