// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/delayed.h"
#include "model/blocks/lib/numbered_values.h"
#include "model/blocks/lib/stand_in.h"
#include "model/blocks/memory/protection.h"
#include "model/blocks/memory/qp_context.h"
#include "model/blocks/receive/kept_packets.h"
#include "model/blocks/receive/responder_check_config.h"
#include "model/device/writers.h"

namespace hca::blocks {
struct ResponderCheckCounters {
  u64 good = 0, wrong_service = 0, bad_qp_state = 0, wrong_path = 0, wrong_vl = 0, bad_pkey = 0,
      bad_qkey = 0;
  u64 no_xrc_srq = 0, wrong_xrc_domain = 0;
  u64 no_rd_queue = 0, wrong_rd_domain = 0;
  u64 duplicate = 0, nak_pending = 0, psn_ahead = 0, bad_sequence = 0, unsupported = 0;
  u64 too_many_reads = 0, no_receive_wqe = 0, srq_failed = 0, bad_length = 0, misaligned = 0,
      bad_rkey = 0;
  u64 context_stalls = 0, waits_context = 0;
};

// Applies the rules of 9.6 and 9.7 (proto/transport/responder_rules.h), one stage a cycle; owns the
// receive states. It is activated as part of the receive segment of its port; each port has one.
//
// Contract: a request that passes its ICRC stage in cycle n leaves with its verdict in n + look-ups
// + latency; one each `interval` cycles. It reads the queue pair's context in its first stage and
// writes it in its last. A later request of the same queue pair in between waits (stall) or gets
// the new value (forward).
class ResponderCheck {
 public:
  ResponderCheck(const ResponderCheckConfig& config, QpContext& context, device::Contexts& contexts,
                 Protection& protection, unsigned port = 0)
      : context_port_(context.responder[port]),
        key_port_(protection.responder[port]),
        context_(context),
        receive_(contexts),
        srqs_(contexts),
        attributes_(contexts.ports[port]),
        protection_(protection),
        stage_(config.latency, config.interval),
        config_(config) {}

  ByQp<Delayed>* reads_finished = nullptr;  // owned by responder_execute
  StandIn<ResponderCheckItem>* stand_in = nullptr;
  engine::Probe probe;
  u32 below_limit = 0;  // the SRQ that the request brought below its limit; 0: none

  ResponderCheckCounters counters;

  // Judges a request that arrives in cycle `at` and applies its effect; returns the cycle in which
  // it leaves.
  Cycle check(Packet& packet, Cycle now, Cycle at);

  // A doorbell. Returns the receive WQEs posted so far, as a count that does not wrap.
  // `late`: the queue pair has migrated, and a doorbell of its new port may have come first.
  u32 post(u32 qpn, u16 producer, bool late = false) {
    u32& posted = receive_[connection_of(qpn)].rq_posted;
    if (late && u16(posted - producer) < 0x8000) [[unlikely]]
      return posted;
    return posted = proto::widen_index(posted, producer);
  }
  // The same for an SRQ; nothing, if it does not exist.
  std::optional<u32> post_shared(u32 srqn, u16 producer) {
    proto::SharedQueue* const queue = srqs_.find(srqn);
    if (!queue) return std::nullopt;
    return queue->posted = proto::widen_index(queue->posted, producer);
  }
  // Keeps a packet whose verdict says so, until the earlier ones have arrived.
  void keep(Packet* packet);
  // The kept packet that the queue pair expects now; nullptr: there is none.
  Packet* take_kept(u32 qpn);
  bool keeps(u32 qpn) const { return receive_[connection_of(qpn)].keeps; }

  // True once: the first request arrived in RTR.
  bool take_established(u32 qpn) { return proto::take_established(receive_[connection_of(qpn)]); }

 private:
  device::Connection connection_of(u32 qpn) const { return context_.contexts.connection_of(qpn); }
  Cycle wait_for(Cycle ready, u32 qpn);
  proto::QpConfig receiver_of(const Packet& packet) const;
  void check_rd(const proto::RequestView& view, Packet& packet);
  void count(proto::RequestCause cause);
  // The region that the R_Key of a request names.
  const proto::Region* region_of(const proto::ParsedPacket& packet, u32 key) const;
  bool check_by(const proto::RequestView& view, Packet& packet, proto::SharedQueue* shared);
  u32 reads_unfinished(u32 qpn, Cycle now) const;

  ReadPort &context_port_, &key_port_;
  QpContext& context_;
  const device::ReceiveStates receive_;
  const device::SharedQueues srqs_;
  const proto::PortAttributes& attributes_;
  Protection& protection_;
  engine::Stage stage_;
  NumberedValues<Cycle> written_;  // by QP: when its context is written
  Cycle last_out_ = 0, waited_until_ = 0;
  const ResponderCheckConfig config_;
  KeptPackets kept_;
  proto::QpConfig served_;  // the EE context of the request at hand, as its responder
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::ResponderCheckCounters> {
  using C = hca::blocks::ResponderCheckCounters;
  static constexpr std::string_view block = "responder_check";
  static constexpr auto rows = make_rows(
      counter("good", &C::good, "packets", "requests to execute"),
      counter("wrong_service", &C::wrong_service, "packets", "dropped: another transport service"),
      counter("bad_qp_state", &C::bad_qp_state, "packets", "dropped: state of the queue pair"),
      counter("wrong_path", &C::wrong_path, "packets", "dropped: not the peer's addresses"),
      counter("wrong_vl", &C::wrong_vl, "packets", "dropped: virtual lane"),
      counter("bad_pkey", &C::bad_pkey, "packets", "dropped: P_Key"),
      counter("bad_qkey", &C::bad_qkey, "packets", "dropped: Q_Key"),
      counter("no_xrc_srq", &C::no_xrc_srq, "packets",
              "NAK invalid RD request: XRCETH names no SRQ of XRC"),
      counter("wrong_xrc_domain", &C::wrong_xrc_domain, "packets",
              "NAK invalid RD request: the SRQ belongs to another XRC domain"),
      counter("no_rd_queue", &C::no_rd_queue, "packets",
              "NAK invalid RD request: no queue pair of RD that takes requests"),
      counter("wrong_rd_domain", &C::wrong_rd_domain, "packets",
              "NAK invalid RD request: the queue pair belongs to another RD domain"),
      counter("duplicate", &C::duplicate, "packets", "duplicates, acknowledged again"),
      counter("nak_pending", &C::nak_pending, "packets", "dropped after a NAK"),
      counter("psn_ahead", &C::psn_ahead, "packets", "NAK PSN sequence error"),
      counter("bad_sequence", &C::bad_sequence, "packets", "NAK invalid request: opcode sequence"),
      counter("unsupported", &C::unsupported, "packets", "NAK invalid request: opcode"),
      counter("too_many_reads", &C::too_many_reads, "packets",
              "NAK invalid request: READs and ATOMICs beyond the limit"),
      counter("no_receive_wqe", &C::no_receive_wqe, "packets", "RNR NAK"),
      counter("srq_failed", &C::srq_failed, "packets", "NAK remote operational error: SRQ"),
      counter("bad_length", &C::bad_length, "packets", "NAK invalid request: length"),
      counter("misaligned", &C::misaligned, "packets", "NAK invalid request: ATOMIC not aligned"),
      counter("bad_rkey", &C::bad_rkey, "packets", "NAK remote access error"),
      counter("context_stalls", &C::context_stalls, "packets",
              "requests whose context was being changed"),
      counter("waits_context", &C::waits_context, kWaited,
              "contexts that an earlier request is changing (context_forwarding)"));
};
