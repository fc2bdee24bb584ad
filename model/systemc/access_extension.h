// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tlm>

#include "model/proto/types.h"

namespace hca {
// On a generic payload of `dma_initiator`: the access is of `bytes` bytes, but only the first move,
// as many as the payload has. What is in the others is of no interest. A target that does not know
// the extension sees a shorter access.
struct AccessExtension : tlm::tlm_extension<AccessExtension> {
  u32 bytes = 0;

  tlm::tlm_extension_base* clone() const override {
    auto* const made = new AccessExtension;
    made->bytes = bytes;
    return made;
  }
  void copy_from(const tlm::tlm_extension_base& from) override {
    bytes = static_cast<const AccessExtension&>(from).bytes;
  }
};
}  // namespace hca
