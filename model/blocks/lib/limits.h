// SPDX-License-Identifier: Apache-2.0
// How much a chip has at most of what its knobs count.
#pragma once
#include <array>

#include "model/proto/wire/link_frames.h"

namespace hca::blocks {
inline constexpr unsigned kMaxPorts = 2;
template <class T>
using PerPort = std::array<T, kMaxPorts>;

inline constexpr unsigned kLanes = proto::kPriorities;  // virtual lanes with data, or priorities
inline constexpr u32 kMostTurns = 256, kMostPackets = 256;  // in flight, of a port the packets
}  // namespace hca::blocks
