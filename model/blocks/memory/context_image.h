// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "model/device/contexts.h"
#include "model/proto/interface/context_memory.h"

namespace hca::blocks {
// Writes the image of an entry in host memory, row_of(kind).bytes long. `log_page`: page size of a
// region without a list. An entry that does not exist is all zeros.
void write_image(const device::Contexts& contexts, proto::ContextKind kind, u64 number, u8 log_page,
                 std::span<u8> out);
}  // namespace hca::blocks
