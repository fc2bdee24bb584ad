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

// Where the payload of a message stands: its SGEs and how far the last packet came.
struct GatherCursor {
  const u8* segments = nullptr;  // SGEs as they stand in the WQE, or the inline data
  u32 count = 0;                 // of SGEs; 0: inline
  u32 index = 0, offset = 0;     // in the SGEs
  u32 inline_offset = 0;
  void skip(u32 bytes);
};

// Writes the headers in front of a payload and gathers the payload by DMA into the frame behind
// them. It is activated as part of the requester's segment, of whose links it writes `dma_out`.
//
// Contract: a packet that enters in cycle n asks for its first piece of payload in n + latency and
// for one more piece a cycle; one packet each `interval` cycles. The port sees it when its bytes
// are in (full), or as early as no gap can open on the wire (threshold). One without payload in
// host memory is seen by the port in n + latency + 2, unless an earlier one of its queue pair is
// not seen there yet: then it keeps its place behind it, by an empty read.
//
// With `unit`, what is gathered goes on in units of so many bytes of a message: a packet waits for
// its last byte, and then as long as the bytes of its unit behind it take at `unit_rate`.
class Packetizer {
 public:
  Packetizer(const PacketizerConfig& config, u64 clock_hz, Protection& protection,
             const PerPort<TxRelease>& release)
      : ports{Port(config, release[0]), Port(config, release[1])},
        protection_(protection),
        stage_(config.latency, config.interval),
        unit_(config.unit),
        unit_rate_(config.unit_rate, clock_hz) {}

  // Of each port.
  struct Port {
    Port(const PacketizerConfig& config, const TxRelease& release_of_port)
        : release(release_of_port), by_lane(config.lane_buffers), buffers(config.buffers) {
      for (unsigned i = 0; config.lane_buffers && i < kLanes; ++i)
        of_lanes.emplace_back(config.lane_buffers);
    }
    engine::Budget& buffers_of(unsigned lane) {
      if (!by_lane) [[likely]]
        return buffers;
      return of_lanes[lane];
    }
    PacketLink* packets_out = nullptr;  // written in the cycle of the memory access, by dma
    Cycle last_release = 0;
    TxRelease release;
    const bool by_lane;                   // not `buffers` counts, but of_lanes
    engine::Budget buffers;               // given back by the port
    std::deque<engine::Budget> of_lanes;  // instead, by virtual lane or priority
    PacketLink* not_read_out = nullptr;   // written by the requester: what needs no read
    Cycle last_not_read = 0;
  };
  DmaLink* dma_out = nullptr;
  engine::Probe probe;
  PacketizerCounters counters;
  engine::Waker dma;  // whose clock `arrived` runs on
  engine::Probe not_read_probe;
  PerPort<Port> ports;

  bool busy() const { return packet_; }
  // A packet for this port can be taken; if not, the caller is woken when it can.
  bool can_start(unsigned port) { return ports[port].buffers.available() && dma_out->can_push(); }
  // The same of lanes that have buffers of their own.
  bool can_start(unsigned port, unsigned lane) {
    return ports[port].buffers_of(lane).available() && dma_out->can_push();
  }
  // Lanes with buffers of their own: 1, all share them.
  unsigned lanes() const { return ports[0].by_lane ? kLanes : 1; }
  // Takes a packet whose headers stand and whose lane is set; `cursor` moves past its payload.
  // `order`: of its queue pair, not moved. `at`: the cycle in which it comes in.
  void start(Packet* packet, GatherCursor& cursor, ReadOrder& order, Cycle now, Cycle at);
  // Asks for the next piece; true when none is left.
  bool gather(Cycle now);
  bool has_units() const { return unit_; }
  // Of a packet of a message of `bytes`, whose last byte is in front of `offset`.
  u32 behind_in_unit(u32 offset, u32 bytes) const {
    return offset >= bytes ? 0 : std::min(bytes - offset, (unit_ - offset % unit_) % unit_);
  }
  // The packet that is being gathered goes nowhere; the last piece only takes back what it holds.
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
  void ask(u8* buffer, u64 address, u32 bytes, bool complete, Cycle now);
  void pass(Packet* packet, Cycle now);
  Cycle release(Packet& packet, Cycle last, Cycle not_before);
  Cycle behind_unit(const Packet& packet) const;

  // Side by side what each packet needs.
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
