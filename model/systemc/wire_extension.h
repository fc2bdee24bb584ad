// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm>

namespace hca::blocks {
struct Packet;
}

namespace hca {
// Rides on a frame's generic payload between two HCAs: the receiver may take the packet itself
// instead of copying its bytes, and then clears the pointer. Whoever does not know it sees the
// frame as data; a frame that is changed on the way travels without it.
struct WireExtension : tlm::tlm_extension<WireExtension> {
  blocks::Packet* packet = nullptr;

  tlm::tlm_extension_base* clone() const override { return new WireExtension; }
  void copy_from(const tlm::tlm_extension_base&) override { packet = nullptr; }
};
}  // namespace hca
