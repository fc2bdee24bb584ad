// SPDX-License-Identifier: Apache-2.0
// Upper limits of what the knobs of a chip configure.
#pragma once
#include <array>

#include "model/proto/wire/link_frames.h"

namespace hca::blocks {
inline constexpr unsigned kMaxPorts = 2;
template <class T>
using PerPort = std::array<T, kMaxPorts>;

inline constexpr unsigned kLanes = proto::kPriorities;      // data virtual lanes, or priorities
inline constexpr u32 kMostTurns = 256, kMostPackets = 256;  // in flight; packets per port
}  // namespace hca::blocks
