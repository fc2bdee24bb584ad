// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "model/device/connection.h"
#include "model/engine/budget.h"
#include "model/proto/transport/request_effect.h"
#include "model/proto/transport/requester_rules.h"

namespace hca::blocks {
using engine::Cycle;
using engine::kNever;

class PacketPool;

// One packet travels as one item, from the requester to the peer's responder; its frame is
// contiguous and never copied between blocks. `first` and `last` say when its first and last byte
// are in at the block that holds it.
struct alignas(64) Packet {
  Packet* next = nullptr;
  PacketPool* home = nullptr;
  Cycle first = 0, last = 0;
  u32 frame_bytes = 0;
  u32 qpn = 0;  // of this side's queue pair
  u32 psn = 0;
  u8 port = 0;  // through which it leaves
  bool is_request = false;
  bool abandoned = false;             // its queue pair was reset while it was gathered
  bool tells_sent = false;            // the requester waits for it to be on the wire
  bool is_control = false;            // of the link itself; stays so in its pool
  bool turned = false;                // it was sent by the port that receives it, to a group
  bool has_icrc = false;              // computed when its payload came, while the cache has it
  u8 lane = 0;                        // of the receive buffer, if there are several
  u32 life = 0;                       // of the queue pair when the packet was made
  engine::Budget* buffers = nullptr;  // where its room is given back when it is on the wire
  struct ReadOrder* order = nullptr;  // of its queue pair, while its payload is read

  // On the receiving side; what every packet has stands in as few lines of the cache as it can.
  proto::RequestVerdict verdict{};
  proto::RequestEffect effect{};
  proto::FrameShape shape{};  // of what is sent
  proto::ParsedPacket parsed;
  device::ReceiveQueue receive_queue{};  // whose WQEs it takes, if it takes any
  u32 behind_in_unit = 0;                // bytes, of what is sent; if the packetizer has units

  // Where the payload of a packet without extension headers, Ethernet with IPv4, begins a line of
  // the cache.
  static constexpr u32 kHeaderBytes =
      proto::bytes_of<proto::Ethernet>() +
      proto::framing_row(proto::Framing::RoceV2Ip4).covered_header_bytes +
      proto::bytes_of<proto::Bth>();
  static constexpr u32 kLead = (64 - kHeaderBytes % 64) % 64;
  u8* frame() { return reinterpret_cast<u8*>(this + 1) + kLead; }
  const u8* frame() const { return reinterpret_cast<const u8*>(this + 1) + kLead; }
  u8* payload() { return frame() + shape.payload_offset; }
  // port_transmit spends the time of it.
  void insert_icrc(proto::NetworkCrcs& known) {
    proto::insert_icrc(frame(), shape, known);
    has_icrc = true;
  }
};

// Frames of one size class, recycled. A packet goes back to the pool that made it, whoever held it
// last.
class PacketPool {
 public:
  static constexpr u32 kFrameCapacity = 4096 + proto::kMaxHeaderBytes + 64;

  PacketPool() = default;
  PacketPool(const PacketPool&) = delete;

  Packet* take() {
    if (!free_) [[unlikely]]
      grow();
    Packet* p = free_;
    free_ = p->next;
    p->has_icrc = p->turned = false;
    return p;
  }
  static void give_back(Packet* p) {
    p->next = p->home->free_;
    p->home->free_ = p;
  }

 private:
  struct alignas(64) Line {
    u8 bytes[64];
  };
  static constexpr u32 kLines = (sizeof(Packet) + Packet::kLead + kFrameCapacity + 63) / 64;
  static constexpr u32 kBatch = 32;

  [[gnu::cold, gnu::noinline]] void grow() {
    batches_.push_back(std::make_unique<Line[]>(kLines * kBatch));
    for (u32 i = 0; i < kBatch; ++i) {
      Packet* p = new (&batches_.back()[i * kLines]) Packet;
      p->home = this;
      give_back(p);
    }
  }
  Packet* free_ = nullptr;
  std::vector<std::unique_ptr<Line[]>> batches_;
};
}  // namespace hca::blocks
