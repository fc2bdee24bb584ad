// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::blocks {
// Whether packets carry their payload, or only the time that it takes.
enum class Payload : u8 { Carried, Timed };
inline constexpr std::array<std::string_view, 2> kPayloadNames{"carried", "timed"};

inline constexpr u32 kMostPayload = 4096;  // of a packet, bytes
// Timed: the bytes at the begin of each packet's payload that are still moved. Software tells
// messages apart by them, and an ATOMIC WRITE has no more.
inline constexpr u32 kTimedPayload = 8;
constexpr u32 held_of(Payload p) { return p == Payload::Timed ? kTimedPayload : kMostPayload; }
}  // namespace hca::blocks
