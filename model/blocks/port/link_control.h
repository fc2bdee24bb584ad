// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/port/lane_arbiter.h"
#include "model/blocks/port/link_control_config.h"
#include "model/device/contexts.h"
#include "model/engine/mailbox.h"
#include "model/engine/rate.h"

namespace hca::blocks {

struct LinkControlCounters {
  u64 no_room = 0, most_bytes = 0, most_shared = 0, told = 0, heard = 0;
  u64 waits_credits = 0, waits_pause = 0;
};

// A frame, and when port_receive takes it.
struct ArrivingFrame {
  Packet* packet = nullptr;
  Cycle taken = 0;
};
// What a packet leaves free in the receive buffer.
struct FreedRoom {
  u8 lane = 0;
  u32 bytes = 0;
};

// The receive buffers of a port, one a lane and one that all lanes share, and the flow control of
// its link: around both halves of `port`, between them and the wire, requester and responder.
// Packets that are sent wait here, by lane, and go to port_transmit two at most ahead.
//
// Contract: a frame takes its room with its first byte and gives it back when its last byte has
// left icrc_unit; one that finds no room is dropped. What a lane holds beyond its own buffer is of
// the shared one, as long as the lane has less of it than `alpha` times what is free of it. A
// control frame is obeyed from the cycle of its last byte on: what port_transmit has already is
// sent. One that tells leaves in front of the packets that wait. A packet seen in cycle n is seen
// by port_transmit in n + 1; one a cycle.
class LinkControl : public engine::Block {
 public:
  LinkControl(const LinkControlConfig& config, u64 link_rate, u64 clock_hz,
              const proto::PortAttributes& attributes, unsigned port);

  engine::Mailbox<ArrivingFrame> frames_in;  // by first byte; control frames by their last
  engine::Mailbox<FreedRoom> freed_in;       // from port_receive
  PacketLink requests_in, not_read_in;       // of both the one that was seen first
  PacketLink replies_in{16};
  struct Outputs {
    engine::Mailbox<Packet*>* frames_out = nullptr;  // to port_receive, or its gate
    PacketLink* packets_out = nullptr;               // to port_transmit
    PacketLink* control_out = nullptr;
  };
  Outputs outputs;
  LinkControlCounters counters;
  engine::Probe probe;

  void tick();

 private:
  static constexpr u32 kMostReplies = 16;            // that wait in a lane
  static constexpr unsigned kAllLanes = kLanes + 1;  // with that of management, which is the last
  struct Lane {
    // Receives: bytes in the buffer, blocks in all, the limit that was told last.
    u32 used = 0, received = 0, told = 0;
    // Sends: packets that wait, blocks in all, the limit that was heard; no packet before `from`.
    Ring<Packet*> requests, replies;
    bool replies_next = false;
    u32 sent = 0, limit = 0, sent_told = 0;
    Cycle from = 0;
    Ring<Packet*>& next() {
      return !replies.empty() && (replies_next || requests.empty()) ? replies : requests;
    }
    bool waits() const { return !requests.empty() || !replies.empty(); }
  };

  void take(Packet* p, Cycle taken);
  void release(const FreedRoom& freed);
  void queue();
  void send();
  bool may_send(Lane& lane);
  void hold(bool held);
  void hear(const Packet& p);
  void watch(unsigned lane);
  void tell();
  u32 write(u8* frame);
  void remind();
  bool is(FlowControl mode) const { return config_.mode == mode; }
  unsigned lane_of_sent(Packet& p) const;
  unsigned lane_of_received(const Packet& p) const;
  u32 room_of(const Packet& p) const;
  bool has_room(const Lane& lane, u32 room) const;
  // What a lane that holds `used` bytes has of the shared buffer.
  u32 shared_of(u32 used) const { return used > config_.buffer ? used - config_.buffer : 0; }

  const LinkControlConfig config_;
  const proto::PortAttributes& attributes_;
  const u8 port_;
  const engine::Rate rate_;
  LaneArbiter arbiter_;
  std::array<Lane, kAllLanes> lanes_;
  const std::array<u32, 16> lane_of_sl_;
  u32 shared_used_ = 0;            // bytes
  u32 waiting_ = 0;                // lanes in which packets wait, a bit each
  u32 stopped_ = 0, changed_ = 0;  // lanes whose sender is to stop; of which it is to be told
  bool up_ = false;                // credits: the first packets are sent
  Cycle remind_at_ = kNever;
  Cycle held_since_ = kNever;  // packets wait, and no lane may send
  u32 arrivals_ = 0;
  PacketPool pool_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::LinkControlCounters> {
  using C = hca::blocks::LinkControlCounters;
  static constexpr std::string_view block = "link_control";
  static constexpr auto rows = make_rows(
      counter("no_room", &C::no_room, "packets", "dropped: no room in the receive buffer"),
      counter("most_bytes", &C::most_bytes, "bytes", "most that were in the buffer of a lane"),
      counter("most_shared", &C::most_shared, "bytes", "most that were in the shared buffer"),
      counter("told", &C::told, "packets", "PAUSE, PFC or flow control packets sent"),
      counter("heard", &C::heard, "packets", "the same, received"),
      counter("waits_credits", &C::waits_credits, kWaited,
              "credits of the peer: packets wait, and no lane may send"),
      counter("waits_pause", &C::waits_pause, kWaited,
              "the end of a PAUSE or PFC pause: packets wait, and no lane may send"));
};
