// SPDX-License-Identifier: Apache-2.0
// The rules of 9.6 and 9.7 on requests whose contexts and regions arrive late: the function of
// `responder_check`, as a block between links. The C++ twin of
// rtl/responder_check/responder_check.sv.
//
// Contract: that of a LookUpUnit. The region is the one of a request's R_Key, if it carries one
// that is not 0. A frame that is not a request is dropped. A request sees the effect of all earlier
// requests on its queue pair or EE context, and on its receive queue.
#pragma once
#include <span>

#include "model/blocks/receive/check_request.h"
#include "model/blocks/twins/look_up_unit.h"
#include "model/device/connection.h"

namespace hca::blocks {
// The result for a request, and its context afterwards.
struct CheckedRequest {
  proto::RequestVerdict verdict{};
  proto::RequestEffect effect{};
  u8 syndrome = 0;  // of the answer; 0 if there is none
  bool below_limit = false;
  proto::ReceiveState state{};
  proto::SharedQueue shared{};
  // RD: EndedWqe::is_in_queue; the queue pair whose receive queue it changed, or would have
  // changed, 0: none; WQEs taken from that one, and from the one of state.owner.
  bool keeps_wqe = false;
  u32 queue = 0, queue_consumed = 0, owner_consumed = 0;
};

// The receive queues of the queue pairs of RD, by QPN.
struct RdQueues {
  virtual ~RdQueues() = default;
  virtual proto::ReceiveState& of(u32 qpn) = 0;
  // WQEs taken; 0: of no queue pair.
  u32 consumed(u32 qpn) { return qpn ? of(qpn).rq_consumed : 0; }
};

// A frame on its way through the unit, as an item of its links. All pointees outlive it.
struct ResponderCheckItem {
  const proto::ParsedPacket* packet = nullptr;  // nullptr: not a request
  std::span<const u8> frame;
  const proto::QpConfig* qp = nullptr;    // or an EE context, as it serves `queue_pair`
  const proto::Region* region = nullptr;  // the region of its R_Key
  const proto::PortAttributes* port = nullptr;
  proto::ReceiveState* state = nullptr;
  u32 srqn = 0;  // its receive queue, if that is an SRQ that exists
  proto::SharedQueue* shared = nullptr;
  // Counts of its receive queue and of READs and ATOMICs when its context is looked up.
  u32 rq_posted = 0, reads_finished = 0;
  bool rq_failed = false;
  engine::Cycle context_late = 0, region_late = 0;  // extra cycles of the answers
  CheckedRequest* checked = nullptr;
  // RD: the queue pair that DestQP names, if there is one.
  const proto::QpConfig* queue_pair = nullptr;
  RdQueues* queues = nullptr;

  static constexpr const char* kUnit = "responder_check";
  static constexpr engine::Cycle kLatency = 7;
  bool falls() const { return !packet; }
  u32 bytes_in() const { return u32(frame.size()); }
  bool of_ee() const { return qp->side == proto::QpSide::EeContext; }
  u32 number() const { return of_ee() ? device::context_number(qp->qpn) : packet->bth.dest_qp; }
  u32 key() const { return remote_key(*packet); }
  // The number in its XRCETH, of RD DestQP; 0: it has none.
  u32 named_queue() const {
    if (of_ee()) return packet->bth.dest_qp;
    const bool names = packet->opcode && packet->has(proto::Ext::XrcEth);
    return names ? packet->xrc_eth.xrc_srq : 0;
  }
  u32 bytes_out() const { return 0; }
  void process() const;

 private:
  proto::RequestView view() const;
  void process_rd() const;
};

using ResponderCheckUnit = LookUpUnit<ResponderCheckItem>;
}  // namespace hca::blocks
