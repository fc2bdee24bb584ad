// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/contexts.h"
#include "model/blocks/items.h"
#include "model/blocks/ring.h"
#include "model/blocks/stage_config.h"

namespace hca::blocks {
struct ResponderReplyConfig {
  Cycle latency = 3, interval = 1;
  u32 depth = 16;  // answers that wait for the port
};
struct ResponderReplyCounters {
  u64 acks = 0, naks = 0, rnr_naks = 0, responses = 0, cnps = 0, coalesced = 0;
};

// Builds Acknowledge packets and CNPs, passes READ and ATOMIC responses on in their order. An ACK
// that still waits is overtaken by the next ACK of its queue pair (G4.2); NAKs keep their place
// (G4.4).
//
// Contract: an answer seen in cycle n reaches the port in n + latency; one packet each `interval`
// cycles.
class ResponderReply : public engine::Block {
 public:
  struct Ports {
    PacketLink* packets_out = nullptr;
  };
  ResponderReply(const ResponderReplyConfig& config, const Contexts& contexts)
      : config_(config), contexts_(contexts) {}

  ReplyLink replies_in{8};
  ReplyLink cnps_in{8};
  Ports ports;
  ResponderReplyCounters counters;
  engine::Probe probe;

  void tick();

 private:
  bool has_room() const { return waiting_.size() < config_.depth; }
  void take();
  void send_next();
  void queue(const Reply& reply);
  void send(const Reply& reply);
  void drop(const Reply& reply);
  Packet* build(const Reply& reply, const proto::QpConfig& qp);
  void build_ack(Packet& p, const proto::QpConfig& qp, const Reply& reply);
  void build_cnp(Packet& p, const proto::QpConfig& qp);

  const ResponderReplyConfig config_;
  const Contexts& contexts_;
  PacketPool pool_;
  Ring<Reply> waiting_;
  Cycle next_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponderReplyConfig> {
  using C = hca::blocks::ResponderReplyConfig;
  static constexpr std::string_view block = "responder_reply";
  static constexpr std::string_view sentence = "ACK, NAK, RNR NAK and CNP";
  static constexpr auto rows = std::tuple_cat(
      hca::blocks::stage_rows<C>("from an answer to the port", "between two answers"),
      std::make_tuple(
          knob("depth", &C::depth, Unit::Count, 1, 1024, "answers that wait for the port")));
};
template <>
struct hca::engine::Counters<hca::blocks::ResponderReplyCounters> {
  using C = hca::blocks::ResponderReplyCounters;
  static constexpr std::string_view block = "responder_reply";
  static constexpr auto rows = std::make_tuple(
      counter("acks", &C::acks, "packets", "ACKs sent"),
      counter("naks", &C::naks, "packets", "NAKs sent"),
      counter("rnr_naks", &C::rnr_naks, "packets", "RNR NAKs sent"),
      counter("responses", &C::responses, "packets", "READ and ATOMIC responses sent"),
      counter("cnps", &C::cnps, "packets", "CNPs sent"),
      counter("coalesced", &C::coalesced, "answers", "ACKs merged into a later one"));
};
