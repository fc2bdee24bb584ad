// SPDX-License-Identifier: Apache-2.0
// What listing and JSON of a packet both say.
#pragma once
#include <span>
#include <string>

#include "testbench/packets/packet_listing.h"

namespace hca::testbench {
inline std::span<const u8> captured_bytes(const FrameReport& r) { return r.frame.captured.bytes; }
std::span<const u8> icrc_bytes(const FrameReport& r);
std::span<const u8> vcrc_bytes(const FrameReport& r);
// What the bytes should have been, in the order of the wire.
std::array<u8, 4> right_icrc(const FrameReport& r);
std::array<u8, 2> right_vcrc(const FrameReport& r);
// Of a packet whose structure is good, as far as it was captured.
std::span<const u8> payload_of(const FrameReport& r);
// "12 AB FF"
std::string hex_bytes(std::span<const u8> bytes);
// One line: framing, ends, opcode, queue pair, PSN and size, or what is wrong.
std::string summary(const FrameReport& r);
}  // namespace hca::testbench
