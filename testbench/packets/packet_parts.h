// SPDX-License-Identifier: Apache-2.0
// Parts that the listing and the JSON of a packet share.
#pragma once
#include <span>
#include <string>

#include "testbench/packets/packet_listing.h"

namespace hca::testbench {
inline std::span<const u8> captured_bytes(const FrameReport& r) { return r.frame.captured.bytes; }
std::span<const u8> icrc_bytes(const FrameReport& r);
std::span<const u8> vcrc_bytes(const FrameReport& r);
// The correct ICRC bytes, in wire order.
std::array<u8, 4> right_icrc(const FrameReport& r);
std::array<u8, 2> right_vcrc(const FrameReport& r);
// The payload of a well-formed packet, as far as it was captured.
std::span<const u8> payload_of(const FrameReport& r);
// "12 AB FF"
std::string hex_bytes(std::span<const u8> bytes);
// One line: framing, ends, opcode, queue pair, PSN and size, or the error.
std::string summary(const FrameReport& r);
}  // namespace hca::testbench
