// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_reply_config.h"
#include "model/device/contexts.h"
#include "model/proto/wire/repeated_headers.h"

namespace hca::blocks {
struct ResponderReplyCounters {
  u64 acks = 0, naks = 0, rnr_naks = 0, responses = 0, cnps = 0, coalesced = 0;
};

// Builds Acknowledge packets and CNPs, and passes READ and ATOMIC responses on in order. A waiting
// ACK is replaced by the next ACK of its queue pair (G4.2); NAKs keep their place (G4.4). Answers
// wait only for their own port; the ports alternate.
//
// Contract: an answer seen in cycle n reaches the port in n + latency; one packet each `interval`
// cycles.
class ResponderReply : public engine::Block {
 public:
  // One per port.
  struct Port {
    ReplyLink replies_in{8};
    ReplyLink cnps_in{8};
    PacketLink* packets_out = nullptr;
    Ring<Reply> waiting;
  };
  ResponderReply(const ResponderReplyConfig& config, const device::Contexts& contexts,
                 unsigned count = 1)
      : config_(config), contexts_(contexts), port_count_(count) {}

  PerPort<Port> ports;
  ResponderReplyCounters counters;
  engine::Probe probe;

  void tick();

 private:
  void tick_several();
  bool has_room(const Port& port) const { return port.waiting.size() < config_.depth; }
  bool takes_more(const Port& port) const {
    return has_room(port) && (port.replies_in.can_pop() || port.cnps_in.can_pop());
  }
  void take(Port& port);
  void queue(Ring<Reply>& waiting, const Reply& reply);
  bool send(Port& port);
  void send(Port& port, const Reply& reply);
  bool has_left(const Port& port, const proto::QpConfig& qp) const {
    return port_count_ > 1 && &port != &ports[port_of(qp)];
  }
  void drop(const Reply& reply);
  Packet* build(const Reply& reply, const proto::QpConfig& qp);
  void build_ack(Packet& p, const proto::QpConfig& qp, const Reply& reply);
  void build_cnp(Packet& p, const proto::QpConfig& qp, bool native);

  const ResponderReplyConfig config_;
  const device::Contexts& contexts_;
  PacketPool pool_;
  // headers of ACKs with BECN 0; PSN and AETH are written into them
  ByQp<proto::RepeatedHeaders> acks_;
  const unsigned port_count_;
  unsigned turn_ = 0;  // the port that comes first
  Cycle next_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::ResponderReplyCounters> {
  using C = hca::blocks::ResponderReplyCounters;
  static constexpr std::string_view block = "responder_reply";
  static constexpr auto rows =
      make_rows(counter("acks", &C::acks, "packets", "ACKs sent"),
                counter("naks", &C::naks, "packets", "NAKs sent"),
                counter("rnr_naks", &C::rnr_naks, "packets", "RNR NAKs sent"),
                counter("responses", &C::responses, "packets", "READ and ATOMIC responses sent"),
                counter("cnps", &C::cnps, "packets", "CNPs and CNs sent"),
                counter("coalesced", &C::coalesced, "answers", "ACKs merged into a later one"));
};
