// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/types.h"

namespace hca::testbench {
// The kinds of buffers of an end: what it sends and what its READs and ATOMICs return; where the
// peer's WRITEs land; what the peer READs; receive buffers; the numbers that ATOMICs change.
enum class BufferKind : u8 { Local, Target, Served, Received, Numbers };
inline constexpr std::size_t kBufferKinds = 5;
}  // namespace hca::testbench
