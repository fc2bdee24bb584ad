// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/contexts.h"
#include "model/blocks/items.h"
#include "model/blocks/lane_arbiter.h"
#include "model/blocks/ring.h"
#include "model/blocks/stage_config.h"
#include "model/engine/mailbox.h"
#include "model/engine/rate.h"

namespace hca::blocks {
enum class FlowControl : u8 { None, Pause, Pfc, Credits };
inline constexpr std::array<std::string_view, 4> kFlowControlNames{"none", "pause", "pfc",
                                                                   "credits"};

// Which virtual lane an SL goes by.
enum class LaneChoice : u8 { Modulo, Table };
inline constexpr std::array<std::string_view, 2> kLaneChoiceNames{"modulo", "table"};

struct LinkControlConfig {
  FlowControl mode = FlowControl::None;
  u32 buffer = 0;         // bytes of each lane; 0: without bound, and without this block
  u32 xoff = 0, xon = 0;  // bytes
  u32 shared = 0;         // bytes
  u32 alpha = 64;         // eighths
  u32 quanta = 65'535;
  u32 credit_update = 64;  // bytes
  u32 lanes = 1;
  LaneChoice sl2vl = LaneChoice::Modulo;
  u32 sl_0 = 0, sl_1 = 0, sl_2 = 0, sl_3 = 0, sl_4 = 0, sl_5 = 0, sl_6 = 0, sl_7 = 0;
  u32 sl_8 = 0, sl_9 = 0, sl_10 = 0, sl_11 = 0, sl_12 = 0, sl_13 = 0, sl_14 = 0, sl_15 = 0;
  u32 low_0 = 1, low_1 = 1, low_2 = 1, low_3 = 1, low_4 = 1, low_5 = 1, low_6 = 1, low_7 = 1;
  u32 high_0 = 0, high_1 = 0, high_2 = 0, high_3 = 0, high_4 = 0, high_5 = 0, high_6 = 0;
  u32 high_7 = 0, high_limit = 0;

  bool any() const { return buffer; }
  // The virtual lane of each SL.
  std::array<u32, 16> lane_of_sl() const {
    if (sl2vl == LaneChoice::Table)
      return {sl_0, sl_1, sl_2,  sl_3,  sl_4,  sl_5,  sl_6,  sl_7,
              sl_8, sl_9, sl_10, sl_11, sl_12, sl_13, sl_14, sl_15};
    std::array<u32, 16> lane{};
    for (u32 sl = 0; sl < 16; ++sl) lane[sl] = sl % lanes;
    return lane;
  }
  // Tables of entries; without any those of the weights above.
  LaneArbiter::Entries high_table{}, low_table{};
  LaneArbiter::Entries low() const {
    if (!low_table.empty() || !high_table.empty()) return low_table;
    return LaneArbiter::entries_of({low_0, low_1, low_2, low_3, low_4, low_5, low_6, low_7});
  }
  LaneArbiter::Entries high() const {
    if (!low_table.empty() || !high_table.empty()) return high_table;
    return LaneArbiter::entries_of(
        {high_0, high_1, high_2, high_3, high_4, high_5, high_6, high_7});
  }
};
// Throws engine::ConfigError: what no knob shows alone.
void check_link_control(const LinkControlConfig& config);

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
  struct Ports {
    engine::Mailbox<Packet*>* frames_out = nullptr;  // to port_receive, or its gate
    PacketLink* packets_out = nullptr;               // to port_transmit
    PacketLink* control_out = nullptr;
  };
  Ports ports;
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
struct hca::engine::Knobs<hca::blocks::LinkControlConfig> {
  using C = hca::blocks::LinkControlConfig;
  static constexpr std::string_view block = "link_control";
  static constexpr std::string_view sentence = "receive buffers of a port and flow control";
  static constexpr auto rows = make_rows(
      knob("mode", &C::mode, hca::blocks::kFlowControlNames,
           "of both ends: PAUSE for the port, PFC by priority, InfiniBand credits by virtual lane"),
      knob("buffer", &C::buffer, Unit::Bytes, 0, 16 << 20,
           "receive buffer of each lane, with none and pause of the port: what finds no room is "
           "dropped; 0 B: without bound, no flow control"),
      knob("shared", &C::shared, Unit::Bytes, 0, 16 << 20,
           "none, pause, pfc: of the port, for what lanes hold beyond their own buffers"),
      knob("alpha", &C::alpha, Unit::Count, 1, 64,
           "eighths: a lane takes of the shared buffer while it has less of it than so much of "
           "what is free"),
      knob("xoff", &C::xoff, Unit::Bytes, 0, 16 << 20, "pause, pfc: from so many on, stop"),
      knob("xon", &C::xon, Unit::Bytes, 0, 16 << 20, "pause, pfc: down to so many, go on"),
      knob("quanta", &C::quanta, Unit::Count, 2, 65'535,
           "pause, pfc: time of a stop, 512 bits each, told again after half of it"),
      knob("credit_update", &C::credit_update, Unit::Bytes, 64, 131'072,
           "credits: room that is told; all of it when the buffer is empty"),
      knob("lanes", &C::lanes, Unit::Count, 1, hca::blocks::kLanes, "credits: data lanes"),
      knob("sl2vl", &C::sl2vl, hca::blocks::kLaneChoiceNames,
           "InfiniBand: SL i goes by VL i modulo lanes, or by the table"),
      knob("sl_0", &C::sl_0, Unit::Count, 0, hca::blocks::kLanes - 1, "table: VL of SL 0"),
      knob("sl_1", &C::sl_1, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 1"),
      knob("sl_2", &C::sl_2, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 2"),
      knob("sl_3", &C::sl_3, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 3"),
      knob("sl_4", &C::sl_4, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 4"),
      knob("sl_5", &C::sl_5, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 5"),
      knob("sl_6", &C::sl_6, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 6"),
      knob("sl_7", &C::sl_7, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 7"),
      knob("sl_8", &C::sl_8, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 8"),
      knob("sl_9", &C::sl_9, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 9"),
      knob("sl_10", &C::sl_10, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 10"),
      knob("sl_11", &C::sl_11, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 11"),
      knob("sl_12", &C::sl_12, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 12"),
      knob("sl_13", &C::sl_13, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 13"),
      knob("sl_14", &C::sl_14, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 14"),
      knob("sl_15", &C::sl_15, Unit::Count, 0, hca::blocks::kLanes - 1, "of SL 15"),
      knob("low_0", &C::low_0, Unit::Count, 1, 255,
           "weight of lane or priority 0 in the low table, 64 B each"),
      knob("low_1", &C::low_1, Unit::Count, 1, 255, "of lane 1"),
      knob("low_2", &C::low_2, Unit::Count, 1, 255, "of lane 2"),
      knob("low_3", &C::low_3, Unit::Count, 1, 255, "of lane 3"),
      knob("low_4", &C::low_4, Unit::Count, 1, 255, "of lane 4"),
      knob("low_5", &C::low_5, Unit::Count, 1, 255, "of lane 5"),
      knob("low_6", &C::low_6, Unit::Count, 1, 255, "of lane 6"),
      knob("low_7", &C::low_7, Unit::Count, 1, 255, "of lane 7"),
      knob("high_0", &C::high_0, Unit::Count, 0, 255,
           "weight of lane or priority 0 in the high table; 0: it is not there"),
      knob("high_1", &C::high_1, Unit::Count, 0, 255, "of lane 1"),
      knob("high_2", &C::high_2, Unit::Count, 0, 255, "of lane 2"),
      knob("high_3", &C::high_3, Unit::Count, 0, 255, "of lane 3"),
      knob("high_4", &C::high_4, Unit::Count, 0, 255, "of lane 4"),
      knob("high_5", &C::high_5, Unit::Count, 0, 255, "of lane 5"),
      knob("high_6", &C::high_6, Unit::Count, 0, 255, "of lane 6"),
      knob("high_7", &C::high_7, Unit::Count, 0, 255, "of lane 7"),
      knob("high_limit", &C::high_limit, Unit::Count, 0, 255,
           "4096 B each that the high table sends while the low one waits; 255: without end"));
};
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
