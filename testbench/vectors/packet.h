// SPDX-License-Identifier: Apache-2.0
// Packets of a vector, given by fields or bytes, to inject or to compare.
#pragma once
#include <functional>
#include <vector>

#include "model/proto/wire/packet.h"
#include "testbench/host/replay_device.h"
#include "testbench/vectors/fields.h"

namespace hca::testbench {
// A queue pair as its peer sees it.
struct PeerView {
  u32 qpn = 0, peer_qpn = 0;
  u16 pkey = 0xffff;
  u32 qkey = 0;
  u32 xrc_srqn = 0;             // SRQ that XRC requests name
  u32 eecn = 0, peer_eecn = 0;  // RD: EE context of the device, and the peer's
  proto::Service service = proto::Service::Rc;
  proto::Path from_peer{}, global_from_peer{};  // the second with a GRH
};

struct PacketContext {
  const Symbols& symbols;
  const PeerView& peer;
  // The bytes that a "payload" names.
  std::function<std::vector<u8>(const JsonAt&)> bytes_of;
};

// A packet from the peer to the queue pair. Fields not given have correct values: addresses, P_Key,
// DestQP, M, A in the last packet of a request, DMALen of a message of one packet, lengths and
// CRCs.
Frame build_packet(const JsonAt& json, const PacketContext& context);

// The differences between the packet and `json`, and general errors: a broken rule of form, a wrong
// CRC, an address or P_Key that is not the queue pair's.
std::vector<FieldDifference> compare_packet(const JsonAt& json, const PacketContext& context,
                                            std::span<const u8> frame);
}  // namespace hca::testbench
