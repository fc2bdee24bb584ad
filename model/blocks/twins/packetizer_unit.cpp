// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/packetizer_unit.h"

#include <algorithm>

namespace hca::blocks {
void PacketizerItem::process() {
  const proto::Path path = proto::make_path(*address);
  u8* const behind =
      frame + proto::write_headers(path, *opcode, *bth, *ext, payload_bytes, frame, ip_id);
  u8* const pad = std::copy_n(payload, payload_bytes, behind);
  bytes = u32(std::fill_n(pad, proto::pad_of(payload_bytes), u8{0}) - frame);
}
}  // namespace hca::blocks
