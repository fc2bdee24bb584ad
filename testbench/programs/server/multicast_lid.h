// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/types.h"

namespace hca::attach {
// The LID of a multicast group, derived from the GID; a subnet manager would choose it.
inline u16 multicast_lid(const u8* gid) {
  constexpr u16 kFirst = 0xc000, kCount = 0x3ffe;
  u32 sum = 0;
  for (unsigned i = 0; i < 16; ++i) sum = sum * 31 + gid[i];
  return u16(kFirst + sum % kCount);
}
}  // namespace hca::attach
