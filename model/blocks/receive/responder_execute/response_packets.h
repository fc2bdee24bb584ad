// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/responder_part.h"
#include "model/proto/wire/network_crcs.h"

namespace hca::blocks {
// Makes the packets that answer READs, ATOMICs and the like, each in a buffer of its port.
class ResponsePackets : ResponderPart {
 public:
  ResponsePackets(const ResponderPart& shared, const std::array<u32, 16>& lane_of_sl,
                  Payload payload)
      : ResponderPart(shared), lane_of_sl_(lane_of_sl), pool_(payload) {}
  // The buffers from which a queue pair's response packets are taken.
  engine::Budget& buffers_of(ResponderPort& port, u32 qpn) {
    if (!port.by_lane) [[likely]]
      return port.responses;
    return port.of_lanes[lane_of_sl_[contexts_.qps[qpn].service_level]];
  }
  // True: there is a buffer for a response packet, and room among the answers.
  bool may_reply(u32 qpn) {
    ResponderPort& port = ports_.of(qpn);
    return buffers_of(port, qpn).available() && port.replies_out->can_push();
  }
  // Takes a buffer and writes the headers of a response packet into it.
  Packet* make(const proto::QpConfig& qp, const Outcome& outcome, const proto::OpcodeRow& row,
               u32 psn, u32 bytes, u64 original);
  // Inserts the ICRC once the payload is there.
  void insert_icrc(Packet& packet) { packet.insert_icrc(network_crcs_); }

 private:
  const std::array<u32, 16> lane_of_sl_;
  PacketPool pool_;
  proto::NetworkCrcs network_crcs_;
};
}  // namespace hca::blocks
