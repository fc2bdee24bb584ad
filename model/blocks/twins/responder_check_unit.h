// SPDX-License-Identifier: Apache-2.0
// The rules of 9.6 and 9.7 on requests whose contexts and regions arrive late: the function of
// `responder_check`, as a block between links. The C++ twin of
// rtl/responder_check/responder_check.sv.
//
// Contract: that of a LookUpUnit. The region is the one of a request's R_Key, if it carries one
// that is not 0. A frame that is not a request is dropped. A request sees the effect of all earlier
// requests on its queue pair and SRQ.
#pragma once
#include <span>

#include "model/blocks/receive/check_request.h"
#include "model/blocks/twins/look_up_unit.h"

namespace hca::blocks {
// The result for a request, and its context afterwards.
struct CheckedRequest {
  proto::RequestVerdict verdict{};
  proto::RequestEffect effect{};
  u8 syndrome = 0;  // of the answer; 0 if there is none
  bool below_limit = false;
  proto::ReceiveState state{};
  proto::SharedQueue shared{};
};

// A frame on its way through the unit, as an item of its links. All pointees outlive it.
struct ResponderCheckItem {
  const proto::ParsedPacket* packet = nullptr;  // nullptr: not a request
  std::span<const u8> frame;
  const proto::QpConfig* qp = nullptr;
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

  static constexpr const char* kUnit = "responder_check";
  static constexpr engine::Cycle kLatency = 7;
  bool falls() const { return !packet; }
  u32 bytes_in() const { return u32(frame.size()); }
  u32 number() const { return packet->bth.dest_qp; }
  u32 key() const { return remote_key(*packet); }
  // The number in its XRCETH; 0: it has none.
  u32 named_queue() const {
    const bool names = packet->opcode && packet->has(proto::Ext::XrcEth);
    return names ? packet->xrc_eth.xrc_srq : 0;
  }
  u32 bytes_out() const { return 0; }
  void process() const;
};

using ResponderCheckUnit = LookUpUnit<ResponderCheckItem>;
}  // namespace hca::blocks
