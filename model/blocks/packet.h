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

// One packet travels as one item, from the requester to the peer's responder. Its frame is
// contiguous and never copied between blocks. `first` and `last` are the cycles in which its first
// and last byte reach the block that holds it.
struct alignas(64) Packet {
  Packet* next = nullptr;
  PacketPool* home = nullptr;
  Cycle first = 0, last = 0;
  u32 frame_bytes = 0;
  u32 qpn = 0;  // of the local queue pair
  u32 psn = 0;
  u8 port = 0;  // by which it leaves
  bool is_request = false;
  bool abandoned = false;   // its queue pair was reset during the gather
  bool tells_sent = false;  // the requester waits until it is on the wire
  bool is_control = false;  // a control frame of the link; constant within its pool
  bool turned = false;      // looped back by the sending port to a multicast group
  bool unread = false;      // a READ response whose data could not be read
  bool has_icrc = false;    // computed with the payload, while that is in the processor's cache
  u8 lane = 0;              // of the receive buffer, if there are several
  u32 life = 0;             // of the queue pair when the packet was created
  engine::Budget* buffers = nullptr;  // its buffer returns here when it is on the wire
  struct ReadOrder* order = nullptr;  // of its queue pair, while its payload is read

  // On the receiving side. The fields of every packet lie in as few cache lines as possible.
  proto::RequestVerdict verdict{};
  proto::RequestEffect effect{};
  proto::FrameShape shape{};  // of a sent packet
  proto::ParsedPacket parsed;
  device::ReceiveQueue receive_queue{};  // the queue whose WQEs it takes, if it takes any
  bool keeps_wqe = false;  // RD: the receive WQE of a message that it ends returns to its queue
  u32 refusals = 0;        // RD: ReceiveState::refusals when it was judged
  // of a sent packet: bytes of its unit after it; if the packetizer has units
  u32 behind_in_unit = 0;

  // Headers of this size make the payload of a packet without extension headers, Ethernet with
  // IPv4, begin a cache line.
  static constexpr u32 kHeaderBytes =
      proto::bytes_of<proto::Ethernet>() +
      proto::framing_row(proto::Framing::RoceV2Ip4).covered_header_bytes +
      proto::bytes_of<proto::Bth>();
  static constexpr u32 kLead = (64 - kHeaderBytes % 64) % 64;
  u8* frame() { return reinterpret_cast<u8*>(this + 1) + kLead; }
  const u8* frame() const { return reinterpret_cast<const u8*>(this + 1) + kLead; }
  u8* payload() { return frame() + shape.payload_offset; }
  // A buffer holds headers and payload, without the CRCs.
  void take_buffer(engine::Budget& from) {
    from.take(shape.icrc_offset);
    buffers = &from;
  }
  void give_buffer(Cycle at) { buffers->give(at, shape.icrc_offset); }
  // port_transmit models the time of this.
  void insert_icrc(proto::NetworkCrcs& known) {
    proto::insert_icrc(frame(), shape, known);
    has_icrc = true;
  }
};

// Frames of one size class, recycled. A packet returns to the pool that created it, from any
// holder.
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
