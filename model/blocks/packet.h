// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "model/blocks/payload.h"
#include "model/device/connection.h"
#include "model/engine/budget.h"
#include "model/proto/transport/request_effect.h"
#include "model/proto/transport/requester_rules.h"

namespace hca::blocks {
using engine::Cycle;
using engine::kNever;

class PacketPool;

// A part of a packet's payload: its place in the frame and its size, and the bytes of it that the
// frame holds. Only these are moved.
struct PayloadPiece {
  u8* at = nullptr;
  u32 bytes = 0, held = 0;
};

// One packet travels as one item, from the requester to the peer's responder. Its frame is
// contiguous and never copied between blocks. `first` and `last` are the cycles in which its first
// and last byte reach the block that holds it. The frame may hold only the begin of its payload
// (PacketPool); times and lengths are those of all of it.
struct alignas(64) Packet {
  Packet* next = nullptr;
  PacketPool* home = nullptr;
  Cycle first = 0, last = 0;
  u32 frame_bytes = 0;
  u32 held = kWhole;  // of a frame that is cut: the first bytes, which are here
  u32 qpn = 0;        // of the local queue pair
  u32 psn = 0;
  u8 port = 0;  // by which it leaves
  bool is_request = false;
  bool abandoned = false;   // its queue pair was reset during the gather
  bool tells_sent = false;  // the requester waits until it is on the wire
  bool is_control = false;  // a control frame of the link; constant within its pool
  bool turned = false;      // looped back by the sending port to a multicast group
  bool unread = false;      // a READ response whose data could not be read
  bool has_icrc = false;    // computed with the payload, while that is in the processor's cache
  proto::FrameCrcs crcs{};  // of a frame that is cut, in place of its CRCs
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

  static constexpr u32 kWhole = ~0u;
  bool is_cut() const { return held != kWhole; }
  // Sets the shape of a packet to send, and with it the bytes that its frame holds.
  inline void set_shape(const proto::FrameShape& of_sent);
  // The frame as it is on the link.
  proto::FrameView on_link() const {
    if (!is_cut()) [[likely]]
      return {frame(), frame_bytes};
    return proto::FrameView::cut({frame(), held}, frame_bytes, crcs);
  }
  // The bytes of the frame that are here: all headers, and those of the payload that are held.
  std::span<const u8> bytes() const { return {frame(), std::min(held, frame_bytes)}; }
  // A part of the payload that begins `offset` bytes after the begin of the frame.
  PayloadPiece piece(u32 offset, u32 bytes) {
    return {frame() + offset, bytes, offset < held ? std::min(bytes, held - offset) : 0};
  }
  // Makes the frame a copy.
  void set_frame(const proto::FrameView& from) {
    frame_bytes = from.size();
    held = from.is_cut() ? u32(from.held().size()) : kWhole;
    crcs = from.crcs();
    std::memcpy(frame(), from.data(), from.held().size());
  }

  // port_transmit models the time of this. A frame that is cut has good CRCs until the wire damages
  // it.
  void insert_icrc(proto::NetworkCrcs& known) {
    if (is_cut())
      crcs = {true, true};
    else
      proto::insert_icrc(frame(), shape, known);
    has_icrc = true;
  }
  // Returns the bytes of the frame with its last CRC.
  u32 end_frame() {
    if (!is_cut()) return proto::end_frame(frame(), shape);
    return shape.icrc_offset + proto::crc_bytes(shape.framing);
  }
};

// Frames of one size class, recycled. A packet returns to the pool that created it, from any
// holder. The frames have room for the headers and as much payload as is held.
class PacketPool {
 public:
  static constexpr u32 kBeside = proto::kMaxHeaderBytes + 64;  // the payload
  static constexpr u32 kFrameCapacity = kMostPayload + kBeside;

  explicit PacketPool(Payload payload = Payload::Carried)
      : payload_held_(held_of(payload)), lines_(lines_of(payload_held_)) {}
  PacketPool(const PacketPool&) = delete;

  // The longest frame that it has room for.
  u32 capacity() const { return payload_held_ + kBeside; }
  u32 payload_held() const { return payload_held_; }

  Packet* take() {
    if (!free_) [[unlikely]]
      grow();
    Packet* p = free_;
    free_ = p->next;
    p->has_icrc = p->turned = false;
    p->held = Packet::kWhole;
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
  static constexpr u32 kBatch = 32;
  static constexpr u32 lines_of(u32 payload) {
    return (sizeof(Packet) + Packet::kLead + payload + kBeside + 63) / 64;
  }

  [[gnu::cold, gnu::noinline]] void grow() {
    batches_.push_back(std::make_unique<Line[]>(lines_ * kBatch));
    for (u32 i = 0; i < kBatch; ++i) {
      Packet* p = new (&batches_.back()[i * lines_]) Packet;
      p->home = this;
      give_back(p);
    }
  }
  const u32 payload_held_, lines_;
  Packet* free_ = nullptr;
  std::vector<std::unique_ptr<Line[]>> batches_;
};

inline void Packet::set_shape(const proto::FrameShape& of_sent) {
  shape = of_sent;
  const u32 most = home->payload_held();
  if (shape.payload_bytes > most) held = shape.payload_offset + most;
}
}  // namespace hca::blocks
