// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

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
  u64 waits_credits = 0, waits_pause = 0, stalls = 0;
};

// A frame, and the cycle in which port_receive takes it.
struct ArrivingFrame {
  Packet* packet = nullptr;
  Cycle taken = 0;
};
// The bytes of the receive buffer that a packet frees.
struct FreedRoom {
  u8 lane = 0;
  u32 bytes = 0;
};

// The receive buffers of a port, one for each lane and one shared, and the flow control of its
// link. It lies around both halves of `port`, between them and the wire, requester and responder.
// Packets to send wait here by lane; port_transmit holds at most two of them.
//
// Contract: a frame occupies its room from its first byte until its last byte has left icrc_unit; a
// frame without room is dropped. Beyond its own buffer a lane may occupy up to `alpha` times the
// free shared space. A control frame takes effect from the cycle of its last byte on; packets that
// port_transmit already holds are still sent. Control frames bypass queued packets. A packet seen
// in cycle n is seen by port_transmit in n + 1; one a cycle.
class LinkControl : public engine::Block {
 public:
  LinkControl(const LinkControlConfig& config, u64 link_rate, u64 clock_hz,
              const proto::PortAttributes& attributes, unsigned port);

  engine::Mailbox<ArrivingFrame> frames_in;  // at their first byte; control frames at their last
  engine::Mailbox<FreedRoom> freed_in;       // from port_receive
  PacketLink requests_in, not_read_in;       // the one seen first is taken first
  PacketLink replies_in{16};
  struct Outputs {
    engine::Mailbox<Packet*>* frames_out = nullptr;  // to port_receive, or to its gate
    PacketLink* packets_out = nullptr;               // to port_transmit
    PacketLink* control_out = nullptr;
    // to port_receive, 1: requests without room have to go; 0: no longer
    engine::Mailbox<u32>* stalls_out = nullptr;
  };
  Outputs outputs;
  LinkControlCounters counters;
  engine::Probe probe;

  void tick();
  // For a person, of a port that may not send what waits: why, since when, and what its receive
  // buffer holds; otherwise "".
  std::string standstill() const;

 private:
  static constexpr u32 kMostReplies = 16;            // waiting in a lane
  static constexpr unsigned kAllLanes = kLanes + 1;  // with the management lane, the last one
  struct Lane {
    // Receive side: bytes in the buffer, blocks in total, the credit limit last advertised.
    u32 used = 0, received = 0, told = 0;
    // Send side: queued packets, blocks in total, the credit limit last received; no packet before
    // cycle `from`.
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
  void watch_stall();
  bool is(FlowControl mode) const { return config_.mode == mode; }
  unsigned lane_of_sent(Packet& p) const;
  unsigned lane_of_received(const Packet& p) const;
  u32 room_of(const Packet& p) const;
  bool has_room(const Lane& lane, u32 room) const;
  // Bytes of the shared buffer that a lane with `used` bytes occupies.
  u32 shared_of(u32 used) const { return used > config_.buffer ? used - config_.buffer : 0; }

  const LinkControlConfig config_;
  const proto::PortAttributes& attributes_;
  const u8 port_;
  const engine::Rate rate_;
  LaneArbiter arbiter_;
  std::array<Lane, kAllLanes> lanes_;
  const std::array<u32, 16> lane_of_sl_;
  u32 shared_used_ = 0;            // bytes
  u32 waiting_ = 0;                // lanes with queued packets, a bit each
  u32 stopped_ = 0, changed_ = 0;  // lanes whose sender must stop; lanes with an unreported change
  bool up_ = false;                // credits: the initial credit packets are sent
  Cycle remind_at_ = kNever;
  Cycle held_since_ = kNever;  // since when packets have waited with no lane allowed to send
  // The last cycle in which a packet left the receive buffer, and its bytes in all lanes.
  Cycle freed_at_ = 0;
  bool stalls_ = false;  // both directions stood still, and packets still wait
  u32 used_ = 0;
  const Cycle stall_limit_;
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
      counter("most_bytes", &C::most_bytes, "bytes", "maximum fill of a lane's buffer"),
      counter("most_shared", &C::most_shared, "bytes", "maximum fill of the shared buffer"),
      counter("told", &C::told, "packets",
              "control frames sent: PAUSE, PFC or flow control packets"),
      counter("heard", &C::heard, "packets", "control frames received"),
      counter("stalls", &C::stalls, "times",
              "both directions stood still for stall_limit: requests were to be dropped"),
      counter("waits_credits", &C::waits_credits, kWaited,
              "credits of the peer: packets wait, and no lane may send"),
      counter("waits_pause", &C::waits_pause, kWaited,
              "the end of a PAUSE or PFC pause: packets wait, and no lane may send"));
};
