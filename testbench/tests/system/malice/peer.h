// SPDX-License-Identifier: Apache-2.0
// The peer of queue pairs, whose frames are built here one by one, and its path.
#pragma once
#include <span>

#include "model/proto/wire/packet.h"
#include "testbench/host/replay_device.h"
#include "testbench/host/verbs.h"

namespace hca::testbench::malice {
inline constexpr u32 kPathMtu = 256;

// Throws std::runtime_error with this text.
void must(bool holds, const char* what);
// A port with an address.
void set_port(VerbsContext& verbs);
inline constexpr u32 kPeerQpn = 0x21;
// From any state through Reset to RTS: no work request is left, both PSNs are `psn`.
// Of RD: in the domain `rdd`.
void connect(VerbsContext& verbs, Qp& qp, u32 psn, u32 peer_qpn = kPeerQpn, u32 rdd = 0);
// The same of an EE context.
void connect_context(VerbsContext& verbs, u32 eecn, u32 psn, u32 peer_eecn, u32 rdd);
inline constexpr u32 kPeerQkey = 0x11111111;

// A frame from the peer to a queue pair; a request asks for its acknowledgement.
Frame peer_frame(u32 qpn, const proto::OpcodeRow& row, u32 psn, const proto::ExtHeaders& ext,
                 std::span<const u8> payload);

proto::ParsedPacket parsed(const Frame& frame);
std::vector<u8> payload_of(const Frame& frame);
}  // namespace hca::testbench::malice
