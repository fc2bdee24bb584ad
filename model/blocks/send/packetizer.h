// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <deque>

#include "model/blocks/items.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/memory/protection.h"
#include "model/blocks/port/lane_arbiter.h"
#include "model/blocks/port/tx_start.h"
#include "model/blocks/send/packetizer_config.h"
#include "model/blocks/send/read_order.h"
#include "model/engine/budget.h"
#include "model/engine/rate.h"
#include "model/proto/wire/network_crcs.h"

namespace hca::blocks {
struct PacketizerCounters {
  u64 packets = 0, payload_bytes = 0, gathers = 0;
};

// The position in the payload of a message: its SGEs and the end of the last packet.
struct GatherCursor {
  const u8* segments = nullptr;  // SGEs as in the WQE, or the inline data
  u32 count = 0;                 // of SGEs; 0: inline
  u32 index = 0, offset = 0;     // in the SGEs
  u32 inline_offset = 0;
  void skip(u32 bytes);
};

// Writes the headers before a payload and gathers the payload by DMA into the frame after them. It
// is activated as part of the requester's segment, and writes that segment's link `dma_out`.
//
// Contract: a packet that enters in cycle n requests its first piece of payload in n + latency and
// one more piece a cycle; one packet each `interval` cycles. The port sees it when its bytes are in
// (full), or as soon as no gap can open on the wire (threshold). A packet without payload in host
// memory is seen by the port in n + latency + 2, unless an earlier one of its queue pair has not
// reached the port yet: then it keeps its place after that one by an empty read.
//
// With `unit` the payload of a message goes on in units of this many bytes: a packet waits for its
// last byte, plus the time of the later bytes of its unit at `unit_rate`.
class Packetizer {
 public:
  Packetizer(const PacketizerConfig& config, u64 clock_hz, Protection& protection,
             const PerPort<TxRelease>& release)
      : ports{Port(config, release[0]), Port(config, release[1])},
        protection_(protection),
        stage_(config.latency, config.interval),
        unit_(config.unit),
        unit_rate_(config.unit_rate, clock_hz) {}

  // One per port.
  struct Port {
    Port(const PacketizerConfig& config, const TxRelease& release_of_port)
        : release(release_of_port),
          by_lane(config.lane_buffers),
          buffers(config.buffers, config.buffer_bytes) {
      for (unsigned i = 0; config.lane_buffers && i < kLanes; ++i)
        of_lanes.emplace_back(config.lane_buffers, config.buffer_bytes);
    }
    engine::Budget& buffers_of(unsigned lane) {
      if (!by_lane) [[likely]]
        return buffers;
      return of_lanes[lane];
    }
    PacketLink* packets_out = nullptr;  // written by dma in the cycle of the memory access
    Cycle last_release = 0;
    TxRelease release;
    const bool by_lane;                   // counted by of_lanes, not by `buffers`
    engine::Budget buffers;               // returned by the port
    std::deque<engine::Budget> of_lanes;  // instead, by virtual lane or priority
    PacketLink* not_read_out = nullptr;   // written by the requester: packets without a read
    Cycle last_not_read = 0;
  };
  DmaLink* dma_out = nullptr;
  engine::Probe probe;
  PacketizerCounters counters;
  engine::Waker dma;  // the clock domain of `arrived`
  engine::Probe not_read_probe;
  PerPort<Port> ports;

  bool busy() const { return packet_; }
  // True: a packet for this port can be taken. Otherwise the caller is woken when it can.
  bool can_start(unsigned port) { return ports[port].buffers.available() && dma_out->can_push(); }
  // The same for lanes with their own buffers.
  bool can_start(unsigned port, unsigned lane) {
    return ports[port].buffers_of(lane).available() && dma_out->can_push();
  }
  // Lanes with their own buffers; 1: all lanes share them.
  unsigned lanes() const { return ports[0].by_lane ? kLanes : 1; }
  // Takes a packet whose headers and lane are set; advances `cursor` past its payload. `order`: of
  // its queue pair; must not move. `at`: the cycle in which the packet enters.
  void start(Packet* packet, GatherCursor& cursor, ReadOrder& order, Cycle now, Cycle at);
  // Requests the next piece; true when none is left.
  bool gather(Cycle now);
  bool has_units() const { return unit_; }
  // For a packet that ends at `offset` of a message of `bytes`: the bytes of its unit after it.
  u32 behind_in_unit(u32 offset, u32 bytes) const {
    return offset >= bytes ? 0 : std::min(bytes - offset, (unit_ - offset % unit_) % unit_);
  }
  // Abandons the packet that is being gathered; its last piece only returns its resources.
  void abandon() {
    packet_->abandoned = true;
    left_ = 0;
  }

  DmaCallbacks client() {
    return {this, [](void* owner, const DmaRequest& r, Cycle first, Cycle last) {
              static_cast<Packetizer*>(owner)->arrived(r, first, last);
            }};
  }

 private:
  void arrived(const DmaRequest& request, Cycle first, Cycle last);
  [[gnu::always_inline]] bool gather_piece(Cycle now);
  PayloadPiece next_piece(u32 bytes);
  void ask(const PayloadPiece& to, u64 address, bool complete, Cycle now);
  void pass(Packet* packet, Cycle now);
  Cycle release(Packet& packet, Cycle last, Cycle not_before);
  Cycle behind_unit(const Packet& packet) const;

  // Members that each packet needs lie side by side.
  Protection& protection_;
  Packet* packet_ = nullptr;  // being gathered
  GatherCursor* cursor_ = nullptr;
  u32 left_ = 0, filled_ = 0;
  Cycle enters_ = 0, last_ask_ = 0;
  engine::Stage stage_;
  const u32 unit_;
  const engine::Rate unit_rate_;
  proto::NetworkCrcs network_crcs_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::PacketizerCounters> {
  using C = hca::blocks::PacketizerCounters;
  static constexpr std::string_view block = "packetizer";
  static constexpr auto rows =
      make_rows(counter("packets", &C::packets, "packets", "packets built"),
                counter("payload_bytes", &C::payload_bytes, "bytes", "payload gathered"),
                counter("gathers", &C::gathers, "requests", "DMA requests for payload"));
};
