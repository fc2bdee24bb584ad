// SPDX-License-Identifier: Apache-2.0
// What still arrives at a receiver after its occupancy has reached xoff.
#pragma once
#include <algorithm>

#include "model/blocks/payload.h"
#include "model/blocks/port/icrc_unit_config.h"
#include "model/blocks/port/port_config.h"
#include "model/engine/rate.h"
#include "model/proto/wire/framing.h"
#include "model/proto/wire/packet.h"

namespace hca::blocks {
// The largest frame of any connection: 4096 bytes with all headers and CRCs.
inline constexpr u32 kLargestFrame =
    kMostPayload + proto::kMaxHeaderBytes + proto::kIcrcBytes + proto::kVcrcBytes;

// One end of a link.
struct LinkEnd {
  u64 period = 0;  // ps of a cycle
  IcrcUnitConfig icrc;
  PortConfig port;
  // The time of its blocks from a packet in port_transmit to its first bit on the wire, ps.
  u64 out() const { return (icrc.latency + port.latency + kCycles) * period; }
  u64 in() const { return (port.latency + kCycles) * period; }
  // How much longer than the link its datapath takes for the largest frame, ps.
  u64 slower(u64 frame) const {
    const u64 beats = (kLargestFrame + icrc.beat_bytes - 1) / icrc.beat_bytes * period;
    return beats > frame ? beats - frame : 0;
  }
  static constexpr u64 kCycles = 2;  // from block to block
};

// Bytes. The sender has two packets in port_transmit and one on the way out. The control frame
// waits for one packet of the receiver and for one control frame, and takes its way; what the
// sender's blocks and the wire hold then comes as well. `one_way`: of the wire, ps.
inline u64 headroom(const LinkEnd& receiver, const LinkEnd& sender, u64 one_way) {
  constexpr u64 kPackets = 3, kControlBytes = 84, kBits = 8;
  const u64 rate = receiver.port.link_rate;
  const auto time_of = [&](u64 bytes) {
    return u64(engine::u128{bytes} * kBits * engine::kPicosecondsPerSecond / rate) + 1;
  };
  const u64 frame = time_of(kLargestFrame);
  const u64 control = frame + receiver.slower(frame) + 2 * time_of(kControlBytes) + receiver.out() +
                      one_way + sender.in();
  const u64 data = sender.out() + sender.slower(frame) + one_way + receiver.in();
  const u64 later =
      u64(engine::u128{control + data} * rate / kBits / engine::kPicosecondsPerSecond);
  return kPackets * kLargestFrame + later + 1;
}
}  // namespace hca::blocks
