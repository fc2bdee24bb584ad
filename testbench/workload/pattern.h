// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "tlm/host_memory/host_memory.h"

namespace hca::testbench {
// The payload of message `message` under `seed`: each byte depends on both and on its offset, so
// that any lost, moved, stale or foreign byte is detected.
void write_pattern(tlm_::HostMemory& memory, u64 address, u64 bytes, u64 seed, u64 message);

struct Mismatch {
  u64 offset;
  u8 expected, found;
};
// The first byte that differs, if any.
std::optional<Mismatch> check_pattern(const tlm_::HostMemory& memory, u64 address, u64 bytes,
                                      u64 seed, u64 message);
}  // namespace hca::testbench
