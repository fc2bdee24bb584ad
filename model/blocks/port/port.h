// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/lib/stand_in.h"
#include "model/blocks/memory/outside.h"
#include "model/blocks/port/icrc_unit.h"
#include "model/blocks/port/link_control.h"
#include "model/blocks/port/port_config.h"
#include "model/blocks/receive/congestion.h"
#include "model/blocks/receive/responder_check.h"
#include "model/blocks/receive/response_check.h"
#include "model/device/port_counts.h"
#include "model/engine/budget.h"
#include "model/engine/mailbox.h"
#include "model/engine/rate.h"
#include "model/proto/wire/network_crcs.h"

namespace hca::blocks {
struct PortCounters {
  u64 tx_packets = 0, tx_bytes = 0, waits_link = 0, rx_packets = 0, rx_bytes = 0;
  u64 rx_bad_frame = 0, rx_bad_icrc = 0, rx_wrong_address = 0, rx_unknown_qp = 0, rx_wrong_port = 0;
  u64 rx_copies = 0, rx_port_down = 0, rx_kept = 0, rx_given_up = 0;
};

// The sending half: alternates requests and replies, inserts the ICRC, paces the link. Among
// requests, with and without a payload read, the one seen first goes first.
//
// Contract: a packet seen in cycle n has its first bit on the wire in n + icrc_unit.latency +
// latency; the next one follows when link and icrc_unit are free, and not before `interval` cycles.
// With loop_back a packet to its own port turns round at the wire: its first bit arrives in that
// cycle and nothing enters the wire. With multicast_loop_back a copy of a multicast datagram also
// turns round there, if a queue pair of the port belongs to the group. If icrc_unit is slower than
// the link, the first bit waits until no gap can open on the wire: the beats of the frame minus the
// cycles that it takes there.
class PortTransmit : public engine::Block {
 public:
  // `depth`: packets that may wait before it; two with link_control, which queues the others.
  PortTransmit(const PortConfig& config, const IcrcUnitConfig& icrc, u64 clock_hz, Outside& outside,
               unsigned depth = 64)
      : requests_in(depth),
        outside_(outside),
        slow_(is_slow(icrc, config.link_rate, clock_hz)),
        config_(config),
        icrc_({icrc}, {}),
        pacer_(config.link_rate, clock_hz),
        icrc_latency_(icrc.latency) {
    not_read_in.mark(not_read_, 1);
  }

  PacketLink requests_in, not_read_in;
  PacketLink replies_in{16};
  PortCounters* counters = nullptr;
  const proto::PortAttributes* attributes = nullptr;
  const PortStandIns* stand_ins = nullptr;  // for units of its segment; usually nullptr
  class PortReceive* own = nullptr;         // the same port's, with loop_back
  class PortReceive* turns = nullptr;       // the same port's, with multicast_loop_back
  bool is_controlled = false;  // all packets come by requests_in, control frames by replies_in
  engine::Probe probe, icrc_probe;
  SentLink* sent_out = nullptr;  // to requester
  const device::Contexts* contexts = nullptr;

  void tick();

 private:
  bool stopped(const Packet& p) const;
  void send(PacketLink& from, PacketLink& other);
  void send_special(PacketLink& from, PacketLink& other);
  template <bool kSpecial>
  void send_as(PacketLink& from, PacketLink& other);
  u32 finish(Packet& p);
  u32 finish_by(const PortStandIns& who, Packet& p);  // port_stand_ins.cpp
  Cycle first_bit(const Packet& p);
  Cycle next_start(Cycle link_free);
  void send_next_of_both();
  void count_wait(Cycle first);
  void send_control(PacketLink& from, PacketLink& other);
  void count_blocks(const Packet& p);

  // Members that each packet needs lie side by side.
  Outside& outside_;
  u32 not_read_ = 0;  // not 0: not_read_in may have an item
  bool replies_next_ = false;
  const bool slow_;                        // the core is slower than the link
  Cycle next_ = 0;                         // no packet starts before it
  Cycle busy_since_ = 0, busy_until_ = 0;  // of the last packet, if the link delays the next
  const PortConfig config_;
  IcrcUnit icrc_;
  engine::Pacer pacer_;
  const Cycle icrc_latency_;
  Cycle link_free_ = 0;                // slow_: when another packet may start on the wire
  std::array<u16, 16> blocks_sent_{};  // FCTBS of each virtual lane
  proto::NetworkCrcs network_crcs_;    // of packets whose payload is not read
};

// The receiving half, with its segment: frame checks, ICRC, then responder_check or response_check.
// Room in both outputs is reserved before a packet is taken. Packets reach only queue pairs of this
// port, so no other port sees changes by this segment, with one exception: an SRQ of XRC, from
// which the targets of all ports take.
//
// Contract: a packet whose first bit arrives in cycle n is taken latency cycles after its 128th
// byte, or after its last one if it is shorter (cut_through), or latency cycles after its last byte
// (store). It also waits until icrc_unit is free and `interval` cycles have passed since the
// previous packet. Its headers are checked icrc_unit.latency later. Its verdict follows its last
// byte by the same time; if icrc_unit is slower than the link, its last beat. The copies of a
// multicast datagram follow one a cycle, later arrivals after them.
//
// With selective_repeat a request ahead of the expected one is kept (responder_check), and a NAK
// goes on in its place. When the earlier ones have arrived, kept requests are judged again, one a
// cycle from the next cycle on; arriving packets wait meanwhile.
//
// A packet of cycle n that arms its queue pair, or makes it migrate, is judged in n + 2, when
// `command` has done so; later arrivals wait. A migration to another port also waits for the
// requests of the old one (command).
class PortReceive : public engine::Block {
 public:
  struct Outputs {
    PacketLink* requests_out = nullptr;    // to responder_execute
    AckLink* acks_out = nullptr;           // to requester
    ReplyLink* cnps_out = nullptr;         // to responder_reply
    ReceiveBellLink* bells_out = nullptr;  // to responder_execute
    FaultLink* events_out = nullptr;       // to command
  };
  PortReceive(const PortConfig& config, const IcrcUnitConfig& icrc, u64 clock_hz,
              device::Contexts& contexts, ResponderCheck& responder, ResponseCheck& response,
              Congestion& congestion, unsigned port = 0, Payload payload = Payload::Carried)
      : contexts_(contexts),
        counts_(contexts),
        responder_(responder),
        response_(response),
        congestion_(congestion),
        attributes_(contexts.ports[port]),
        slow_(is_slow(icrc, config.link_rate, clock_hz)),
        port_(port + 1),
        config_(config),
        icrc_({icrc}, {}),
        wire_(engine::Rate(config.link_rate, clock_hz)),
        all_headers_(engine::Rate(config.link_rate, clock_hz).cycles_for(proto::kMaxHeaderBytes)),
        pool_(payload) {
    bells_in.mark(pending_, kBells);
  }

  engine::Mailbox<Packet*> packets_in;
  engine::Mailbox<Packet*>* arrivals_out = &packets_in;  // this link, or the block before it
  ReceiveBellLink bells_in{8};
  engine::Mailbox<u32> stalls_in;  // from link_control
  Outputs outputs;
  const PortStandIns* stand_ins = nullptr;
  LinkControl* control = nullptr;  // before this block, if present
  engine::Probe probe, icrc_probe;
  PortCounters counters;

  void tick();
  // From the wire: the first bit of the frame is here in cycle `at`.
  void arrive(Packet* packet, Cycle at);
  void turn(const Packet& packet, Cycle at);  // from its own port; port_multicast.cpp

 private:
  [[gnu::always_inline]] void receive(Packet* p, Cycle checked);
  [[gnu::always_inline]] void pass(Packet* p, Cycle checked);
  void prepare(Packet& p);
  bool has_room() const {
    return outputs.requests_out->can_push() && outputs.acks_out->can_push() &&
           outputs.cnps_out->can_push();
  }
  bool gives_up();
  void take();
  void arrive_at(LinkControl& first, Packet* packet);
  Cycle taken_at(const Packet& packet) const;
  bool frame_good(Packet& p, Cycle checked);
  // port_migration.cpp
  bool passes_path(Packet& p, const proto::QpConfig& qp, Cycle checked,
                   u64 proto::DropCounters::*counter);
  void ask_step();
  void forward_held();
  bool is_for_context(Packet& p);
  // port_stand_ins.cpp
  proto::PacketVerdict check_by(const PortStandIns& who, Packet& p, proto::LinkLayer link);
  // port_multicast.cpp
  bool spread(const Packet& p, Cycle checked);
  void forward_copy();
  bool drop(u64 proto::DropCounters::*counter);
  [[gnu::always_inline]] void route(Packet* p, const proto::QpConfig& qp, Cycle checked);
  void answer_congestion(const Packet& p, const proto::QpConfig& qp);
  void answer_fecn(Packet& p, const proto::QpConfig& qp);
  void ring(const ReceiveBell& bell);
  void ring_shared(const ReceiveBell& bell);
  bool serve_beside();
  // port_kept.cpp
  void keep(Packet* p, Cycle at);
  void offer_kept(u32 qpn);
  void forward_kept();
  void tell(proto::Event event, Cycle at);
  void establish(u32 qpn);
  void push_event();

  // Members that each packet needs lie side by side.
  const device::Contexts& contexts_;
  const device::PortCounts counts_;
  ResponderCheck& responder_;
  ResponseCheck& response_;
  Congestion& congestion_;
  const proto::PortAttributes& attributes_;
  static constexpr u32 kBells = 1, kEvents = 2, kCopies = 4, kKept = 8, kHeld = 16;
  bool stalls_ = false;  // requests without room have to go
  u32 pending_ = 0;      // flags: work other than packets that may be pending
  const bool slow_;      // the core is slower than the link
  const unsigned port_;  // from 1 on
  const PortConfig config_;
  IcrcUnit icrc_;
  engine::Meter wire_;
  const Cycle all_headers_;  // the cycles in which the longest headers arrive
  u32 arrivals_ = 0, taken_ = 0;
  proto::KnownNetwork known_;  // of an earlier frame

  Ring<proto::Event> events_;  // raised by requests
  // A copy of a multicast datagram, one for each queue pair of its group.
  struct Copy {
    Packet* packet = nullptr;
    Cycle checked = 0;
  };
  Ring<Copy> copies_;
  Ring<Packet*> kept_;  // that were ahead of those before them, which have come
  // The packet that waits until `command` has armed its queue pair or has migrated it (G17).
  struct Held {
    Packet* packet = nullptr;
    Cycle checked = 0;
    proto::PathStep step{};
    bool asked = false;
  };
  Held held_;
  PacketPool pool_;
  proto::NetworkCrcs network_crcs_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::PortCounters> {
  using C = hca::blocks::PortCounters;
  static constexpr std::string_view block = "port";
  static constexpr auto rows = make_rows(
      counter("tx_packets", &C::tx_packets, "packets", "packets sent"),
      counter("tx_bytes", &C::tx_bytes, "bytes", "bytes of frames sent"),
      counter("rx_packets", &C::rx_packets, "packets", "frames received"),
      counter("rx_bytes", &C::rx_bytes, "bytes", "bytes of frames received"),
      counter("rx_bad_frame", &C::rx_bad_frame, "packets", "dropped: structure"),
      counter("rx_bad_icrc", &C::rx_bad_icrc, "packets", "dropped: ICRC or VCRC"),
      counter("rx_wrong_address", &C::rx_wrong_address, "packets", "dropped: not for this port"),
      counter("rx_unknown_qp", &C::rx_unknown_qp, "packets", "dropped: no such queue pair"),
      counter("rx_wrong_port", &C::rx_wrong_port, "packets",
              "dropped: the queue pair belongs to another port"),
      counter("rx_copies", &C::rx_copies, "packets", "copies of multicast datagrams"),
      counter("rx_kept", &C::rx_kept, "packets", "kept ahead of a loss (selective_repeat)"),
      counter("rx_given_up", &C::rx_given_up, "packets",
              "requests dropped: both directions stood still (link_control.stall_limit)"),
      counter("rx_port_down", &C::rx_port_down, "packets", "dropped: the port is Down"),
      counter("waits_link", &C::waits_link, kWaited, "the link, which is busy (link_rate)"));
};
